import Foundation

/// An object as an operand of a predicate: gives values by key, without boxing, and says what it is identical to.
///
/// Managed objects and object identifiers conform; other objects are wrapped in adapters.
package protocol KeyedOperand: AnyObject, SendableMetatype {
    /// The value under a key (not a key path). An unknown key is a programmer's error.
    func operand(forKey key: String) -> Value

    /// The same for a key that is read from many objects.
    func operand(forKey key: OperandKey) -> Value

    /// Why the object has no value under a key, in words; nil where it has one, and where that cannot be said before it is asked.
    func obstacle(toKey key: String) -> String?

    /// What the object is compared by, with `isEqual(_:)`: for a managed object, its identifier.
    var operandIdentity: NSObject { get }

    /// The object that the user knows, where the operand is only an adapter of it.
    var operandObject: AnyObject { get }

    /// The operand that another object of the same class is. A class that conforms knows this without asking the runtime for
    /// the conformance, which takes longer than a comparison.
    ///
    /// - Parameter object: its class is exactly that of an object which was found to be an operand of this type.
    /// - Returns: The object as an operand.
    static func operand(_ object: NSObject) -> any KeyedOperand
}

/// A key that is read from many objects, with its number where a model has a property of that name.
package struct OperandKey: Sendable {
    package let name: String
    /// See ``PropertyKey``.
    package let number: Int?

    init(_ name: String) {
        self.name = name
        number = PropertyKey.number(of: name)
    }
}

/// An object that `FETCH(…)` runs: a fetch request.
package protocol FetchingOperand: AnyObject {
    /// What is found in a context, as a collection or, with `countOnly`, as a number.
    func fetchedValue(in context: Any?, countOnly: Bool) -> Value
}

extension KeyedOperand {
    package func operand(forKey key: OperandKey) -> Value { operand(forKey: key.name) }

    package func obstacle(toKey key: String) -> String? { nil }

    package var operandObject: AnyObject { self }

    package static func operand(_ object: NSObject) -> any KeyedOperand {
        guard let operand = object as? any KeyedOperand else { return adapter(for: object) }
        return operand
    }
}

extension KeyedOperand where Self: NSObject {
    package var operandIdentity: NSObject { self }

    package static func operand(_ object: NSObject) -> any KeyedOperand {
        // The caller has seen that the object is of the class that conforms, or of a subclass. The build for debugging checks it.
        unsafeDowncast(object, to: Self.self)
    }
}
