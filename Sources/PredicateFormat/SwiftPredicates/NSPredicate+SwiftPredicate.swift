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
/// - Throws: ``PredicateWithoutTreeError``, which names what the predicate language cannot express.
package func predicateTree<Input>(of predicate: Predicate<Input>) throws -> PredicateTree {
    try PredicateConversion.tree(of: predicate)
}
