import Foundation
import Synchronization

#if compiler(<6.2)
    /// Before Swift 6.2 the metatype of every type can be sent.
    package typealias SendableMetatype = Any
#endif

/// An object as an operand of a predicate: it returns values by key, without boxing, and has an identity for
/// comparisons.
///
/// Managed objects and object identifiers conform; other objects are wrapped in adapters.
package protocol KeyedOperand: AnyObject, SendableMetatype {
    /// The value under a key (not a key path). An unknown key is a programmer's error.
    func operand(forKey key: String) -> Value

    /// The same, for a key that is read from many objects.
    func operand(forKey key: OperandKey) -> Value

    /// Why the object has no value under a key; nil if it has one, or if that is only known when the value is read.
    func obstacle(toKey key: String) -> String?

    /// Whether a key path from the object passes a relationship to many objects. False if that is not known.
    func leadsToMany(_ keys: [String]) -> Bool

    /// Whether the last key of a path from the object is a relationship to many objects. False if that is not known.
    func endsToMany(_ keys: [String]) -> Bool

    /// The place of the object in an order of objects, that of a store's keys; nil if it has none.
    var orderKey: Int64? { get }

    /// The object that comparisons use, with `isEqual(_:)`: for a managed object, its identifier.
    var operandIdentity: NSObject { get }

    /// The user's object, if the operand is only an adapter.
    var operandObject: AnyObject { get }

    /// Another object of the same class as an operand. A conforming class can convert it without asking the runtime for
    /// the conformance, which takes longer than a comparison.
    ///
    /// - Parameter object: an object whose class is exactly that of an object known to be an operand of this type.
    /// - Returns: the object as an operand.
    static func operand(_ object: NSObject) -> any KeyedOperand
}

/// A key that is read from many objects, with its number if a model has a property of that name.
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
    /// The results in a context, as a collection or, with `countOnly`, as a number.
    func fetchedValue(in context: Any?, countOnly: Bool) -> Value
}

extension KeyedOperand {
    package func operand(forKey key: OperandKey) -> Value { operand(forKey: key.name) }

    package func obstacle(toKey key: String) -> String? { nil }

    package func leadsToMany(_ keys: [String]) -> Bool { false }

    package func endsToMany(_ keys: [String]) -> Bool { false }

    package var orderKey: Int64? { nil }

    package var operandObject: AnyObject { self }

    package static func operand(_ object: NSObject) -> any KeyedOperand {
        guard let operand = object as? any KeyedOperand else { return adapter(for: object) }
        return operand
    }
}

extension KeyedOperand where Self: NSObject {
    package var operandIdentity: NSObject { self }

    package static func operand(_ object: NSObject) -> any KeyedOperand {
        // The caller has checked that the object is of the conforming class or a subclass. Debug builds check it.
        unsafeDowncast(object, to: Self.self)
    }
}

/// Property names as small integers, so that generated accessors and predicates find a value without hashing a string.
package enum PropertyKey {
    private static let table = Mutex<[String: Int]>([:])

    /// The number of a name: the same for every model, as long as the process runs.
    package static func intern(_ name: String) -> Int {
        table.withLock { table in
            if let known = table[name] { return known }
            let number = table.count
            table[name] = number
            return number
        }
    }

    /// The number of a name that a model has; nil for others, since names from format strings must not fill the table.
    package static func number(of name: String) -> Int? {
        table.withLock { $0[name] }
    }
}
