import CoreDataModel
import StoreEngine

/// A log of which objects were saved recently, and when. It shows whether the values that a fault was fetched with are
/// still current.
struct ChangeLog {
    /// The changes of saves that are not in `lastChange` yet: after most saves, nothing is looked up there.
    private var recent: [(generation: UInt32, keys: [Key])] = []
    private var lastChange: [Key: UInt32] = [:]
    private var count = 0
    /// Values read before this generation can no longer be judged.
    private var start: UInt32 = 0

    /// Limits the memory; beyond it, old faults read their rows again.
    private static let capacity = 200_000

    /// An ID as numbers: a class would be hashed and compared by dynamic calls.
    private struct Key: Hashable {
        let key: Int64
        let tag: UInt64

        init(_ identifier: NSManagedObjectID) { (key, tag) = (identifier.key, identifier.tableTag) }
        init(_ identity: ObjectIdentity) { (key, tag) = (identity.key, identity.tag) }
    }

    mutating func note(_ changes: ChangeSet, _ generation: UInt32) {
        var keys: [Key] = []
        keys.reserveCapacity(changes.updated.count + changes.deleted.count)
        // By index: iterating over the changes would retain each.
        for index in changes.updated.indices { keys.append(Key(changes.updated[index].objectID)) }
        for index in changes.deleted.indices { keys.append(Key(changes.deleted[index].objectID)) }
        note(keys, generation)
    }

    mutating func note(_ identifiers: [NSManagedObjectID], _ generation: UInt32) {
        note(identifiers.map(Key.init), generation)
    }

    /// Records changes of unknown objects: values read before can no longer be judged.
    mutating func noteUnknown(_ generation: UInt32) {
        recent = []
        lastChange = [:]
        count = 0
        start = generation
    }

    private mutating func note(_ keys: [Key], _ generation: UInt32) {
        guard !keys.isEmpty else { return }
        count += keys.count
        if count > Self.capacity {
            recent = []
            lastChange = [:]
            count = 0
            start = generation
        } else {
            recent.append((generation, keys))
        }
    }

    /// Whether no save has changed an object after a generation, as far as the log goes back.
    mutating func isUnchanged(_ identity: ObjectIdentity, since stamp: UInt32) -> Bool {
        guard stamp >= start else { return false }
        for (generation, keys) in recent {
            for key in keys { lastChange[key] = generation }
        }
        recent = []
        return lastChange[Key(identity)].map { $0 <= stamp } ?? true
    }
}
