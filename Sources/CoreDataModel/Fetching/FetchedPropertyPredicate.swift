import CompactCollections
import Foundation
import PredicateFormat

extension NSPredicate {
    /// The predicate of a fetched property for one object. `$FETCH_SOURCE` is the object, `$FETCHED_PROPERTY` the
    /// description, and paths from either are replaced by their values, with which stores can compare.
    ///
    /// - Parameters:
    ///   - property: the description; predicates can use its `name` and `userInfo`.
    ///   - object: the object that has the property.
    /// - Returns: the predicate with the object's values in place of the variables.
    package func of(_ property: NSFetchedPropertyDescription, of object: any KeyedOperand) -> NSPredicate {
        guard let tree = try? predicateTree(of: self) else { return self }
        let description: [String: Any] = ["name": property.name, "userInfo": property.userInfo ?? [:]]
        let variables = ["FETCH_SOURCE": Value(object), "FETCHED_PROPERTY": Value(description)]
        return makePredicate(tree.replacingVariables(with: variables).mapExpressions(\.withConstantPartRead))
    }
}
