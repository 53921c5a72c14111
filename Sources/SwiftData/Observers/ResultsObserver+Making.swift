import Foundation
import Observation

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

/// A live list: the models of a fetch, which follow the changes in a context and in the stores.
///
/// ```swift
/// let list = try ResultsObserver<Book, Never>(
///     filterBy: #Predicate { $0.year > 1990 }, sortBy: [SortDescriptor(\.title)], modelContext: context)
/// withObservationTracking { print(list.results.count) } onChange: { … }
/// ```
///
/// ``results`` are those of the moment in which they are read. Observers hear of a change as soon as the actor on which
/// the list was made is free, once for all changes until then; without an actor, in the change. What other contexts of
/// the container save is taken over likewise, and without an actor when the results are read.
final public class ResultsObserver<Element, SectionTitle>: Observable
where Element: PersistentModel, SectionTitle: Hashable {
    private let registrar = ObservationRegistrar()
    /// The context in which the models are fetched.
    final public let modelContext: ModelContext
    private var descriptor: FetchDescriptor<Element>
    private let section: Section?
    private let isolation: (any Actor)?
    /// What wakes the list when other contexts have saved.
    private var arrival: Int?

    private var found: FetchResultsCollection<Element>
    private var foundSections: SectionedResults<Element, SectionTitle>?
    /// Whether something has changed since the fetch.
    private var isOutdated = false
    /// Whether observers are to hear of changes.
    private var isAnnounced = false
    /// The models of which observers have heard.
    private var announced: [ObjectIdentifier] = []
    /// Whether models of the class itself have changed.
    private var isTouched = false

    /// What the sections are made by.
    struct Section {
        let keyPath: AnyKeyPath
        let order: SortDescriptor<Element>
        let title: (Element) -> SectionTitle
    }

    init(
        _ descriptor: FetchDescriptor<Element>, _ section: Section?, in context: ModelContext,
        on isolation: (any Actor)?
    ) throws {
        self.descriptor = descriptor
        self.section = section
        modelContext = context
        self.isolation = isolation
        found = FetchResultsCollection(elements: [])
        try fetch()
        announced = found.map { ObjectIdentifier($0) }
        context.add(self)
        guard let isolation else { return }
        let reference = ListReference(list: self)
        arrival = context.mailbox.onArrival { Task { await reference.takeOver(on: isolation) } }
    }

    deinit {
        if let arrival { modelContext.mailbox.removeArrival(arrival) }
    }

    // MARK: Results

    /// The models.
    final public var results: FetchResultsCollection<Element> {
        get {
            refresh()
            registrar.access(self, keyPath: \.results)
            return found
        }
        set { registrar.withMutation(of: self, keyPath: \.results) { found = newValue } }
    }

    /// The models in sections, in the order of the titles; nil for a list without sections.
    final public var sections: SectionedResults<Element, SectionTitle>? {
        get {
            refresh()
            registrar.access(self, keyPath: \.sections)
            return foundSections
        }
        set { registrar.withMutation(of: self, keyPath: \.sections) { foundSections = newValue } }
    }

    /// What is fetched; the order begins with that of the sections.
    final public var fetchDescriptor: FetchDescriptor<Element> {
        registrar.access(self, keyPath: \.fetchDescriptor)
        var sorted = descriptor
        if let section { sorted.sortBy = [section.order] + descriptor.sortBy }
        return sorted
    }

    /// The condition; nil for all models.
    final public var filterBy: Predicate<Element>? {
        get {
            registrar.access(self, keyPath: \.fetchDescriptor)
            return descriptor.predicate
        }
        set { change { $0.predicate = newValue } }
    }

    /// The order, within the sections.
    final public var sortBy: [SortDescriptor<Element>] {
        get {
            registrar.access(self, keyPath: \.fetchDescriptor)
            return descriptor.sortBy
        }
        set { change { $0.sortBy = newValue } }
    }

    /// The key path of the sections' titles; nil for a list without sections.
    final public var sectionBy: AnyKeyPath? { section?.keyPath }

    private func change(_ body: (inout FetchDescriptor<Element>) -> Void) {
        registrar.withMutation(of: self, keyPath: \.fetchDescriptor) { body(&descriptor) }
        (isOutdated, isTouched) = (true, true)
        announce()
    }

    // MARK: Following

    private func fetch() throws {
        let models = try modelContext.fetch(fetchDescriptor)
        found = FetchResultsCollection(elements: models)
        foundSections = section.map { SectionedResults(models, title: $0.title) }
        isOutdated = false
    }

    /// Fetches again if something has changed. What cannot be fetched stays as it was.
    private func refresh() {
        if isolation == nil { modelContext.takeOver() }
        guard isOutdated else { return }
        isOutdated = false
        try? fetch()
    }

    /// Lets observers know, if anything shows.
    func announce() {
        isAnnounced = false
        refresh()
        let shown = found.map { ObjectIdentifier($0) }
        guard isTouched || shown != announced else { return }
        (isTouched, announced) = (false, shown)
        registrar.willSet(self, keyPath: \.results)
        registrar.willSet(self, keyPath: \.sections)
        registrar.didSet(self, keyPath: \.results)
        registrar.didSet(self, keyPath: \.sections)
    }
}

/// A list, for tasks that run on its actor.
private protocol ActorBoundList: AnyObject {
    func takeOver()
    func announce()
}

private struct ListReference: @unchecked Sendable {
    // @unchecked Sendable: the list is only used on the actor on which it was made.
    weak let list: (any ActorBoundList)?

    func takeOver(on isolation: isolated any Actor) { list?.takeOver() }
    func announce(on isolation: isolated any Actor) { list?.announce() }
}

extension ResultsObserver: ActorBoundList {
    fileprivate func takeOver() { modelContext.takeOver() }
}

extension ResultsObserver: ContextFollower {
    func contextDidChange(_ type: ModelType?) {
        isOutdated = true
        if type?.isKind(of: ModelType.of(Element.self)) ?? true { isTouched = true }
        guard !isAnnounced else { return }
        guard let isolation else {
            // Observers read when they like; the change may not be complete yet.
            registrar.willSet(self, keyPath: \.results)
            registrar.willSet(self, keyPath: \.sections)
            return
        }
        isAnnounced = true
        let reference = ListReference(list: self)
        Task { await reference.announce(on: isolation) }
    }
}
