import CoreData

/// What a store answers with: a model's identifier and its values.
struct ReadSnapshot {
    let identifier: PersistentIdentifier
    let values: [String: SnapshotValue]

    init(_ snapshot: any DataStoreSnapshot) throws {
        identifier = snapshot.persistentIdentifier
        values = try SnapshotReading.values(of: snapshot)
    }
}

/// The changes of a context, as states of models.
struct StoreChanges {
    var inserted: [ModelState] = []
    var updated: [ModelState] = []
    var deleted: [ModelState] = []
}

/// A program's own store, whatever its type.
protocol DataStoreCalls {
    var identifier: String { get }
    func erase() throws
    func begin(_ state: EditingState)
    func end(_ state: EditingState)
    func fetch<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, for state: EditingState
    ) throws -> (found: [ReadSnapshot], related: [ReadSnapshot])
    func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, for state: EditingState) throws -> Int
    func fetchIdentifiers<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, for state: EditingState
    ) throws -> [PersistentIdentifier]
    func cached(_ identifiers: [PersistentIdentifier], for state: EditingState) throws -> [ReadSnapshot]
    /// Takes snapshots of changes, and returns what saves them.
    func saving(
        _ changes: StoreChanges, for state: EditingState
    ) -> () throws -> (identifiers: [PersistentIdentifier: PersistentIdentifier], changed: [ReadSnapshot])
    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws
    /// Nil for a store without a history of such transactions.
    func history<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T]?
    func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Bool
}

/// Calls a store of one type.
struct DataStoreCalling<Store: DataStore>: DataStoreCalls {
    let store: Store

    var identifier: String { store.identifier }
    func erase() throws { try store.erase() }
    func begin(_ state: EditingState) { store.initializeState(for: state) }
    func end(_ state: EditingState) { store.invalidateState(for: state) }

    func fetch<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, for state: EditingState
    ) throws -> (found: [ReadSnapshot], related: [ReadSnapshot]) {
        let result = try store.fetch(DataStoreFetchRequest(editingState: state, descriptor: descriptor))
        return (
            try result.fetchedSnapshots.map { try ReadSnapshot($0) },
            try result.relatedSnapshots.values.map { try ReadSnapshot($0) }
        )
    }

    func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, for state: EditingState) throws -> Int {
        try store.fetchCount(DataStoreFetchRequest(editingState: state, descriptor: descriptor))
    }

    func fetchIdentifiers<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, for state: EditingState
    ) throws -> [PersistentIdentifier] {
        try store.fetchIdentifiers(DataStoreFetchRequest(editingState: state, descriptor: descriptor))
    }

    func cached(_ identifiers: [PersistentIdentifier], for state: EditingState) throws -> [ReadSnapshot] {
        try store.cachedSnapshots(for: identifiers, editingState: state).values.map { try ReadSnapshot($0) }
    }

    func saving(
        _ changes: StoreChanges, for state: EditingState
    ) -> () throws -> (identifiers: [PersistentIdentifier: PersistentIdentifier], changed: [ReadSnapshot]) {
        var related: [PersistentIdentifier: any BackingData] = [:]
        func snapshot(_ state: ModelState) -> Store.Snapshot {
            func backing<Model: PersistentModel>(_ model: Model) -> any BackingData { model.persistentBackingData }
            return Store.Snapshot(from: backing(state.shownModel), relatedBackingDatas: &related)
        }
        let request = DataStoreSaveChangesRequest(
            inserted: changes.inserted.map(snapshot), updated: changes.updated.map(snapshot),
            deleted: changes.deleted.map(snapshot), editingState: state)
        return {
            let result = try store.save(request)
            let remapped = result.remappedIdentifiers
            let saved = (request.inserted + request.updated).map { snapshot in
                let identifier = snapshot.persistentIdentifier
                return snapshot.copy(
                    persistentIdentifier: remapped[identifier] ?? identifier, remappedIdentifiers: remapped)
            }
            return (remapped, try (saved + result.snapshotsToReregister.values).map { try ReadSnapshot($0) })
        }
    }

    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
        guard let batching = store as? any DataStoreBatching else { throw DataStoreError.unsupportedFeature }
        try batching.delete(request)
    }

    func history<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T]? {
        func fetch<Provider: HistoryProviding>(_ store: Provider) throws -> [T]? {
            guard let descriptor = descriptor as? HistoryDescriptor<Provider.HistoryType> else { return nil }
            return try store.fetchHistory(descriptor) as? [T]
        }
        return try (store as? any HistoryProviding).flatMap { try fetch($0) }
    }

    func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Bool {
        func delete<Provider: HistoryProviding>(_ store: Provider) throws -> Bool {
            guard let descriptor = descriptor as? HistoryDescriptor<Provider.HistoryType> else { return false }
            try store.deleteHistory(descriptor)
            return true
        }
        return try (store as? any HistoryProviding).map { try delete($0) } ?? false
    }
}
