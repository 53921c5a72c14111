/// Results in sections, one after the other.
public struct SectionedResults<Element, SectionTitle>: RandomAccessCollection
where Element: PersistentModel, SectionTitle: Hashable {
    /// A position.
    public typealias Index = Int
    private let sections: [ResultsSection<Element, SectionTitle>]

    /// - Parameters:
    ///   - models: the models, in their order.
    ///   - title: the title of a model's section. Models with the same title stand together.
    init(_ models: [Element], title: (Element) -> SectionTitle) {
        var sections: [(title: SectionTitle, models: [Element])] = []
        for model in models {
            let title = title(model)
            if sections.last?.title != title { sections.append((title, [])) }
            sections[sections.count - 1].models.append(model)
        }
        self.sections = sections.map { ResultsSection(title: $0.title, models: $0.models) }
    }

    /// The first position.
    public var startIndex: Int { 0 }
    /// The position after the last one.
    public var endIndex: Int { sections.count }
    /// The section at a position.
    ///
    /// - Parameter position: the position.
    public subscript(position: Int) -> ResultsSection<Element, SectionTitle> { sections[position] }

    /// The section with a title; nil if there is none.
    ///
    /// - Parameter sectionTitle: the title.
    public subscript(sectionTitle sectionTitle: SectionTitle) -> ResultsSection<Element, SectionTitle>? {
        sections.first { $0.title == sectionTitle }
    }
}

/// Results with one title.
public struct ResultsSection<Element, SectionTitle>: RandomAccessCollection, Identifiable
where Element: PersistentModel, SectionTitle: Hashable {
    /// A position.
    public typealias Index = Int
    /// The title.
    public let title: SectionTitle
    private let models: [Element]

    init(title: SectionTitle, models: [Element]) { (self.title, self.models) = (title, models) }

    /// The title, which tells the section from others.
    public var id: SectionTitle { title }
    /// The first position.
    public var startIndex: Int { 0 }
    /// The position after the last one.
    public var endIndex: Int { models.count }
    /// The model at a position.
    ///
    /// - Parameter position: the position.
    public subscript(position: Int) -> Element { models[position] }
}
