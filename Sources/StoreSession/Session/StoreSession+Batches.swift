import CoreDataModel
import Foundation
import StoreEngine

// Batch requests. Each is sent to the stores that hold its entity, under the lock.
extension StoreSession {
    /// Inserts rows into the first store that takes the entity.
    ///
    /// - Parameters:
    ///   - plan: the entity and the properties that get values.
    ///   - wanted: the stores to choose from; `nil` for all.
    ///   - next: fills in the next row; returns false if there is none.
    /// - Returns: the result of the insertion.
    /// - Throws: an error if no store takes the entity, 133010 for an object of another store, the errors of `next`,
    ///   and those of the store.
    package func insertBatch(
        _ plan: BatchInsertPlan, stores wanted: [SessionStore]?, next: (inout BatchRow) throws -> Bool
    ) throws -> BatchOutcome {
        try withLock {
            let candidates = storesOf(plan.entity, among: wanted)
            guard let store = candidates.first(where: { !$0.isReadOnly }) else {
                throw noStore(plan.entity, candidates)
            }
            let links = plan.entity.slots.indices.filter { plan.entity.slots[$0].relationship != nil }
            return try changing([store]) {
                try batches(of: store).insertBatch(plan) { row in
                    guard try next(&row) else { return false }
                    for slot in links { try Self.check(row.values[slot], of: slot, plan.entity, in: store) }
                    return true
                }
            }
        }
    }

    /// Updates the rows of every store that holds the entity.
    ///
    /// - Throws: 133010 if a relationship is to lead to an object of another store; no store is changed then.
    package func updateBatch(_ plan: BatchUpdatePlan, stores wanted: [SessionStore]?) throws -> BatchOutcome {
        try withLock {
            let stores = try writableStores(plan.rows.entity, wanted)
            for case (let slot, .value(let value)) in plan.changes {
                for store in stores { try Self.check(value, of: slot, plan.rows.entity, in: store) }
            }
            return try changing(stores) {
                try stores.reduce(BatchOutcome()) { try $0 + batches(of: $1).updateBatch(plan) }
            }
        }
    }

    /// Deletes rows of every store that holds the entity.
    package func deleteBatch(_ plan: BatchDeletePlan, stores wanted: [SessionStore]?) throws -> BatchOutcome {
        try withLock {
            let stores = try writableStores(plan.rows.entity, wanted)
            return try changing(stores) {
                try stores.reduce(BatchOutcome()) { sum, store in
                    guard let identifiers = plan.identifiers else {
                        return try sum + batches(of: store).deleteBatch(plan)
                    }
                    var own = plan
                    own.identifiers = identifiers.map(localIdentifier).filter {
                        $0.storeIdentity === store.identity
                    }
                    return try sum + batches(of: store).deleteBatch(own)
                }
            }
        }
    }

    /// An object of another store has a key there, which identifies a different object here.
    private static func check(
        _ value: StoredValue, of slot: Int, _ entity: EntityLayout, in store: SessionStore
    ) throws {
        guard case .identifier(let identifier) = value, !store.identity.holds(identifier) else { return }
        throw StoreError.make(
            CoreDataErrorCode.managedObjectExternalRelationship,
            "“\(entity.name).\(entity.slots[slot].name)” is to lead to \(identifier.description), which is in another store "
                + "than the rows. Give the request the affectedStores that the object is in.",
            url: store.url)
    }

    /// Runs changes of unknown objects: contexts then read values again that they have fetched and not shown yet.
    private func changing(_ stores: [SessionStore], _ body: () throws -> BatchOutcome) throws -> BatchOutcome {
        var failure: (any Error)?
        let (outcome, generation) = try writing(to: stores, in: activeTransaction) {
            do { return try body() } catch  where stores.count > 1 && activeTransaction == nil {
                // The stores before the one that failed are changed.
                failure = error
                return BatchOutcome()
            }
        }
        for store in stores { announceChange(of: store) }
        changeLog.noteUnknown(generation)
        if let failure { throw failure }
        return outcome
    }

    private func batches(of store: SessionStore) throws -> any BatchEngine {
        if let batches = store.engine.batches { return batches }
        throw StoreError.unsupported("batch requests", storeType: store.type, url: store.url)
    }

    private func writableStores(_ entity: EntityLayout, _ wanted: [SessionStore]?) throws -> [SessionStore] {
        let candidates = storesOf(entity, among: wanted)
        let writable = candidates.filter { !$0.isReadOnly }
        if writable.isEmpty { throw noStore(entity, candidates) }
        return writable
    }

    private func noStore(_ entity: EntityLayout, _ candidates: [SessionStore]) -> NSError {
        let reason =
            candidates.isEmpty
            ? "the coordinator has no store for it; add one with addPersistentStore or loadPersistentStores first"
            : "its store was opened read-only\(candidates[0].facts.readOnlyReason)"
        let code =
            candidates.isEmpty
            ? CoreDataErrorCode.persistentStoreSave : CocoaError.Code.fileWriteNoPermission.rawValue
        return StoreError.make(
            code, "Objects of “\(entity.name)” cannot be changed: \(reason).",
            url: candidates.first?.url)
    }
}
