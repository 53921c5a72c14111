import Foundation

/// A developer's store's reference for an object, in the form that IDs keep.
///
/// Two references are the same if their texts are: the number 7 and the text “7” identify one object, since the URI of
/// an ID only shows the text.
package enum ReferenceObject {
    /// The ID of an object by its reference.
    ///
    /// - Parameters:
    ///   - layout: the entity of the object.
    ///   - reference: a number, a string, a UUID, or anything else with a unique description.
    ///   - store: the store of the object.
    /// - Returns: the ID.
    package static func identifier(
        of layout: EntityLayout, reference: Any, in store: StoreIdentity
    ) -> NSManagedObjectID {
        let object = (reference as? NSObject) ?? BoxedReference(reference)
        let text = "\(object)"
        // A number is used as the key, as in our own stores, and needs no object.
        if let key = key(numbered: text) {
            return NSManagedObjectID(
                layout: layout, store: store, key: key, reference: object is NSNumber ? nil : object)
        }
        return NSManagedObjectID(layout: layout, store: store, key: digest(of: text), reference: object)
    }

    /// The reference of an ID, as the store passed it.
    package static func reference(of identifier: NSManagedObjectID) -> Any {
        guard let object = identifier.reference else { return NSNumber(value: identifier.key) }
        return (object as? BoxedReference)?.value ?? object
    }

    /// The reference for the last part of a URI: a number if it looks like one, otherwise the text.
    package static func reference(inURIKey text: Substring) -> Any {
        key(numbered: String(text)).map { NSNumber(value: $0) } ?? String(text)
    }

    private static func key(numbered text: String) -> Int64? {
        guard let key = Int64(text), key > 0, "\(key)" == text else { return nil }
        return key
    }

    /// A digest that is the same in every process, so that IDs of two coordinators can be compared.
    private static func digest(of text: String) -> Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return Int64(bitPattern: hash)
    }
}

/// A Swift value as a reference.
private final class BoxedReference: NSObject, @unchecked Sendable {
    // @unchecked Sendable: never changed; the developer's store provides and receives the value.
    let value: Any
    init(_ value: Any) { self.value = value }
    override var description: String { "\(value)" }
}
