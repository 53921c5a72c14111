import CoreDataModel
import Foundation
import StoreEngine
import Synchronization

// Saves change sets, and makes the keys of new rows.
extension StoreSession {
    /// Increases with every save, so that values read before it can be distinguished from values read after it.
    package var generation: UInt32 { saveCount.load(ordering: .acquiring) }

    /// Whether the values of an object that were read at a generation are still its store's, as far as this session
    /// knows.
    package func isCurrent(_ identity: ObjectIdentity, since stamp: UInt32) -> Bool {
        if generation == stamp { return true }
        return withState { changeLog.isUnchanged(identity, since: stamp) }
    }

    /// Writes change sets, all of them or none.
    ///
    /// - Parameters:
    ///   - sets: the change set for each store.
    ///   - transaction: the transaction that the save belongs to.
    ///   - saveObjects: saves to a store that works with objects.
    /// - Returns: the result of each store, in the order of the sets.
    /// - Throws: `SaveRefusal` for conflicts, `KeysTaken` if others took promised keys, the error of a broken
    ///   transaction, and the errors of the stores.
    package func save(
        _ sets: [(SessionStore, ChangeSet)], in transaction: OptimisticTransaction? = nil,
        saveObjects: (SessionStore, ChangeSet) throws -> SaveResult = { try $0.engine.save($1) }
    ) throws -> [SaveResult] {
        try withLock {
            for (store, _) in sets where store.isReadOnly {
                throw StoreError.make(
                    CocoaError.Code.fileWriteNoPermission.rawValue,
                    "The changes cannot be saved: the store was opened read-only\(store.facts.readOnlyReason).",
                    url: store.url, userInfo: store.affected)
            }
            let (results, generation) = try writing(to: sets.map(\.0), in: transaction) {
                try saveTogether(sets[...], saveObjects)
            }
            for (_, changes) in sets { changeLog.note(changes, generation) }
            for result in results { changeLog.note(result.computed.map(\.objectID), generation) }
            if saveLog.isAsked { saveLog.note(sets.map(\.1), results, generation) }
            for (store, _) in sets { announceChange(of: store, followsSave: true) }
            return results
        }
    }

    /// Writes all sets or none: each store's transaction ends after the next store's has ended. Developers' stores,
    /// which have no transaction to keep open, come last, in their order.
    private func saveTogether(
        _ sets: ArraySlice<(SessionStore, ChangeSet)>, _ saveObjects: (SessionStore, ChangeSet) throws -> SaveResult
    ) throws -> [SaveResult] {
        guard let index = sets.firstIndex(where: { $0.0.savesRows }) else { return try sets.map(saveObjects) }
        let (store, changes) = sets[index]
        let others = sets[..<index] + sets[(index + 1)...]
        if others.isEmpty { return [try store.engine.save(changes)] }
        var results: [SaveResult] = []
        let result = try store.engine.save(changes) { results = try saveTogether(others, saveObjects) }
        return [result] + results
    }

    /// Writes new and changed rows of one store as a save of its own, which those who listen to saves hear of.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - transaction: the transaction that the save belongs to.
    ///   - changes: makes the change set; nil for nothing to save. Its argument is whether keys of new rows are to be
    ///     reserved before: others may have taken promised ones, and the rows are then made once more.
    /// - Throws: `SaveRefusal` for conflicts, and the errors of the store; everything is then as before.
    package func saveRows(
        to store: SessionStore, in transaction: OptimisticTransaction?,
        _ changes: (_ countsKeys: Bool) throws -> ChangeSet?
    ) throws {
        guard let first = try changes(false) else { return }
        func write(_ changes: ChangeSet) throws -> ChangeSet {
            _ = try save([(store, changes)], in: transaction)
            saves.notify(SavedEntities(changes.entityNames, changes))
            return changes
        }
        func writeFirst() throws -> ChangeSet {
            do { return try write(first) } catch is KeysTaken { return try write(changes(true) ?? first) }
        }
        if let face { try face.saving(writeFirst) } else { _ = try writeFirst() }
    }

    // MARK: Keys

    /// IDs for new rows of a store.
    ///
    /// - Parameters:
    ///   - entities: one entity for each row.
    ///   - store: the store of the rows.
    ///   - countsKeys: whether the store reserves the keys now, rather than in the transaction that saves the rows.
    ///   - transaction: the transaction that the rows belong to.
    /// - Returns: an ID for each of the entities, in order, and the promised keys, which belong in the change set.
    /// - Throws: an `NSError` for a store that cannot be written.
    package func makeIdentifiers(
        for entities: [EntityLayout], in store: SessionStore, countsKeys: Bool, _ transaction: OptimisticTransaction?
    ) throws -> PromisedIdentifiers {
        guard !entities.isEmpty else { return PromisedIdentifiers([]) }
        func make() throws -> PromisedIdentifiers {
            try withState {
                guard countsKeys else { return try store.engine.promiseIdentifiers(for: entities) }
                return PromisedIdentifiers(
                    try store.engine.makePermanentIdentifiers(for: entities, isSavedLater: transaction != nil))
            }
        }
        return try transaction.map { try $0.handingOut(make) } ?? make()
    }

    /// Announces many new rows to the only store, so that it can prepare while they are made.
    package func expectRows(_ count: Int, of entity: EntityLayout) {
        // Not worth waiting for if the store is in use.
        _ = withLockIfFree {
            guard stores.count == 1, let store = stores.first, store.savesRows else { return }
            store.engine.expectRows(count, of: entity)
        }
    }

    // MARK: Identifiers

    /// The ID of this session's store for an ID from another session of the same file.
    package func localIdentifier(_ identifier: NSManagedObjectID) -> NSManagedObjectID {
        guard let foreign = identifier.storeIdentity,
            let store = withState({
                store(of: identifier) == nil ? stores.first { $0.identity.uuid == foreign.uuid } : nil
            }), let entity = modelLayout.entityByName[identifier.layout.name]
        else { return identifier }
        return NSManagedObjectID(
            layout: entity, store: store.identity, key: identifier.key, reference: identifier.reference)
    }

    // MARK: The history

    /// The number of the latest transaction of each store that keeps a history, by the store's UUID. Only the named
    /// stores count, if there are any.
    package func latestTransactions(of named: [SessionStore]? = nil) -> [String: Int64] {
        withLock {
            var numbers: [String: Int64] = [:]
            for store in named ?? stores where stores.contains(where: { $0 === store }) {
                // This function cannot throw. A store that cannot be read reports that with the next request.
                guard let number = try? store.engine.history?.latestTransaction() else { continue }
                numbers[store.identity.uuid] = number
            }
            return numbers
        }
    }
}

extension ChangeSet {
    fileprivate var entityNames: Set<String> {
        var names: Set<String> = []
        var last: EntityLayout?
        func add(_ identifier: NSManagedObjectID) {
            guard identifier.layout !== last else { return }
            last = identifier.layout
            names.insert(identifier.layout.name)
        }
        for change in inserted { add(change.objectID) }
        for change in updated { add(change.objectID) }
        for deletion in deleted { add(deletion.objectID) }
        return names
    }
}
