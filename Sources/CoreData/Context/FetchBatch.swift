/// Objects that were fetched together with a batch size: if one is needed, its whole batch is loaded.
///
/// An object in a batch has the batch's number; see `ObjectState.inBatch`.
struct FetchBatches {
    private var identifiers: [UInt32: [NSManagedObjectID]] = [:]
    private var last: UInt32 = 0

    /// Adds a batch.
    ///
    /// - Returns: the batch's number.
    mutating func add(_ batch: [NSManagedObjectID]) -> UInt32 {
        last &+= 1
        identifiers[last] = batch
        return last
    }

    /// Removes and returns a batch that is about to be loaded; `nil` if it was removed before.
    mutating func take(_ number: UInt32) -> [NSManagedObjectID]? { identifiers.removeValue(forKey: number) }

    mutating func removeAll(where isGone: ([NSManagedObjectID]) -> Bool) {
        guard !identifiers.isEmpty else { return }
        identifiers = identifiers.filter { !isGone($0.value) }
    }
}
