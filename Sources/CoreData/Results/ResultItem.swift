import Foundation

/// A result by its identity: equal dictionaries are different results, and hashing costs nothing.
struct ResultItem: Hashable {
    let object: NSObject

    /// The identifier of a managed object; `nil` for a result of another kind.
    var identifier: NSManagedObjectID? { (object as? NSManagedObject)?.objectID ?? object as? NSManagedObjectID }

    static func == (first: ResultItem, second: ResultItem) -> Bool { first.object === second.object }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
}
