import Foundation

extension PredicateParsing where Self: NSPredicate {
    /// Creates a predicate that is equivalent to a Swift `#Predicate`.
    ///
    /// ```swift
    /// NSPredicate(#Predicate<Book> { $0.year > 1990 && $0.title.contains("x") })
    /// ```
    ///
    /// The result is `nil` for a predicate that the predicate language cannot express, such as one with a computed
    /// property.
    ///
    /// - Parameter predicate: Comparisons of stored or managed properties, their collections and constants.
    public init?<Input>(_ predicate: Predicate<Input>) {
        guard let tree = try? predicateTree(of: predicate), let result = makePredicate(tree) as? Self else {
            return nil
        }
        self = result
    }
}

/// The content of a Swift `#Predicate`.
///
/// - Parameters:
///   - predicate: the predicate.
///   - constant: makes the expression for a value of the program that the predicate contains.
///   - ordersRawValues: whether the order of an enumeration's raw values stands for its own, where the predicate
///     compares two of its values that are not constant.
///   - keys: the keys that a key path reads; nil if they have no names.
/// - Returns: the content.
/// - Throws: ``PredicateWithoutTreeError``, which names what the predicate language cannot express, and
///   ``EnumerationOrderError``.
package func predicateTree<Input>(
    of predicate: Predicate<Input>, constant: @escaping (Any?) -> ExpressionTree = constantTree,
    ordersRawValues: Bool = true, keys: @escaping (AnyKeyPath) -> [String]? = keys(of:)
) throws -> PredicateTree {
    try PredicateConversion.tree(of: predicate, constant: constant, ordersRawValues: ordersRawValues, keys: keys)
}
