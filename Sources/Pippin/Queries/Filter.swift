import CoreData

/// What must hold of the models that are wanted.
///
/// ```swift
/// manager.fetch(Person.self, where: \.age > 30 && \.address.city == "Bath")
/// manager.fetch(Person.self, where: .contains(\.name, "ann", .caseInsensitive))
/// manager.fetch(Person.self, where: .matching(#Predicate { $0.age > 30 && $0.name.contains("ann") }))
/// manager.fetch(Person.self, where: .format("age > %@ AND name CONTAINS[c] %@", 30, "ann"))
/// ```
///
/// All of these are the same to the store. `&&`, `||` and `!` combine filters of every kind.
public struct Filter<Model>: @unchecked Sendable {
    // @unchecked Sendable: predicates and the values compared with do not change once they are made.
    let term: FilterTerm

    init(term: FilterTerm) { self.term = term }

    /// What a predicate of Core Data says.
    package init(predicate: NSPredicate) { term = .predicate(predicate) }

    /// Holds of every model.
    public static var all: Filter { Filter(term: .all) }

    /// What a Swift predicate says.
    ///
    /// - Parameter predicate: comparisons of stored properties, their collections and constants.
    /// - Returns: the filter.
    public static func matching(_ predicate: Predicate<Model>) -> Filter {
        // Made at once: it fails for what no store can be asked, and the fetch says so.
        Filter(term: NSPredicate(predicate).map { .predicate($0) } ?? .refused("\(predicate)"))
    }

    /// What a format string says, in the language of `NSPredicate`.
    ///
    /// A malformed format string throws when the filter is used; the error marks the place.
    ///
    /// - Parameters:
    ///   - format: the format, with the properties' names, and a `%@` for each value.
    ///   - arguments: the values. A model, or a ``Reference`` to one, is compared by its identifier.
    /// - Returns: the filter.
    public static func format(_ format: String, _ arguments: Any...) -> Filter {
        #if canImport(ObjectiveC)
            Filter(term: .predicate(NSPredicate(format: format, argumentArray: arguments)))
        #else
            do {
                let arguments = arguments.map(ModelArgument.argument)
                return Filter(term: .predicate(try NSPredicate(parsing: format, arguments: arguments)))
            } catch { return Filter(term: .failed(PersistenceError(.malformedFilter, underlying: error, "\(error)"))) }
        #endif
    }

    /// Holds where both do.
    ///
    /// - Parameters:
    ///   - left: a filter.
    ///   - right: another filter of the same model.
    /// - Returns: the filter of both.
    public static func && (left: Filter, right: Filter) -> Filter { Filter(term: left.term.and(right.term)) }

    /// Holds where one of them does.
    ///
    /// - Parameters:
    ///   - left: a filter.
    ///   - right: another filter of the same model.
    /// - Returns: the filter of both.
    public static func || (left: Filter, right: Filter) -> Filter { Filter(term: left.term.or(right.term)) }

    /// Holds where the filter does not.
    ///
    /// - Parameter filter: a filter.
    /// - Returns: its opposite.
    public static prefix func ! (filter: Filter) -> Filter { Filter(term: filter.term.negated) }
}
