import StoreSession

/// A condition that selects models.
///
/// ```swift
/// manager.fetch(Person.self, where: \.age > 30 && \.address.city == "Bath")
/// manager.fetch(Person.self, where: .contains(\.name, "ann", .caseInsensitive))
/// manager.fetch(Person.self, where: .matching(#Predicate { $0.age > 30 && $0.name.contains("ann") }))
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
    /// 64 bits, and is no value of a `Float` property unless both are the same number: pass a `Float`,
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
