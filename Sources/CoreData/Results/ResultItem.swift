import Foundation

/// A result by its identity: equal dictionaries are different results, and hashing costs nothing.
struct ResultItem: Hashable {
    let object: NSObject

    static func == (first: ResultItem, second: ResultItem) -> Bool { first.object === second.object }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
}
