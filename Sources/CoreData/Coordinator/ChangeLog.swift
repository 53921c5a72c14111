/// Which objects were saved lately, and when: tells whether what a fault was fetched with is still right.
struct ChangeLog {
    private var lastChange: [Key: UInt32] = [:]
    /// What was read before this generation cannot be judged any more.
    private var start: UInt32 = 0

    /// Bounds the memory; past it, old faults read their rows again.
    private static let capacity = 200_000

    /// An ID by its numbers: a class would be hashed and compared by dynamic calls.
    private struct Key: Hashable {
        let key: Int64
        let place: Int

        init(_ identifier: NSManagedObjectID) {
            key = identifier.key
            place = (identifier.storeIdentity?.number ?? 0) << 24 | identifier.layout.root.number
        }
    }

    mutating func note(_ changes: ChangeSet, _ generation: UInt32) {
        let count = changes.updated.count + changes.deleted.count
        if lastChange.count + count > Self.capacity {
            lastChange = [:]
            start = generation
        }
        guard count <= Self.capacity else { return }
        lastChange.reserveCapacity(lastChange.count + count)
        for change in changes.updated { lastChange[Key(change.objectID)] = generation }
        for deletion in changes.deleted { lastChange[Key(deletion.objectID)] = generation }
    }

    mutating func note(_ identifiers: [NSManagedObjectID], _ generation: UInt32) {
        if lastChange.count + identifiers.count > Self.capacity {
            lastChange = [:]
            start = generation
            return
        }
        for identifier in identifiers { lastChange[Key(identifier)] = generation }
    }

    func isUnchanged(_ identifier: NSManagedObjectID, since stamp: UInt32) -> Bool {
        guard stamp >= start else { return false }
        return lastChange[Key(identifier)].map { $0 <= stamp } ?? true
    }
}
