import Foundation

/// Turns the values of transformable attributes into bytes and back.
///
/// Without a transformer Core Data keeps a secure keyed archive. Bytes that nobody here can read, because their
/// transformer or their class is Apple's or another program's, stay `.data`, are written back as they are, and are so
/// never lost.
enum TransformableCoding {
    static func value(of bytes: Data, transformerName: String?) -> StoredValue {
        guard usesKeyedArchive(transformerName), let object = unarchived(bytes) else { return .data(bytes) }
        return .object((object as? NSObject) ?? AnyValueBox(object))
    }

    /// The bytes of a value; nil when it cannot be archived.
    static func bytes(of object: NSObject, transformerName: String?) -> Data? {
        guard usesKeyedArchive(transformerName) else { return nil }
        let root: Any = (object as? AnyValueBox)?.value ?? object
        return try? NSKeyedArchiver.archivedData(withRootObject: root, requiringSecureCoding: false)
    }

    private static func usesKeyedArchive(_ name: String?) -> Bool {
        switch name {
        case nil, "", "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer", "NSUnarchiveFromData",
            "NSKeyedUnarchiveFromData":
            return true
        default: return false
        }
    }

    private static func unarchived(_ bytes: Data) -> Any? {
        guard let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: bytes) else { return nil }
        unarchiver.requiresSecureCoding = false
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        defer { unarchiver.finishDecoding() }
        return unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
    }
}
