import Foundation
import KeyedArchives

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
