import CoreData
import Foundation

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
            // Of the model's own class: those that the model itself shows are of the root of its classes.
            func backing<Model: PersistentModel>(_ type: Model.Type) -> any BackingData {
                ModelBackingData<Model>(state)
            }
            return Store.Snapshot(from: backing(state.type.type), relatedBackingDatas: &related)
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

/// Reads the values of a snapshot by its coding, as they are: nothing is turned into bytes.
final class SnapshotReading: Encoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private(set) var values: [String: SnapshotValue] = [:]

    /// The values of a snapshot, by the names of the properties.
    ///
    /// - Throws: the errors of the snapshot's coding.
    static func values(of snapshot: any DataStoreSnapshot) throws -> [String: SnapshotValue] {
        if let snapshot = snapshot as? DefaultSnapshot { return snapshot.values }
        let reading = SnapshotReading()
        try snapshot.encode(to: reading)
        return reading.values
    }

    fileprivate func note(_ value: Any, _ key: String) {
        values[key] = (StoredValue.unwrapped(value) as? any Codable).map { SnapshotValue($0) }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(SnapshotKeys<Key>(reading: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { UnreadValues() }

    func singleValueContainer() -> any SingleValueEncodingContainer { UnreadValues() }
}

private struct SnapshotKeys<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let reading: SnapshotReading
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws {}

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { reading.note(value, key.stringValue) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { KeyedEncodingContainer(SnapshotKeys<Nested>(reading: SnapshotReading())) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { UnreadValues() }
    func superEncoder() -> any Encoder { SnapshotReading() }
    func superEncoder(forKey key: Key) -> any Encoder { SnapshotReading() }
}

/// Values without names of properties do not belong to a model.
private struct UnreadValues: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int { 0 }

    func encodeNil() throws {}
    func encode<Value: Encodable>(_ value: Value) throws {
        throw EncodingError.invalidValue(
            value,
            EncodingError.Context(
                codingPath: [],
                debugDescription: "A snapshot encodes its values by the names of the model's properties."))
    }
    func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(SnapshotKeys<Nested>(reading: SnapshotReading()))
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func superEncoder() -> any Encoder { SnapshotReading() }
}

/// What a context asks a store to fetch.
public struct DataStoreFetchRequest<T>: Sendable where T: PersistentModel {
    /// The asking context.
    public let editingState: EditingState
    /// What to fetch.
    public let descriptor: FetchDescriptor<T>
}

/// What a store has fetched.
public struct DataStoreFetchResult<ModelType, SnapshotType>: Sendable
where ModelType: PersistentModel, SnapshotType: DataStoreSnapshot {
    /// What was to be fetched.
    public let descriptor: FetchDescriptor<ModelType>
    /// The models, in order.
    public let fetchedSnapshots: [SnapshotType]
    /// Other models that the store has read, too.
    public let relatedSnapshots: [PersistentIdentifier: SnapshotType]

    /// Creates a result.
    ///
    /// - Parameters:
    ///   - descriptor: what was to be fetched.
    ///   - fetchedSnapshots: the models, in order.
    ///   - relatedSnapshots: other models that the store has read, too.
    public init(
        descriptor: FetchDescriptor<ModelType>, fetchedSnapshots: [SnapshotType],
        relatedSnapshots: [PersistentIdentifier: SnapshotType] = [:]
    ) {
        self.descriptor = descriptor
        self.fetchedSnapshots = fetchedSnapshots
        self.relatedSnapshots = relatedSnapshots
    }
}

/// What a context asks a store to save.
public struct DataStoreSaveChangesRequest<SnapshotType>: Sendable where SnapshotType: DataStoreSnapshot {
    /// The new models, with temporary identifiers.
    public let inserted: [SnapshotType]
    /// The changed models, with all their values.
    public let updated: [SnapshotType]
    /// The deleted models, with their last values.
    public let deleted: [SnapshotType]
    /// The saving context.
    public let editingState: EditingState
}

/// What a store has saved.
final public class DataStoreSaveChangesResult<T>: Sendable where T: DataStoreSnapshot {
    /// The permanent identifiers of the new models, by the temporary ones.
    public let remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
    /// The identifier of the store.
    public let storeIdentifier: String
    /// The models whose values the store has changed itself, which the context takes over.
    public let snapshotsToReregister: [PersistentIdentifier: T]

    /// Creates a result.
    ///
    /// - Parameters:
    ///   - storeIdentifier: the identifier of the store.
    ///   - remappedIdentifiers: the permanent identifiers of the new models, by the temporary ones.
    ///   - snapshotsToReregister: the models whose values the store has changed itself.
    public init(
        for storeIdentifier: String, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
        snapshotsToReregister: [PersistentIdentifier: T] = [:]
    ) {
        self.storeIdentifier = storeIdentifier
        self.remappedIdentifiers = remappedIdentifiers
        self.snapshotsToReregister = snapshotsToReregister
    }
}

/// What a context asks a store to delete by a condition.
public struct DataStoreBatchDeleteRequest<T>: Sendable where T: PersistentModel {
    /// The asking context.
    public let editingState: EditingState
    /// The condition; nil for all models of the class.
    public let predicate: Predicate<T>?
    /// Whether models of subclasses are deleted, too.
    public let includeSubclasses: Bool

    init(editingState: EditingState, predicate: Predicate<T>?, includeSubclasses: Bool) {
        self.editingState = editingState
        self.predicate = predicate
        self.includeSubclasses = includeSubclasses
    }
}
