import StoreSession

/// A condition that selects models.
///
/// ```swift
/// manager.fetch(Person.self, where: \.age > 30 && \.address.city == "Bath")
/// manager.fetch(Person.self, where: .contains(\.name, "ann", .caseInsensitive))
/// manager.fetch(Person.self, where: #Predicate { $0.age > 30 && $0.name.contains("ann") })
/// manager.fetch(Person.self, where: .format("age > %@ AND name CONTAINS[c] %@", 30, "ann"))
/// ```
///
/// These are all the same to the store. `&&`, `||` and `!` combine filters of every kind.
public struct Filter<Model>: @unchecked Sendable {
    // @unchecked Sendable: predicates and compared values do not change once they are made.
    let term: FilterTerm
    let test = KeptModelTest()

    init(term: FilterTerm) { self.term = term }

    /// A filter from a predicate of Core Data's.
    package init(predicate: NSPredicate) { term = .predicate(predicate) }

    /// Selects all models.
    public static var all: Filter { Filter(term: .all) }

    /// A filter from a Swift predicate.
    ///
    /// - Parameter predicate: comparisons of stored properties, their collections and constants.
    /// - Returns: the filter.
    public static func matching(_ predicate: Predicate<Model>) -> Filter {
        // Converted at once. If no store can evaluate the predicate, the fetch reports it.
        Filter(term: term(predicate))
    }

    /// A filter from a format string, in the language of `NSPredicate`.
    ///
    /// A malformed format string throws when the filter is used; the error marks the position. A list of models equals
    /// `nil` if the property is `nil`, not if it is empty, as in the other forms of filters. A number in a format has
    /// 64 bits, and is not a value of a `Float` property unless both are the same number: pass a `Float`,
    /// `.format("rating == %@", Float(1.1))`.
    ///
    /// - Parameters:
    ///   - format: the format, with the properties' names, and a `%@` for each value.
    ///   - arguments: the values. A model, or a ``Reference`` to one, is compared by its identifier.
    /// - Returns: the filter.
    public static func format(_ format: String, _ arguments: Any...) -> Filter {
        Filter(term: term(format, arguments))
    }

    /// Selects models that both filters select.
    ///
    /// - Parameters:
    ///   - left: a filter.
    ///   - right: another filter of the same model.
    /// - Returns: the filter of both.
    public static func && (left: Filter, right: Filter) -> Filter { Filter(term: left.term.and(right.term)) }

    /// Selects models that at least one of the filters selects.
    ///
    /// - Parameters:
    ///   - left: a filter.
    ///   - right: another filter of the same model.
    /// - Returns: the filter of both.
    public static func || (left: Filter, right: Filter) -> Filter { Filter(term: left.term.or(right.term)) }

    /// Selects models that the filter does not select.
    ///
    /// - Parameter filter: a filter.
    /// - Returns: the opposite filter.
    public static prefix func ! (filter: Filter) -> Filter { Filter(term: filter.term.negated) }
}

// Elements of a list of single values.
extension Filter {
    /// Selects models with a list that has a value: texts, numbers, Booleans, dates, UUIDs, URLs, or enumerations with
    /// such raw values. `.contains(\.tags, "classic")`
    ///
    /// A list that is nil has no values.
    ///
    /// - Parameters:
    ///   - list: an array or a set of single values.
    ///   - element: the value.
    /// - Returns: the filter.
    /// - SQL: `EXISTS (SELECT 1 FROM PippinListed(<list>, 'text') WHERE value = ?)`; in PostgreSQL
    ///   `json_array_elements(…)`
    public static func contains<Element: Encodable>(
        _ list: KeyPath<Model, some ModelList<Element>>, _ element: Element
    ) -> Filter { comparing(list, .element, element) }

    /// Selects models by the number of values in a list of texts, numbers, Booleans, dates, UUIDs, URLs, or
    /// enumerations with such raw values. `.count(\.tags, in: 2...)`
    ///
    /// A list that is nil has no values.
    ///
    /// - Parameters:
    ///   - list: an array or a set of single values.
    ///   - range: the permitted numbers, with or without ends.
    /// - Returns: the filter.
    /// - SQL: `(SELECT COUNT(*) FROM PippinListed(<list>, 'text')) >= ?`; in PostgreSQL `json_array_elements(…)`
    @_disfavoredOverload
    public static func count<Element: Encodable>(
        _ list: KeyPath<Model, some ModelList<Element>>, in range: some FilterRange<Int>
    ) -> Filter { Filter(term: .members(PropertyName(list), FilterTerm.all, .count(range))) }
}

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

/// A range of values that a property may lie in: `1...5`, `1..<5`, `1...`, `...5`, `..<5`.
public protocol FilterRange<Bound> {
    /// The type of the bounds.
    associatedtype Bound: Comparable
    /// The smallest value; `nil` for none.
    var lowest: Bound? { get }
    /// The largest value; `nil` for none.
    var highest: Bound? { get }
    /// Whether ``highest`` itself belongs to the range.
    var includesHighest: Bool { get }
}

extension FilterRange {
    /// `true`: most ranges include their upper bound.
    public var includesHighest: Bool { true }

    /// Selects models whose property is in the range. `(1...5).contains(\.stars)`
    ///
    /// - Parameter property: the property, of the model or of one that it leads to.
    /// - Returns: the filter.
    /// - SQL: `<property> >= ? AND <property> <= ?`
    public func contains<Model>(_ property: KeyPath<Model, Bound>) -> Filter<Model> where Bound: Encodable {
        .lying(property, in: self)
    }

    /// Selects models whose optional property has a value in the range.
    ///
    /// - Parameter property: the property, of the model or of one that it leads to.
    /// - Returns: the filter.
    /// - SQL: `<property> >= ? AND <property> <= ?`
    public func contains<Model>(_ property: KeyPath<Model, Bound?>) -> Filter<Model> where Bound: Encodable {
        .lying(property, in: self)
    }
}

extension ClosedRange: FilterRange {
    /// The lower bound.
    public var lowest: Bound? { lowerBound }
    /// The upper bound.
    public var highest: Bound? { upperBound }
}

extension Range: FilterRange {
    /// The lower bound.
    public var lowest: Bound? { lowerBound }
    /// The upper bound.
    public var highest: Bound? { upperBound }
    /// `false`
    public var includesHighest: Bool { false }
}

extension PartialRangeFrom: FilterRange {
    /// The lower bound.
    public var lowest: Bound? { lowerBound }
    /// `nil`
    public var highest: Bound? { nil }
}

extension PartialRangeThrough: FilterRange {
    /// `nil`
    public var lowest: Bound? { nil }
    /// The upper bound.
    public var highest: Bound? { upperBound }
}

extension PartialRangeUpTo: FilterRange {
    /// `nil`
    public var lowest: Bound? { nil }
    /// The upper bound.
    public var highest: Bound? { upperBound }
    /// `false`
    public var includesHighest: Bool { false }
}

/// Selects models whose property is in a range. `1...5 ~= \.stars`
///
/// - Parameters:
///   - range: the range, with or without ends.
///   - property: the property, of the model or of one that it leads to.
/// - Returns: the filter.
/// - SQL: `<property> >= ? AND <property> <= ?`
public func ~= <Model, Bounds: FilterRange>(range: Bounds, property: KeyPath<Model, Bounds.Bound>) -> Filter<Model>
where Bounds.Bound: Encodable { .lying(property, in: range) }

/// Selects models whose optional property has a value in a range. `10... ~= \.price`
///
/// - Parameters:
///   - range: the range, with or without ends.
///   - property: the property, of the model or of one that it leads to.
/// - Returns: the filter.
/// - SQL: `<property> >= ? AND <property> <= ?`
public func ~= <Model, Bounds: FilterRange>(range: Bounds, property: KeyPath<Model, Bounds.Bound?>) -> Filter<Model>
where Bounds.Bound: Encodable { .lying(property, in: range) }

extension Array where Element: Encodable {
    /// Selects models whose property has one of these values. `["Emma", "Persuasion"].contains(\.title)`
    ///
    /// - Parameter property: the property, of the model or of one that it leads to.
    /// - Returns: the filter; without values it selects no model.
    /// - SQL: `<property> IN (?, …)`
    public func contains<Model>(_ property: KeyPath<Model, Element>) -> Filter<Model> { .in(property, self) }
}

extension Set where Element: Encodable {
    /// Selects models whose property has one of these values. `["Emma", "Persuasion"].contains(\.title)`
    ///
    /// - Parameter property: the property, of the model or of one that it leads to.
    /// - Returns: the filter; without values it selects no model.
    /// - SQL: `<property> IN (?, …)`
    public func contains<Model>(_ property: KeyPath<Model, Element>) -> Filter<Model> { .in(property, self) }
}

extension Filter {
    /// Selects models whose property lies between two values, these included.
    ///
    /// - Parameters:
    ///   - property: the property, of the model or of one that it leads to.
    ///   - range: the smallest and the largest value.
    /// - Returns: the filter.
    /// - SQL: `<property> >= ? AND <property> <= ?`
    public static func between<Value: Encodable & Comparable>(
        _ property: KeyPath<Model, Value>, _ range: ClosedRange<Value>
    ) -> Filter { lying(property, in: range) }

    /// Selects models whose optional property lies between two values, these included.
    ///
    /// - Parameters:
    ///   - property: the property, of the model or of one that it leads to.
    ///   - range: the smallest and the largest value.
    /// - Returns: the filter.
    /// - SQL: `<property> >= ? AND <property> <= ?`
    public static func between<Value: Encodable & Comparable>(
        _ property: KeyPath<Model, Value?>, _ range: ClosedRange<Value>
    ) -> Filter { lying(property, in: range) }

    static func lying<Bounds: FilterRange>(_ property: PartialKeyPath<Model>, in range: Bounds) -> Filter
    where Bounds.Bound: Encodable {
        var filter: Filter?
        if let lowest = range.lowest { filter = comparing(property, .atLeast, lowest) }
        if let highest = range.highest {
            let below = comparing(property, range.includesHighest ? .atMost : .less, highest)
            filter = filter.map { $0 && below } ?? below
        }
        return filter ?? .all
    }
}
