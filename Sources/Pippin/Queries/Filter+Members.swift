/// What a property of a model may hold several models in: an array, a set, or an optional one of these.
public protocol ModelList<Member> {
    /// What is in it: a model, or a reference to one.
    associatedtype Member
}

extension Array: ModelList {
    /// The elements.
    public typealias Member = Element
}

extension Set: ModelList {
    /// The elements.
    public typealias Member = Element
}

extension Optional: ModelList where Wrapped: ModelList {
    /// The elements.
    public typealias Member = Wrapped.Member
}

// Models in a list of models.
extension Filter {
    /// Holds where one of the models in a list is selected by a filter of its own. `.any(\.reviews, \.stars < 3)`
    ///
    /// - Parameters:
    ///   - list: the list.
    ///   - filter: what must hold of one of its models.
    /// - Returns: the filter.
    /// - SQL: `(SELECT count(*) FROM Z<MEMBER> WHERE … AND <filter>) > 0`
    public static func any<Member: CoreModel>(
        _ list: KeyPath<Model, some ModelList<Member>>, _ filter: Filter<Member>
    ) -> Filter { members(list, filter.term, .any) }

    /// Holds where one of the models that a list refers to is selected by a filter of its own.
    ///
    /// - Parameters:
    ///   - list: the list.
    ///   - filter: what must hold of one of its models.
    /// - Returns: the filter.
    /// - SQL: `(SELECT count(*) FROM Z<MEMBER> WHERE … AND <filter>) > 0`
    public static func any<Member: CoreModel>(
        _ list: KeyPath<Model, some ModelList<Reference<Member>>>, _ filter: Filter<Member>
    ) -> Filter { members(list, filter.term, .any) }

    /// Holds where all models in a list are selected by a filter of their own; where there are none, too.
    ///
    /// - Parameters:
    ///   - list: the list.
    ///   - filter: what must hold of each of its models.
    /// - Returns: the filter.
    /// - SQL: `(SELECT count(*) FROM Z<MEMBER> WHERE … AND NOT <filter>) = 0`
    public static func all<Member: CoreModel>(
        _ list: KeyPath<Model, some ModelList<Member>>, _ filter: Filter<Member>
    ) -> Filter { members(list, filter.term, .all) }

    /// Holds where all models that a list refers to are selected by a filter of their own; where there are none, too.
    ///
    /// - Parameters:
    ///   - list: the list.
    ///   - filter: what must hold of each of its models.
    /// - Returns: the filter.
    /// - SQL: `(SELECT count(*) FROM Z<MEMBER> WHERE … AND NOT <filter>) = 0`
    public static func all<Member: CoreModel>(
        _ list: KeyPath<Model, some ModelList<Reference<Member>>>, _ filter: Filter<Member>
    ) -> Filter { members(list, filter.term, .all) }

    /// Holds where a list has so many models, or so many that a filter of their own selects. `.count(\.reviews, in: 3...)`
    ///
    /// - Parameters:
    ///   - list: the list.
    ///   - range: how many, with or without ends.
    ///   - filter: which of its models count.
    /// - Returns: the filter.
    /// - SQL: `(SELECT count(*) FROM Z<MEMBER> WHERE … AND <filter>) >= ?`
    public static func count<Member: CoreModel>(
        _ list: KeyPath<Model, some ModelList<Member>>, in range: some FilterRange<Int>,
        where filter: Filter<Member> = .all
    ) -> Filter { members(list, filter.term, .count(range)) }

    /// Holds where a list refers to so many models, or to so many that a filter of their own selects.
    ///
    /// - Parameters:
    ///   - list: the list.
    ///   - range: how many, with or without ends.
    ///   - filter: which of its models count.
    /// - Returns: the filter.
    /// - SQL: `(SELECT count(*) FROM Z<MEMBER> WHERE … AND <filter>) >= ?`
    public static func count<Member: CoreModel>(
        _ list: KeyPath<Model, some ModelList<Reference<Member>>>, in range: some FilterRange<Int>,
        where filter: Filter<Member> = .all
    ) -> Filter { members(list, filter.term, .count(range)) }

    private static func members(
        _ list: PartialKeyPath<Model>, _ term: FilterTerm, _ condition: MemberCondition
    ) -> Filter { Filter(term: .members(PropertyName(list), term, condition)) }
}

extension MemberCondition {
    fileprivate static func count(_ range: some FilterRange<Int>) -> MemberCondition {
        let most = range.highest.map { range.includesHighest ? $0 : $0 - 1 }
        return .count(from: range.lowest ?? 0, through: most)
    }
}
