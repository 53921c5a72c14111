/// Objects that were fetched together with a batch size: when one is needed, those around it are loaded too.
///
/// An object that is in a batch has its number; see `ObjectState.inBatch`.
struct FetchBatches {
    private var identifiers: [UInt32: [NSManagedObjectID]] = [:]
    private var last: UInt32 = 0

    /// Notes a batch.
    ///
    /// - Returns: its number.
    mutating func add(_ batch: [NSManagedObjectID]) -> UInt32 {
        last &+= 1
        identifiers[last] = batch
        return last
    }

    /// Takes a batch out, to be loaded; `nil` when it was before.
    mutating func take(_ number: UInt32) -> [NSManagedObjectID]? { identifiers.removeValue(forKey: number) }

    mutating func removeAll(where isGone: ([NSManagedObjectID]) -> Bool) {
        guard !identifiers.isEmpty else { return }
        identifiers = identifiers.filter { !isGone($0.value) }
    }
}
