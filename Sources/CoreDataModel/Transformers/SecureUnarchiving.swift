import Foundation
import ModelFiles

/// The classes of objects that an archive may contain.
struct UnarchivedClasses {
    /// The classes of property lists, and the others that Foundation's secure transformer allows.
    static let basic: [AnyClass] = [
        NSArray.self, NSDictionary.self, NSSet.self, NSOrderedSet.self, NSString.self, NSNumber.self, NSDate.self,
        NSData.self, NSURL.self, NSUUID.self, NSNull.self,
    ]

    private let classes: [AnyClass]
    /// Whether any class is allowed.
    private let allowsAll: Bool
    /// Whether all basic classes are allowed, so that a value made of these need not be checked in detail.
    let allowsBasic: Bool

    init(_ classes: [AnyClass]) {
        self.classes = classes
        allowsAll = false
        allowsBasic = Self.basic.allSatisfy { basic in classes.contains { $0 == basic } }
    }

    private init() {
        classes = []
        allowsAll = true
        allowsBasic = true
    }

    /// The basic classes, and no others.
    static let onlyBasic = UnarchivedClasses(basic)

    /// These classes and others.
    func adding(_ more: [AnyClass]) -> UnarchivedClasses {
        allowsAll || more.isEmpty ? self : UnarchivedClasses(classes + more)
    }

    /// Every class that exists here.
    static let all = UnarchivedClasses()

    /// Whether an object of a class is allowed as a value: at the top, or in a collection.
    func allows(_ type: AnyClass) -> Bool {
        allowsAll || classes.contains { Self.isSubclass(type, of: $0) }
    }

    /// Whether an object of a class is allowed as part of an allowed object: of a basic class, or of a class in the
    /// same module that can be decoded securely.
    func allowsInside(_ type: AnyClass) -> Bool {
        if allows(type) || Self.basic.contains(where: { Self.isSubclass(type, of: $0) }) { return true }
        guard type is any NSSecureCoding.Type, let module = Self.module(of: type) else { return false }
        return classes.contains { Self.module(of: $0) == module }
    }

    /// The module of a class outside Foundation.
    private static func module(of type: AnyClass) -> Substring? {
        let name = String(reflecting: type)
        guard let point = name.firstIndex(of: "."), !name.hasPrefix("Foundation.") else { return nil }
        return name[..<point]
    }

    private static func isSubclass(_ type: AnyClass, of ancestor: AnyClass) -> Bool {
        var current: AnyClass? = type
        while let known = current {
            if known == ancestor { return true }
            current = _getSuperclass(known)
        }
        return false
    }
}

/// Decodes keyed archives after checking their classes, and encodes objects after checking them.
///
/// Foundation's unarchiver on Linux stops the program for an unexpected class, and its archiver for an object that
/// cannot be archived.
enum SecureUnarchiving {
    /// Why an archive was not decoded, or an object not encoded.
    struct Failure: LocalizedError {
        package let reason: String
        var errorDescription: String? { reason }

        /// Only Foundation's archiver takes some of Foundation's objects, and it may stop the program for two `NSNull`.
        static func severalNulls(beside owner: AnyClass) -> Self {
            Self(
                reason: "several NSNull beside an object of the class \(owner) cannot be archived; use one and "
                    + "the same NSNull, or name a transformer")
        }
    }

    /// The object in an archive.
    ///
    /// - Throws: a `Failure` that names the class which is not allowed, and the errors of damaged archives.
    static func object(in data: Data, allowed: UnarchivedClasses) throws -> Any {
        // Foundation's unarchiver makes objects of the whole list.
        let limits = PropertyListLimits.forObjects(byteCount: data.count)
        let archive = try KeyedArchive(propertyList: PropertyList(binary: data, limits: limits))
        if allowed.allowsBasic, let value = PlainArchives.object(in: archive) { return value }
        var visited: Set<Int> = []
        // A string or a number at the top has no class to refuse.
        let top = archive.top[NSKeyedArchiveRootObjectKey] ?? .uid(0)
        if case .object(let root) = try archive.value(of: top, owner: 0, key: NSKeyedArchiveRootObjectKey) {
            try check(root, in: archive, isInside: false, allowed, &visited, depth: 0)
        }
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        unarchiver.requiresSecureCoding = false
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        defer { unarchiver.finishDecoding() }
        guard let object = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey) else {
            throw unarchiver.error ?? Failure(reason: "the archive has no object")
        }
        return object
    }

    private static let collections: Set<String> = [
        "NSArray", "NSMutableArray", "NSDictionary", "NSMutableDictionary", "NSSet", "NSMutableSet", "NSOrderedSet",
        "NSMutableOrderedSet",
    ]

    /// Checks the classes of an object and of all objects that it refers to.
    private static func check(
        _ object: ArchivedObject, in archive: KeyedArchive, isInside: Bool, _ allowed: UnarchivedClasses,
        _ visited: inout Set<Int>, depth: Int
    ) throws {
        guard visited.insert(object.index).inserted else { return }
        if depth > 256 { throw Failure(reason: "its objects nest deeper than 256 levels") }
        guard let type = NSClassFromString(object.className) else {
            throw Failure(reason: "there is no class “\(object.className)” here")
        }
        guard isInside ? allowed.allowsInside(type) : allowed.allows(type) else {
            throw Failure(reason: "objects of the class “\(object.className)” are not allowed")
        }
        let isCollection = collections.contains(object.className)
        for key in object.keys {
            for part in try parts(of: object, key, archive) {
                try check(
                    part, in: archive, isInside: isInside || !isCollection, allowed, &visited, depth: depth + 1)
            }
        }
    }

    private static func parts(
        of object: ArchivedObject, _ key: String, _ archive: KeyedArchive
    ) throws -> [ArchivedObject] {
        switch try object.value(forKey: key) {
        case .object(let part): return [part]
        case .plain(.array(let references)):
            return try references.compactMap {
                if case .object(let part) = try archive.value(of: $0, owner: object.index, key: key) { return part }
                return nil
            }
        case .plain, .null: return []
        }
    }

    /// The archive of an object.
    ///
    /// - Throws: `Failure` for a value that cannot be archived.
    static func archive(of value: Any) throws -> Data {
        let object = (value as? NSObject) ?? NSNull()
        guard !(object is NSNull) || value is NSNull else { throw ArchiveCheck.unarchivable(value) }
        let check = try ArchiveCheck.check(object)
        if let data = PlainArchives.archive(of: object) { return data }
        if ObjectArchiver.isNeeded || check.hasSeveralNulls {
            if check.hasSeveralNulls, let owner = check.foundationOwner { throw Failure.severalNulls(beside: owner) }
            return try ObjectArchiver.archive(of: object)
        }
        return try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
    }
}

/// Keyed archives that only contain texts, numbers, dates, data, identifiers, URLs, and arrays, sets and dictionaries
/// of these, as most transformable attributes do.
///
/// They are written and read here, since Foundation's archivers take ten times as long.
enum PlainArchives {
    private static let classNames: Set<String> = [
        "NSArray", "NSSet", "NSDictionary", "NSString", "NSData", "NSDate", "NSUUID", "NSURL", "NSNull",
    ]

    /// The object in an archive.
    ///
    /// - Returns: the object; `nil` if the archive contains an object of another class, or is damaged.
    static func object(in archive: KeyedArchive) -> Any? {
        for case .dictionary(let fields) in archive.objects {
            guard let name = fields["$classname"] else { continue }
            guard let name = name.stringValue, classNames.contains(name) else { return nil }
            let ancestors = fields["$classes"]?.arrayValue ?? []
            guard ancestors.allSatisfy({ $0.stringValue.map { classNames.contains($0) || $0 == "NSObject" } ?? false })
            else { return nil }
        }
        guard let top = archive.top[NSKeyedArchiveRootObjectKey] else { return nil }
        return try? archive.value(of: top, owner: 0, key: NSKeyedArchiveRootObjectKey).foundationValue()
    }

    /// The archive of an object that is known to be archivable.
    ///
    /// - Returns: the bytes; `nil` for an object of another class, or one that contains such an object.
    static func archive(of object: NSObject) -> Data? {
        // An archive records that a collection is mutable.
        if object is NSMutableArray || object is NSMutableDictionary || object is NSMutableSet { return nil }
        var builder = KeyedArchiveBuilder()
        guard let root = try? builder.foundationValue(object) else { return nil }
        return try? builder.archive(root: root, key: NSKeyedArchiveRootObjectKey).data()
    }
}
