import Foundation

/// Wraps a value that is not an operand itself.
///
/// Keys are looked up with `KeyValueCoding`, in a dictionary, or among the stored properties by reflection.
func adapter(for any: Any) -> any KeyedOperand {
    switch any {
    case let dictionary as [String: Any]: DictionaryOperand(dictionary, object: any)
    case let dictionary as NSDictionary: NSDictionaryOperand(dictionary)
    case let object as any KeyValueCoding: CodingOperand(object)
    default: ReflectedOperand(any)
    }
}

/// A user's object that adopts `KeyValueCoding`.
private final class CodingOperand: AdapterOperand, KeyedOperand {
    let object: any KeyValueCoding

    init(_ object: any KeyValueCoding) {
        self.object = object
        super.init(object)
    }

    func operand(forKey key: String) -> Value {
        Value(object.value(forKey: key))
    }
}

/// A Swift dictionary with strings as keys; a missing key is `nil`.
private final class DictionaryOperand: AdapterOperand, KeyedOperand {
    let dictionary: [String: Any]

    init(_ dictionary: [String: Any], object: Any) {
        self.dictionary = dictionary
        super.init(object as AnyObject)
    }

    func operand(forKey key: String) -> Value {
        Value(dictionary[key])
    }
}

/// A Foundation dictionary; a missing key is `nil`.
private final class NSDictionaryOperand: AdapterOperand, KeyedOperand {
    let dictionary: NSDictionary

    init(_ dictionary: NSDictionary) {
        self.dictionary = dictionary
        super.init(dictionary)
    }

    func operand(forKey key: String) -> Value {
        Value(dictionary.object(forKey: key))
    }
}

/// Any other Swift value or object: its stored properties, found by reflection.
private final class ReflectedOperand: AdapterOperand, KeyedOperand {
    let value: Any

    init(_ value: Any) {
        self.value = value
        super.init(value as AnyObject)
    }

    func operand(forKey key: String) -> Value {
        let (found, keys) = property(key)
        guard let found else { programmerError(noKey(key, among: keys)) }
        return Value(found)
    }

    func obstacle(toKey key: String) -> String? {
        let (found, keys) = property(key)
        return found == nil ? noKey(key, among: keys) : nil
    }

    /// A stored property's value, and the names of all stored properties.
    private func property(_ key: String) -> (value: Any?, keys: [String]) {
        var keys: [String] = []
        var mirror: Mirror? = Mirror(reflecting: value)
        while let level = mirror {
            for (label, child) in level.children {
                guard let label else { continue }
                if label == key { return (.some(child), keys) }
                keys.append(label)
            }
            mirror = level.superclassMirror
        }
        return (nil, keys)
    }

    private func noKey(_ key: String, among keys: [String]) -> String {
        // A property wrapper or a lazy property stores its value under another name.
        "A value of type \(type(of: value)) has no key \"\(key)\" that a predicate could read; "
            + (keys.isEmpty
                ? "it has no stored properties. " : "its stored properties are \(keys.joined(separator: ", ")). ")
            + "Adopt KeyValueCoding to give others."
    }
}

/// The common part of the adapters, which are equal if the wrapped values are.
private class AdapterOperand: NSObject {
    let operandObject: AnyObject

    init(_ object: AnyObject) {
        operandObject = object
    }

    var operandIdentity: NSObject { self }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? AdapterOperand else { return false }
        if operandObject === other.operandObject { return true }
        guard let first = operandObject as? NSObject, let second = other.operandObject as? NSObject else {
            return false
        }
        return first.isEqual(second)
    }

    override var hash: Int {
        (operandObject as? NSObject)?.hash ?? ObjectIdentifier(operandObject).hashValue
    }
}

/// Stops the program for a programmer's error, for which Foundation would raise an exception.
func programmerError(_ message: String) -> Never {
    fatalError(message)
}

/// Access to an object's values by their names.
///
/// On Apple's platforms the Objective-C runtime gives every `NSObject` key-value coding. Elsewhere a class adopts this
/// protocol to let predicates and sort descriptors read it. Managed objects conform; your own classes can:
///
/// ```swift
/// final class Track: KeyValueCoding {
///     let title: String
///     func value(forKey key: String) -> Any? {
///         key == "title" ? title : nil
///     }
/// }
/// ```
///
/// Objects that do not conform, and structs, are read by reflection, which is slower.
public protocol KeyValueCoding: AnyObject {
    /// Returns the value of a property.
    ///
    /// - Parameter key: the property's name, not a key path.
    /// - Returns: the value, or `nil` if the property has none.
    func value(forKey key: String) -> Any?
}
