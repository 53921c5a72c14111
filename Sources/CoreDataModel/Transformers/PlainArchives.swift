import Foundation
import KeyedArchives

/// Keyed archives of nothing but texts, numbers, dates, data, identifiers, URLs, and arrays, sets and dictionaries of these: what most
/// transformable attributes hold.
///
/// They are written and read here: Foundation's archivers take ten times as long.
enum PlainArchives {
    private static let classNames: Set<String> = [
        "NSArray", "NSSet", "NSDictionary", "NSString", "NSData", "NSDate", "NSUUID", "NSURL", "NSNull",
    ]

    /// The object of an archive.
    ///
    /// - Returns: the object; `nil` where the archive has an object of another class, or is damaged.
    static func object(in archive: KeyedArchive) -> Any? {
        for case .dictionary(let fields) in archive.objects {
            guard let name = fields["$classname"] else { continue }
            guard let name = name.stringValue, classNames.contains(name) else { return nil }
        }
        guard let top = archive.top[NSKeyedArchiveRootObjectKey] else { return nil }
        return try? archive.value(of: top, owner: 0, key: NSKeyedArchiveRootObjectKey).foundationValue()
    }

    /// The archive of an object that was found to be one that can be archived.
    ///
    /// - Returns: the bytes; `nil` for an object of another class, or one that holds such an object.
    static func archive(of object: NSObject) -> Data? {
        // An archive says of a collection that it can be changed.
        if object is NSMutableArray || object is NSMutableDictionary || object is NSMutableSet { return nil }
        var builder = KeyedArchiveBuilder()
        guard let root = try? builder.foundationValue(object) else { return nil }
        return try? builder.archive(root: root, key: NSKeyedArchiveRootObjectKey).data()
    }
}
