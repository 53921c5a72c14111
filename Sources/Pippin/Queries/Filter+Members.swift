/// The type of a property that holds several models or values: an array, a set, or an optional one of these.
public protocol ModelList<Member> {
    /// The type of its elements: a model, a reference to one, or a single value.
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
    /// Selects models with at least one member of a list that another filter selects. `.any(\.reviews, \.stars < 3)`
    ///
    /// - Parameters:
    ///   - list: the list.
    ///   - filter: the condition on a member.
    /// - Returns: the filter.
    /// - SQL: `(SELECT count(*) FROM Z<MEMBER> WHERE … AND <filter>) > 0`
    public static func any<Member: CoreModel>(
        _ list: KeyPath<Model, some ModelList<Member>>, _ filter: Filter<Member>
    ) -> Filter { members(list, filter.term, .any) }

    /// Selects models with a reference in a list to at least one model that another filter selects.
    ///
    /// - Parameters:
    ///   - list: the list.
    ///   - filter: the condition on a referenced model.
    /// - Returns: the filter.
    /// - SQL: `(SELECT count(*) FROM Z<MEMBER> WHERE … AND <filter>) > 0`
    public static func any<Member: CoreModel>(
        _ list: KeyPath<Model, some ModelList<Reference<Member>>>, _ filter: Filter<Member>
    ) -> Filter { members(list, filter.term, .any) }

    /// Selects models for which all members of a list are selected by another filter, including models without members.
    ///
    /// - Parameters:
    ///   - list: the list.
    ///   - filter: the condition on each member.
    /// - Returns: the filter.
    /// - SQL: `(SELECT count(*) FROM Z<MEMBER> WHERE … AND NOT <filter>) = 0`
    public static func all<Member: CoreModel>(
        _ list: KeyPath<Model, some ModelList<Member>>, _ filter: Filter<Member>
    ) -> Filter { members(list, filter.term, .all) }

    /// Selects models for which all models that a list refers to are selected by another filter, including models with
    /// an empty list.
    ///
    /// - Parameters:
    ///   - list: the list.
    ///   - filter: the condition on each referenced model.
    /// - Returns: the filter.
    /// - SQL: `(SELECT count(*) FROM Z<MEMBER> WHERE … AND NOT <filter>) = 0`
    public static func all<Member: CoreModel>(
        _ list: KeyPath<Model, some ModelList<Reference<Member>>>, _ filter: Filter<Member>
    ) -> Filter { members(list, filter.term, .all) }

    /// Selects models by the number of members in a list, or of those that another filter selects. `.count(\.reviews,
    /// in: 3...)`
    ///
    /// - Parameters:
    ///   - list: the list.
    ///   - range: the permitted numbers, with or without ends.
    ///   - filter: the members that count.
    /// - Returns: the filter.
    /// - SQL: `(SELECT count(*) FROM Z<MEMBER> WHERE … AND <filter>) >= ?`
    public static func count<Member: CoreModel>(
        _ list: KeyPath<Model, some ModelList<Member>>, in range: some FilterRange<Int>,
        where filter: Filter<Member> = .all
    ) -> Filter { members(list, filter.term, .count(range)) }

    /// Selects models by the number of models that a list refers to, or of those that another filter selects.
    ///
    /// - Parameters:
    ///   - list: the list.
    ///   - range: the permitted numbers, with or without ends.
    ///   - filter: the referenced models that count.
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
    static func count(_ range: some FilterRange<Int>) -> MemberCondition {
        let most = range.highest.map { range.includesHighest ? $0 : $0 - 1 }
        return .count(from: range.lowest ?? 0, through: most)
    }
}
