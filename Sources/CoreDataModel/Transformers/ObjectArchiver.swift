import Foundation
import ModelFiles

/// A keyed archiver that writes property lists without Foundation.
///
/// Foundation's archiver writes its property list with the same code as `PropertyListSerialization`, which does not
/// accept arrays when Foundation is linked statically: every archive is then empty. It may also stop the program for
/// several `NSNull`; see `ArchiveCheck`.
final class ObjectArchiver: NSCoder {
    /// Whether Foundation's own archiver fails in this program.
    static let isNeeded = !PropertyListSerialization.propertyList(NSArray(), isValidFor: .binary)

    private var builder = KeyedArchiveBuilder()
    /// The fields of the objects that are being written, the innermost last.
    private var open: [[String: PropertyList]] = []
    /// Objects that were written, kept alive so that no other object gets their address.
    private var written: [ObjectIdentifier: (object: NSObject, reference: PropertyList)] = [:]
    private var failure: (any Error)?

    /// The archive of an object and of all objects that it refers to, which must conform to `NSCoding`.
    ///
    /// - Throws: the reason why a value cannot be archived.
    static func archive(of object: NSObject) throws -> Data {
        let archiver = ObjectArchiver()
        let root = archiver.reference(to: object)
        if let failure = archiver.failure { throw failure }
        return try archiver.builder.archive(root: root, key: NSKeyedArchiveRootObjectKey).data()
    }

    private func reference(to value: Any?) -> PropertyList {
        guard let value else { return KeyedArchiveBuilder.null }
        switch value {
        case let array as NSArray:
            return builder.array(array.map { reference(to: $0) }, isMutable: array is NSMutableArray)
        case let set as NSSet:
            return builder.set(set.map { reference(to: $0) }, isMutable: set is NSMutableSet)
        case let dictionary as NSDictionary:
            return builder.dictionary(
                dictionary.map { (key: reference(to: $0.key), value: reference(to: $0.value)) },
                isMutable: dictionary is NSMutableDictionary)
        case let object as NSObject & NSCoding where !Self.isPlain(object): return reference(to: object)
        default:
            do { return try builder.foundationValue(value) } catch {
                failure = failure ?? error
                return KeyedArchiveBuilder.null
            }
        }
    }

    /// Strings, numbers and similar objects, which an archive contains directly.
    private static func isPlain(_ object: NSObject) -> Bool {
        switch object {
        case is NSString, is NSNumber, is NSData, is NSDate, is NSUUID, is NSURL, is NSNull: true
        default: false
        }
    }

    private func reference(to object: NSObject & NSCoding) -> PropertyList {
        if let known = written[ObjectIdentifier(object)] { return known.reference }
        let reference = builder.reserve()
        written[ObjectIdentifier(object)] = (object, reference)
        open.append([:])
        object.encode(with: self)
        builder.fill(reference, classNames: Self.classNames(of: object), fields: open.removeLast())
        return reference
    }

    /// The class, then its superclasses.
    private static func classNames(of object: NSObject) -> [String] {
        var names: [String] = []
        var current: AnyClass? = object.classForCoder
        while let known = current {
            names.append(NSStringFromClass(known))
            current = _getSuperclass(known)
        }
        return names
    }

    private func set(_ value: PropertyList, forKey key: String) {
        if !open.isEmpty { open[open.count - 1][key] = value }
    }

    // MARK: NSCoder

    override var allowsKeyedCoding: Bool { true }

    override func encode(_ object: Any?, forKey key: String) { set(reference(to: object), forKey: key) }

    override func encodeConditionalObject(_ object: Any?, forKey key: String) { encode(object, forKey: key) }

    override func encode(_ value: Bool, forKey key: String) { set(.boolean(value), forKey: key) }

    override func encode(_ value: Int32, forKey key: String) { set(.integer(Int64(value)), forKey: key) }

    override func encode(_ value: Int64, forKey key: String) { set(.integer(value), forKey: key) }

    override func encode(_ value: Float, forKey key: String) { set(.real(Double(value)), forKey: key) }

    override func encode(_ value: Double, forKey key: String) { set(.real(value), forKey: key) }

    override func encode(_ value: Int, forKey key: String) { set(.integer(Int64(value)), forKey: key) }

    override func encodeBytes(_ bytes: UnsafePointer<UInt8>?, length: Int, forKey key: String) {
        let data = bytes.map { Data(bytes: $0, count: length) } ?? Data()
        set(.data(data), forKey: key)
    }
}

extension NSObject {
    /// The class name in archives for objects of this class.
    ///
    /// In Objective-C it is also a method of the class, by which programs name transformers after the class they
    /// transform. Foundation on Linux only has it for instances.
    public static func classForCoder() -> AnyClass { self }
}
