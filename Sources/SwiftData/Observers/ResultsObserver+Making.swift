import Foundation

extension ResultsObserver where SectionTitle == Never {
    /// Creates a live list.
    ///
    /// - Parameters:
    ///   - fetchDescriptor: what to fetch.
    ///   - modelContext: the context in which it is fetched.
    ///   - isolation: the actor on which the list is used.
    /// - Throws: the errors of ``ModelContext/fetch(_:)``.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws { try self.init(fetchDescriptor, nil, in: modelContext, on: isolation) }

    /// Creates a live list with a context of its own.
    ///
    /// - Parameters:
    ///   - fetchDescriptor: what to fetch.
    ///   - modelContainer: the container from whose stores it is fetched.
    ///   - isolation: the actor on which the list is used.
    /// - Throws: the errors of ``ModelContext/fetch(_:)``.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws { try self.init(fetchDescriptor, nil, in: ModelContext(modelContainer), on: isolation) }

    /// Creates a live list.
    ///
    /// - Parameters:
    ///   - filterBy: the condition; nil for all models.
    ///   - sortBy: the order; nil for none.
    ///   - modelContext: the context in which it is fetched.
    ///   - isolation: the actor on which the list is used.
    /// - Throws: the errors of ``ModelContext/fetch(_:)``.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil, modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), nil, in: modelContext, on: isolation)
    }

    /// Creates a live list with a context of its own.
    ///
    /// - Parameters:
    ///   - filterBy: the condition; nil for all models.
    ///   - sortBy: the order; nil for none.
    ///   - modelContainer: the container from whose stores it is fetched.
    ///   - isolation: the actor on which the list is used.
    /// - Throws: the errors of ``ModelContext/fetch(_:)``.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil, modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), nil, in: ModelContext(modelContainer),
            on: isolation)
    }
}

extension ResultsObserver.Section where SectionTitle == String {
    fileprivate init(_ keyPath: KeyPath<Element, String>) {
        self.init(keyPath: keyPath, order: SortDescriptor(keyPath.sendable)) { $0[keyPath: keyPath] }
    }

    /// Models without a title are in a section whose title is empty.
    fileprivate init(_ keyPath: KeyPath<Element, String?>) {
        self.init(keyPath: keyPath, order: SortDescriptor(keyPath.sendable)) { $0[keyPath: keyPath] ?? "" }
    }
}

extension KeyPath {
    /// A key path of a model's property, which captures nothing. No cast adds a marker protocol: its existential is the
    /// reference itself.
    fileprivate var sendable: any KeyPath<Root, Value> & Sendable {
        unsafeBitCast(self, to: (any KeyPath<Root, Value> & Sendable).self)
    }
}

extension ResultsObserver where SectionTitle == String {
    /// Creates a live list in sections.
    ///
    /// - Parameters:
    ///   - fetchDescriptor: what to fetch; its order is that within the sections.
    ///   - sectionBy: the title of a model's section.
    ///   - modelContext: the context in which it is fetched.
    ///   - isolation: the actor on which the list is used.
    /// - Throws: the errors of ``ModelContext/fetch(_:)``.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), sectionBy: KeyPath<Element, String>,
        modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
    ) throws { try self.init(fetchDescriptor, Section(sectionBy), in: modelContext, on: isolation) }

    /// Creates a live list in sections, with a context of its own.
    ///
    /// - Parameters:
    ///   - fetchDescriptor: what to fetch; its order is that within the sections.
    ///   - sectionBy: the title of a model's section.
    ///   - modelContainer: the container from whose stores it is fetched.
    ///   - isolation: the actor on which the list is used.
    /// - Throws: the errors of ``ModelContext/fetch(_:)``.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), sectionBy: KeyPath<Element, String>,
        modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
    ) throws { try self.init(fetchDescriptor, Section(sectionBy), in: ModelContext(modelContainer), on: isolation) }

    /// Creates a live list in sections.
    ///
    /// - Parameters:
    ///   - filterBy: the condition; nil for all models.
    ///   - sortBy: the order within the sections; nil for none.
    ///   - sectionBy: the title of a model's section.
    ///   - modelContext: the context in which it is fetched.
    ///   - isolation: the actor on which the list is used.
    /// - Throws: the errors of ``ModelContext/fetch(_:)``.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String>, modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), Section(sectionBy), in: modelContext,
            on: isolation)
    }

    /// Creates a live list in sections, with a context of its own.
    ///
    /// - Parameters:
    ///   - filterBy: the condition; nil for all models.
    ///   - sortBy: the order within the sections; nil for none.
    ///   - sectionBy: the title of a model's section.
    ///   - modelContainer: the container from whose stores it is fetched.
    ///   - isolation: the actor on which the list is used.
    /// - Throws: the errors of ``ModelContext/fetch(_:)``.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String>, modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), Section(sectionBy),
            in: ModelContext(modelContainer),
            on: isolation)
    }

    /// Creates a live list in sections.
    ///
    /// - Parameters:
    ///   - fetchDescriptor: what to fetch; its order is that within the sections.
    ///   - sectionBy: the title of a model's section; models without one are in a section whose title is empty.
    ///   - modelContext: the context in which it is fetched.
    ///   - isolation: the actor on which the list is used.
    /// - Throws: the errors of ``ModelContext/fetch(_:)``.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), sectionBy: KeyPath<Element, String?>,
        modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
    ) throws { try self.init(fetchDescriptor, Section(sectionBy), in: modelContext, on: isolation) }

    /// Creates a live list in sections, with a context of its own.
    ///
    /// - Parameters:
    ///   - fetchDescriptor: what to fetch; its order is that within the sections.
    ///   - sectionBy: the title of a model's section; models without one are in a section whose title is empty.
    ///   - modelContainer: the container from whose stores it is fetched.
    ///   - isolation: the actor on which the list is used.
    /// - Throws: the errors of ``ModelContext/fetch(_:)``.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), sectionBy: KeyPath<Element, String?>,
        modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
    ) throws { try self.init(fetchDescriptor, Section(sectionBy), in: ModelContext(modelContainer), on: isolation) }

    /// Creates a live list in sections.
    ///
    /// - Parameters:
    ///   - filterBy: the condition; nil for all models.
    ///   - sortBy: the order within the sections; nil for none.
    ///   - sectionBy: the title of a model's section; models without one are in a section whose title is empty.
    ///   - modelContext: the context in which it is fetched.
    ///   - isolation: the actor on which the list is used.
    /// - Throws: the errors of ``ModelContext/fetch(_:)``.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String?>, modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), Section(sectionBy), in: modelContext,
            on: isolation)
    }

    /// Creates a live list in sections, with a context of its own.
    ///
    /// - Parameters:
    ///   - filterBy: the condition; nil for all models.
    ///   - sortBy: the order within the sections; nil for none.
    ///   - sectionBy: the title of a model's section; models without one are in a section whose title is empty.
    ///   - modelContainer: the container from whose stores it is fetched.
    ///   - isolation: the actor on which the list is used.
    /// - Throws: the errors of ``ModelContext/fetch(_:)``.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String?>, modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), Section(sectionBy),
            in: ModelContext(modelContainer),
            on: isolation)
    }
}
