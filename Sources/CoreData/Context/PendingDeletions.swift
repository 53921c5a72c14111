/// Deletions in a context that have yet to take effect.
struct PendingDeletions {
    /// Deleted objects whose delete rules have not been applied yet.
    var unpropagated: ContiguousArray<NSManagedObject> = []
    /// Deleted objects that were never saved, and whose deletion is currently denied by a “deny” rule.
    var denied: ContiguousArray<NSManagedObject> = []
    /// The objects whose `prepareForDeletion` is being called. Few at a time: each is called by the one before it.
    private var preparing: ContiguousArray<ObjectIdentifier> = []

    /// Notes that an object's `prepareForDeletion` is called, unless it already is: two objects may delete each other.
    mutating func beginPreparing(_ object: NSManagedObject) -> Bool {
        guard !preparing.contains(ObjectIdentifier(object)) else { return false }
        preparing.append(ObjectIdentifier(object))
        return true
    }

    mutating func endPreparing(_ object: NSManagedObject) { preparing.removeAll { $0 == ObjectIdentifier(object) } }

    /// Removes and returns the objects whose delete rules are to be applied now.
    mutating func takeUnpropagated() -> ContiguousArray<NSManagedObject> {
        let level = unpropagated
        unpropagated = []
        return level
    }

    mutating func reset() {
        if !unpropagated.isEmpty { unpropagated = [] }
        if !denied.isEmpty { denied = [] }
    }
}
