import Foundation

/// Where and how a store of a program's own keeps models.
public protocol DataStoreConfiguration: Hashable {
    /// The store that it configures.
    associatedtype Store: DataStore where Self == Store.Configuration

    /// The name, which tells the configurations of a container apart.
    var name: String { get }
    /// The models that the store keeps; nil for all of the container, which then sets it.
    var schema: Schema? { get set }

    /// Checks the configuration before its store is made.
    ///
    /// - Throws: why no store can be made.
    func validate() throws
}

extension DataStoreConfiguration {
    /// Finds nothing wrong.
    ///
    /// - Throws: nothing.
    public func validate() throws {}
}

/// A store of a program's own: files, a web service, or a database.
///
/// A context sends it what to fetch and what to save, as snapshots of models. The store answers with snapshots, and
/// with the permanent identifiers of new models. A container calls its store from one thread at a time.
public protocol DataStore: AnyObject {
    /// What configures the store.
    associatedtype Configuration: DataStoreConfiguration where Self == Configuration.Store
    /// The values of one model.
    associatedtype Snapshot: DataStoreSnapshot

    /// What tells the store from others, always the same for the same data.
    var identifier: String { get }
    /// The models.
    var schema: Schema { get }
    /// The configuration with which it was made.
    var configuration: Configuration { get }

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - configuration: where and how it keeps models.
    ///   - migrationPlan: how data of earlier versions are migrated; nil for no plan.
    /// - Throws: why it cannot be opened.
    init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws

    /// Removes all data.
    ///
    /// - Throws: why they cannot be removed.
    func erase() throws

    /// Fetches models.
    ///
    /// - Parameter request: what to fetch.
    /// - Returns: their snapshots.
    /// - Throws: ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort`` to be asked again
    ///   without a predicate or an order, which the context then applies, and other errors.
    func fetch<T>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, Snapshot>
    where T: PersistentModel

    /// The number of models that a fetch would find.
    ///
    /// - Parameter request: what to count.
    /// - Returns: the number.
    /// - Throws: the errors of `fetch(_:)`.
    func fetchCount<T>(_ request: DataStoreFetchRequest<T>) throws -> Int where T: PersistentModel

    /// The identifiers of the models that a fetch would find.
    ///
    /// - Parameter request: what to fetch.
    /// - Returns: the identifiers.
    /// - Throws: the errors of `fetch(_:)`.
    func fetchIdentifiers<T>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier]
    where T: PersistentModel

    /// Saves changes, all or none.
    ///
    /// - Parameter request: the changes. New models have temporary identifiers.
    /// - Returns: the permanent identifiers of the new models, by the temporary ones.
    /// - Throws: why nothing was saved.
    func save(_ request: DataStoreSaveChangesRequest<Snapshot>) throws -> DataStoreSaveChangesResult<Snapshot>

    /// Called when a context begins to use the store.
    ///
    /// - Parameter editingState: what tells the context from others.
    func initializeState(for editingState: EditingState)

    /// Called when a context no longer uses the store.
    ///
    /// - Parameter editingState: what tells the context from others.
    func invalidateState(for editingState: EditingState)

    /// Snapshots that the store has at hand.
    ///
    /// - Parameters:
    ///   - persistentIdentifiers: the identifiers of models.
    ///   - editingState: what tells the asking context from others.
    /// - Returns: the snapshots of those that the store need not fetch.
    /// - Throws: why they cannot be read.
    func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot]
}

extension DataStore {
    /// The number of snapshots that a fetch finds.
    ///
    /// - Parameter request: what to count.
    /// - Returns: the number.
    /// - Throws: the errors of `fetch(_:)`.
    public func fetchCount<T>(_ request: DataStoreFetchRequest<T>) throws -> Int where T: PersistentModel {
        try fetch(request).fetchedSnapshots.count
    }

    /// The identifiers of the snapshots that a fetch finds.
    ///
    /// - Parameter request: what to fetch.
    /// - Returns: the identifiers.
    /// - Throws: the errors of `fetch(_:)`.
    public func fetchIdentifiers<T>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier]
    where T: PersistentModel { try fetch(request).fetchedSnapshots.map(\.persistentIdentifier) }

    /// Is not supported without an implementation of the store's own.
    ///
    /// - Throws: ``DataStoreError/unsupportedFeature``.
    public func erase() throws { throw DataStoreError.unsupportedFeature }

    /// Does nothing.
    ///
    /// - Parameter editingState: what tells the context from others.
    public func initializeState(for editingState: EditingState) {}

    /// Does nothing.
    ///
    /// - Parameter editingState: what tells the context from others.
    public func invalidateState(for editingState: EditingState) {}

    /// Has none at hand.
    ///
    /// - Parameters:
    ///   - persistentIdentifiers: the identifiers of models.
    ///   - editingState: what tells the asking context from others.
    /// - Returns: nothing.
    /// - Throws: nothing.
    public func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot] { [:] }
}

/// A store that deletes models by a condition, without reading them.
public protocol DataStoreBatching: DataStore {
    /// Deletes models.
    ///
    /// - Parameter request: which.
    /// - Throws: why nothing was deleted.
    func delete<T>(_ request: DataStoreBatchDeleteRequest<T>) throws where T: PersistentModel
}

/// A store that knows what was changed in it.
public protocol HistoryProviding {
    /// What one save wrote.
    associatedtype HistoryType: HistoryTransaction

    /// The type of the transactions.
    static var historyType: HistoryType.Type { get }

    /// Fetches transactions.
    ///
    /// - Parameter descriptor: which.
    /// - Returns: the transactions.
    /// - Throws: why they cannot be read.
    func fetchHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws -> [HistoryType]

    /// Deletes transactions.
    ///
    /// - Parameter descriptor: which.
    /// - Throws: why they cannot be deleted.
    func deleteHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws
}

/// What a store cannot do.
public enum DataStoreError: Error {
    /// The store lacks what is asked for.
    case unsupportedFeature
    /// The store wants to be asked without a predicate, which the context then applies.
    case preferInMemoryFilter
    /// The store wants to be asked without an order, which the context then applies.
    case preferInMemorySort
    /// The store cannot evaluate the predicate.
    case invalidPredicate
}

/// What tells a context from others, for a store.
public struct EditingState: Identifiable, Sendable {
    /// What tells a context from others.
    public typealias ID = UUID
    /// What tells the context from others.
    public let id: UUID
    /// The author of the context's changes; nil for none.
    public var author: String?

    init(id: UUID = UUID(), author: String? = nil) { (self.id, self.author) = (id, author) }
}
