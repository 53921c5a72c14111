import Foundation

/// Checks a value, and everything that a keyed archive would include with it, before Foundation's archiver does: on
/// Linux the archiver stops the program if it cannot archive something.
///
/// It stops for objects that do not adopt `NSCoding`, at any depth; errors, predicates, sort descriptors and decimal
/// numbers; classes within another type, and generic or private classes, which have no name for an archive; and
/// collections that nest deep. It may stop for several `NSNull`, which are equal and have different hashes: it keeps
/// the objects in a dictionary. It also stops for a collection that contains itself, but that cannot be detected:
/// Foundation loops endlessly as soon as anybody asks for an element.
struct ArchiveCheck {
    /// Values that were found to be valid.
    private var checked: Set<ObjectIdentifier> = []
    /// The number of collections that directly enclose the current value.
    private var collectionDepth = 0
    private var null: NSNull?
    /// Whether there is more than one `NSNull`.
    private(set) var hasSeveralNulls = false
    /// The class of an object that needs Foundation's archiver.
    private(set) var foundationOwner: AnyClass?

    private static let deepest = 256
    /// Foundation compares collections with each other while archiving them, which takes longer the deeper they nest.
    private static let deepestCollection = 32

    /// - Returns: which archiver the value needs.
    /// - Throws: a `SecureUnarchiving.Failure` that names the type which cannot be archived.
    static func check(_ value: Any) throws -> ArchiveCheck {
        var check = ArchiveCheck()
        try check.check(value, depth: 0)
        return check
    }

    private mutating func check(_ value: Any, depth: Int) throws {
        guard let object = value as? NSObject else { throw Self.unarchivable(value) }
        guard depth <= Self.deepest, collectionDepth <= Self.deepestCollection else {
            throw SecureUnarchiving.Failure(reason: "its objects nest deeper than they can be archived")
        }
        switch object {
        case is NSString, is NSData, is NSDate, is NSURL, is NSUUID: return
        case let null as NSNull:
            if let known = self.null, known !== null { hasSeveralNulls = true }
            self.null = null
        // Hashing decimal numbers does not terminate in Foundation on Linux, and the archiver does it.
        case is NSDecimalNumber: throw Self.unarchivable(value)
        case is NSNumber: return
        case is NSError, is NSPredicate, is NSSortDescriptor: throw Self.unarchivable(value)
        case let array as NSArray: try checkElements(array, depth)
        case let set as NSSet: try checkElements(set, depth)
        case let set as NSOrderedSet: try checkElements(set, depth)
        case let dictionary as NSDictionary:
            try checkElements(dictionary.allKeys + dictionary.allValues, depth)
        default: try checkParts(of: object, depth)
        }
    }

    private mutating func checkElements(_ elements: some Sequence<Any>, _ depth: Int) throws {
        collectionDepth += 1
        defer { collectionDepth -= 1 }
        for element in elements { try check(element, depth: depth + 1) }
    }

    private mutating func checkParts(of object: NSObject, _ depth: Int) throws {
        guard let coding = object as? any NSObject & NSCoding else { throw Self.unarchivable(object) }
        // An object may lead back to itself; an archive contains it once.
        guard checked.insert(ObjectIdentifier(object)).inserted else { return }
        try Self.checkName(of: object)
        let parts = parts(of: coding)
        let outer = collectionDepth
        collectionDepth = 0
        defer { collectionDepth = outer }
        for part in parts { try check(part, depth: depth + 1) }
    }

    /// The objects that an object encodes.
    private mutating func parts(of object: any NSObject & NSCoding) -> [Any] {
        // Foundation's own objects require an archiver of their own.
        if String(reflecting: type(of: object)).hasPrefix("Foundation.") { foundationOwner = type(of: object) }
        switch object {
        case let text as NSAttributedString:
            var values: [Any] = []
            text.enumerateAttributes(in: NSRange(location: 0, length: text.length)) { attributes, _, _ in
                values += attributes.values
            }
            return values
        case let notification as NSNotification:
            return [notification.object, notification.userInfo].compactMap { $0 }
        default:
            // Foundation's own objects were tested individually.
            if foundationOwner == type(of: object) { return [] }
            let parts = ArchivedParts()
            object.encode(with: parts)
            return parts.objects
        }
    }

    /// Checks that an archived class can be found again by its module and name.
    private static func checkName(of object: NSObject) throws {
        let type: AnyClass = object.classForKeyedArchiver ?? object.classForCoder
        if NSKeyedArchiver.classNameForClass(type) != nil { return }
        let name = String(reflecting: type)
        guard name.split(separator: ".").count == 2, !name.contains("<"), !name.contains("(") else {
            throw SecureUnarchiving.Failure(
                reason:
                    "objects of the class \(name) cannot be archived: it is private, generic or within another type. "
                    + "Move it to the top of its module, or name a transformer")
        }
    }

    static func unarchivable(_ value: Any) -> SecureUnarchiving.Failure {
        SecureUnarchiving.Failure(
            reason: "a value of type \(type(of: value)) cannot be archived; adopt NSSecureCoding, or name a transformer"
        )
    }
}

/// Records which objects an object encodes, without encoding anything.
private final class ArchivedParts: NSCoder {
    private(set) var objects: [Any] = []

    private func note(_ object: Any?) {
        if let object { objects.append(object) }
    }

    override var allowsKeyedCoding: Bool { true }
    override func encode(_ object: Any?) { note(object) }
    override func encode(_ object: Any?, forKey key: String) { note(object) }
    override func encodeRootObject(_ rootObject: Any) { note(rootObject) }
    override func encodeConditionalObject(_ object: Any?) { note(object) }
    override func encodeConditionalObject(_ object: Any?, forKey key: String) { note(object) }
    override func encodeBycopyObject(_ object: Any?) { note(object) }
    override func encodeByrefObject(_ object: Any?) { note(object) }
    override func encodePropertyList(_ aPropertyList: Any) { note(aPropertyList) }

    // Values that are not objects can always be archived.
    override func encode(_ value: Bool, forKey key: String) {}
    override func encode(_ value: Int32, forKey key: String) {}
    override func encode(_ value: Int64, forKey key: String) {}
    override func encode(_ value: Int, forKey key: String) {}
    override func encode(_ value: Float, forKey key: String) {}
    override func encode(_ value: Double, forKey key: String) {}
    override func encode(_ data: Data) {}
    override func encodeBytes(_ bytes: UnsafePointer<UInt8>?, length: Int, forKey key: String) {}
    override func encodeBytes(_ bytes: UnsafeRawPointer?, length: Int) {}
    override func encodeValue(ofObjCType type: UnsafePointer<Int8>, at address: UnsafeRawPointer) {}
    override func encodeArray(ofObjCType type: UnsafePointer<Int8>, count: Int, at array: UnsafeRawPointer) {}
}
