import Foundation

// Batch requests. Each is sent to the stores that hold its entity, under the lock.
extension NSPersistentStoreCoordinator {
    /// Inserts rows into the first store that takes the entity.
    ///
    /// - Parameters:
    ///   - plan: the entity and the properties that get values.
    ///   - wanted: the stores to choose from; `nil` for all.
    ///   - next: fills in the next row; returns false if there is none.
    /// - Returns: the result of the insertion.
    /// - Throws: an error if no store takes the entity, the errors of `next`, and those of the store.
    func insertBatch(
        _ plan: BatchInsertPlan, stores wanted: [NSPersistentStore]?, next: (inout BatchRow) throws -> Bool
    ) throws -> BatchOutcome {
        try withLock {
            let candidates = storesOf(plan.entity, among: wanted)
            guard let store = candidates.first(where: { !$0.isReadOnly }) else {
                throw noStore(plan.entity, candidates)
            }
            return try changing([store]) { try batches(of: store).insertBatch(plan, next: next) }
        }
    }

    /// Updates the rows of every store that holds the entity.
    func updateBatch(_ plan: BatchUpdatePlan, stores wanted: [NSPersistentStore]?) throws -> BatchOutcome {
        try withLock {
            let stores = try writableStores(plan.rows.entity, wanted)
            return try changing(stores) {
                try stores.reduce(BatchOutcome()) { try $0 + batches(of: $1).updateBatch(plan) }
            }
        }
    }

    /// Deletes rows of every store that holds the entity.
    func deleteBatch(_ plan: BatchDeletePlan, stores wanted: [NSPersistentStore]?) throws -> BatchOutcome {
        try withLock {
            let stores = try writableStores(plan.rows.entity, wanted)
            return try changing(stores) {
                try stores.reduce(BatchOutcome()) { sum, store in
                    guard let identifiers = plan.identifiers else {
                        return try sum + batches(of: store).deleteBatch(plan)
                    }
                    var own = plan
                    own.identifiers = identifiers.compactMap(localIdentifier).filter {
                        $0.storeIdentity === store.identity
                    }
                    return try sum + batches(of: store).deleteBatch(own)
                }
            }
        }
    }

    /// Runs changes of unknown objects: contexts then read values again that they have fetched and not shown yet.
    private func changing(_ stores: [NSPersistentStore], _ body: () throws -> BatchOutcome) throws -> BatchOutcome {
        let (outcome, generation) = try writing(to: stores, in: activeTransaction, body)
        for store in stores { announceChange(of: store) }
        changeLog.noteUnknown(generation)
        return outcome
    }

    private func batches(of store: NSPersistentStore) throws -> any BatchEngine {
        if let batches = store.engine.batches { return batches }
        throw StoreError.unsupported("batch requests", storeType: store.type, url: store.url)
    }

    private func writableStores(_ entity: EntityLayout, _ wanted: [NSPersistentStore]?) throws -> [NSPersistentStore] {
        let candidates = storesOf(entity, among: wanted)
        let writable = candidates.filter { !$0.isReadOnly }
        if writable.isEmpty { throw noStore(entity, candidates) }
        return writable
    }

    private func noStore(_ entity: EntityLayout, _ candidates: [NSPersistentStore]) -> NSError {
        let reason =
            candidates.isEmpty
            ? "the coordinator has no store for it; add one with addPersistentStore or loadPersistentStores first"
            : "its store was opened read-only"
        let code =
            candidates.isEmpty
            ? CoreDataErrorCode.persistentStoreSave : CocoaError.Code.fileWriteNoPermission.rawValue
        return StoreError.make(
            code, "Objects of “\(entity.name)” cannot be changed: \(reason).",
            url: candidates.first?.url)
    }
}
