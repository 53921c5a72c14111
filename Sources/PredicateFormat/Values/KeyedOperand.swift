import Foundation

/// An object as an operand of a predicate: gives values by key, without boxing, and says what it is identical to.
///
/// Managed objects and object identifiers conform; other objects are wrapped in adapters.
package protocol KeyedOperand: AnyObject {
    /// The value under a key (not a key path). An unknown key is a programmer's error.
    func operand(forKey key: String) -> Value

    /// What the object is compared by, with `isEqual(_:)`: for a managed object, its identifier.
    var operandIdentity: NSObject { get }

    /// The object that the user knows, where the operand is only an adapter of it.
    var operandObject: AnyObject { get }
}

/// An object that `FETCH(…)` runs: a fetch request.
package protocol FetchingOperand: AnyObject {
    /// What is found in a context, as a collection or, with `countOnly`, as a number.
    func fetchedValue(in context: Any?, countOnly: Bool) -> Value
}

extension KeyedOperand {
    package var operandObject: AnyObject { self }
}

extension KeyedOperand where Self: NSObject {
    package var operandIdentity: NSObject { self }
}
