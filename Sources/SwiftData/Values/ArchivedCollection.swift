import CoreData

/// A collection of primitive values, of which a store keeps a keyed archive.
protocol ArchivedCollection {
    /// The collection as an object that is archived.
    var archivedObject: NSObject { get }
    /// - Returns: nil for an object of another class, or with elements of another type.
    init?(archivedObject: NSObject)
}

/// An element of such a collection: a primitive value, or another collection.
protocol ArchivedElement {
    var elementObject: Any { get }
    static func element(of object: Any) -> Self?
}

extension ArchivedElement where Self: StoredPrimitive {
    var elementObject: Any { object }
    static func element(of object: Any) -> Self? { Self(object: object) }
}

extension ArchivedElement where Self: ArchivedCollection {
    var elementObject: Any { archivedObject }
    static func element(of object: Any) -> Self? { (object as? NSObject).flatMap { Self(archivedObject: $0) } }
}

extension Int: ArchivedElement {}
extension Int8: ArchivedElement {}
extension Int16: ArchivedElement {}
extension Int32: ArchivedElement {}
extension Int64: ArchivedElement {}
extension UInt: ArchivedElement {}
extension UInt8: ArchivedElement {}
extension UInt16: ArchivedElement {}
extension UInt32: ArchivedElement {}
extension UInt64: ArchivedElement {}
extension Bool: ArchivedElement {}
extension Double: ArchivedElement {}
extension Float: ArchivedElement {}
extension String: ArchivedElement {}
extension Date: ArchivedElement {}
extension Data: ArchivedElement {}
extension UUID: ArchivedElement {}
extension URL: ArchivedElement {}

extension Array: ArchivedElement, ArchivedCollection where Element: ArchivedElement {
    var archivedObject: NSObject { NSArray(array: map(\.elementObject)) }

    init?(archivedObject: NSObject) {
        guard let array = archivedObject as? NSArray else { return nil }
        var elements: [Element] = []
        for object in array {
            guard let element = Element.element(of: object) else { return nil }
            elements.append(element)
        }
        self = elements
    }
}

extension Set: ArchivedElement, ArchivedCollection where Element: ArchivedElement {
    var archivedObject: NSObject { NSSet(array: map(\.elementObject)) }

    init?(archivedObject: NSObject) {
        guard let set = archivedObject as? NSSet else { return nil }
        var elements: Set<Element> = []
        for object in set {
            guard let element = Element.element(of: object) else { return nil }
            elements.insert(element)
        }
        self = elements
    }
}

extension Dictionary: ArchivedElement, ArchivedCollection where Key == String, Value: ArchivedElement {
    var archivedObject: NSObject { NSDictionary(dictionary: mapValues(\.elementObject)) }

    init?(archivedObject: NSObject) {
        guard let dictionary = archivedObject as? NSDictionary else { return nil }
        var values: [String: Value] = [:]
        for (key, object) in dictionary {
            guard let key = key as? String, let value = Value.element(of: object) else { return nil }
            values[key] = value
        }
        self = values
    }
}
