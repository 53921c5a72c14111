/// Deletions in a context that have yet to take effect.
struct PendingDeletions {
    /// Deleted objects whose delete rules have not been applied yet.
    var unpropagated: ContiguousArray<NSManagedObject> = []
    /// Deleted objects that were never saved, and whose deletion is currently denied by a “deny” rule.
    var denied: ContiguousArray<NSManagedObject> = []

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
