import Foundation

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
