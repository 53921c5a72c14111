import Foundation
import StoreSession
import Synchronization

/// Mediates between contexts and stores: opens stores, and sends each request to those that can answer it.
///
/// It can be used from any thread: one lock guards the stores. The class itself declares what subclasses may override;
/// extensions implement it.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
    // @unchecked Sendable: `stores`, `contexts` and the stores themselves are only accessed under the session's lock;
    // the rest is set before the coordinator is used.

    /// The model of the stores.
    public var managedObjectModel: NSManagedObjectModel { session.model }
    package var modelLayout: ModelLayout { session.modelLayout }
    /// The stores, as rows are read from them and saved to them.
    package private(set) var session: StoreSession
    private var changeListener = 0
    let queue = DispatchQueue(label: "NSPersistentStoreCoordinator")
    /// The stores, in the order in which they were added; under the session's lock.
    var stores: [NSPersistentStore] = [] {
        didSet { objectStores.store(stores.contains { $0.objectStore != nil }, ordering: .releasing) }
    }
    private let objectStores = Atomic<Bool>(false)
    /// Whether there are stores that work with objects, which need to know the asking context.
    var hasObjectStores: Bool { objectStores.load(ordering: .acquiring) }
    /// The tables of the contexts, through which existing contexts are found.
    var contexts: [ObjectTable] = []
    /// Why no model was found, if one was searched for. Opening a store would then migrate it to an empty model. It is
    /// set before the coordinator is used.
    var missingModel: String?

    /// A name for logs.
    open var name: String?

    /// Creates a coordinator for a model, which cannot be changed any more.
    ///
    /// - Parameter model: a complete model; one with errors stops the program with a message that names them.
    public init(managedObjectModel model: NSManagedObjectModel) {
        session = StoreSession(model)
        super.init()
        show(session)
        ManagedClasses.learn(model)
    }

    /// Makes the stores of a session visible, those that are open already and later ones. For a new coordinator.
    package final func show(_ shown: StoreSession) {
        session.changes.remove(changeListener)
        session = shown
        changeListener = session.changes.add { [weak self] in self?.post($0) }
        withLock {
            session.face = self
            for store in session.openStores { show(store) }
        }
    }

    deinit { session.changes.remove(changeListener) }

    /// Creates a coordinator without a model. No store with entities can be added to it.
    public override convenience init() { self.init(managedObjectModel: NSManagedObjectModel()) }

    // MARK: Stores

    /// The stores that were added.
    open var persistentStores: [NSPersistentStore] { withLock { stores } }

    /// The store at a URL.
    ///
    /// - Parameter URL: the location of a store, in any spelling of its path.
    /// - Returns: the store; `nil` if none was added from there.
    open func persistentStore(for URL: URL) -> NSPersistentStore? {
        withLock { stores.first { $0.url?.standardizedFileURL == URL.standardizedFileURL } }
    }

    /// The URL of a store.
    ///
    /// - Parameter store: a store.
    /// - Returns: its URL; `/dev/null` for a store in memory that was added without one.
    open func url(for store: NSPersistentStore) -> URL { store.url ?? URL(fileURLWithPath: "/dev/null") }

    /// Opens a store, creating it if there is none.
    ///
    /// - Parameters:
    ///   - storeType: `NSSQLiteStoreType`, `NSXMLStoreType`, `NSBinaryStoreType`, `NSInMemoryStoreType` or a registered
    ///     type.
    ///   - configuration: the configuration of the model whose entities the store holds; `nil` for all.
    ///   - storeURL: the location of the store; may be `nil` for one in memory.
    ///   - options: the options, by `NS…Option` keys.
    /// - Returns: the store.
    /// - Throws: an error in the Cocoa domain: `NSPersistentStoreInvalidTypeError` for an unknown type,
    ///   `NSPersistentStoreIncompatibleVersionHashError` if the store's model differs,
    ///   134081 if the store was added already, `NSPersistentStoreOpenError` and file errors if it cannot be opened,
    ///   or the model named by a container was not found.
    @discardableResult
    open func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addStore(ofType: storeType, configuration, at: storeURL, options: options)
    }

    /// Opens the store of a description: before it returns, or in the background if the description requests it.
    ///
    /// - Parameters:
    ///   - storeDescription: the description.
    ///   - block: called with the description, and the error if there was one.
    open func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        addStore(of: storeDescription, then: block)
    }

    /// Closes a store. Its objects in contexts are invalidated: unchanged ones become faults that cannot be fired.
    ///
    /// - Parameter store: a store of this coordinator.
    /// - Throws: `NSPersistentStoreOperationError` for a store that was not added to this coordinator.
    open func remove(_ store: NSPersistentStore) throws {
        try removeStore(store)
    }

    // MARK: Stores that need not be open

    /// The available types of stores: those that come with Core Data, and registered ones.
    ///
    /// A value stands for the class: it contains the class's address as a number, since classes are not objects here.
    open class var registeredStoreTypes: [String: NSValue] { StoreTypes.all.mapValues { StoreTypes.value(of: $0) } }

    /// Makes a class available as a store type; `nil` removes the type.
    ///
    /// - Parameters:
    ///   - storeClass: a subclass of `NSAtomicStore` or `NSIncrementalStore`.
    ///   - storeType: the name of the type, by which stores are added.
    open class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
        StoreTypes.register(storeClass as? NSPersistentStore.Type, for: storeType)
    }

    /// The metadata of an open store.
    ///
    /// - Parameter store: a store of this coordinator.
    /// - Returns: the metadata, by key, including the store's type and UUID.
    open func metadata(for store: NSPersistentStore) -> [String: Any] { withLock { store.metadata } }

    /// Sets the metadata of an open store. The next save of a context writes them, even one without changes.
    ///
    /// - Parameters:
    ///   - metadata: the new metadata. The store's type, its UUID if there is none, and what Core Data needs to know
    ///     about the model are added.
    ///   - store: a store of this coordinator.
    open func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
        setStoreMetadata(metadata, of: store)
    }

    /// The metadata of a store, which need not be open. Those of a store that was destroyed, and of one in memory, say
    /// nothing about a model.
    ///
    /// - Parameters:
    ///   - storeType: the type of the store.
    ///   - url: the location of the store.
    ///   - options: options that identify the store, such as the schema of one in PostgreSQL; others are not used.
    /// - Returns: the metadata, by key.
    /// - Throws: an error if the file is missing, is not a store, or is of an unknown type.
    open class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try readMetadata(ofType: storeType, at: url, options: options)
    }

    /// The metadata of a store, which need not be open.
    ///
    /// - Parameters:
    ///   - storeType: the type; `nil` to detect it from the first bytes of the file.
    ///   - url: the location of the store.
    /// - Returns: the metadata, by key.
    /// - Throws: an error if the file is missing, is not a store, or is of an unknown type.
    open class func metadataForPersistentStore(ofType storeType: String?, at url: URL) throws -> [String: Any] {
        try metadataForPersistentStore(
            ofType: storeType ?? StoreFormats.type(ofFileAt: url), at: url, options: nil)
    }

    /// Sets the metadata of a store that is not open.
    ///
    /// - Parameters:
    ///   - metadata: the new metadata; the store's UUID and type stay.
    ///   - storeType: the type of the store.
    ///   - url: the location of the store.
    ///   - options: options that identify the store, such as the schema of one in PostgreSQL; others are not used.
    /// - Throws: an error if the file is missing, is not a store, or is of an unknown type.
    open class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try writeMetadata(metadata, ofType: storeType, at: url, options: options)
    }

    /// Sets the metadata of a store that is not open.
    ///
    /// - Parameters:
    ///   - metadata: the new metadata; the store's UUID and type stay.
    ///   - storeType: the type; `nil` to detect it from the first bytes of the file.
    ///   - url: the location of the store.
    /// - Throws: an error if the file is missing, is not a store, or is of an unknown type.
    open class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String?, at url: URL
    ) throws {
        try setMetadata(
            metadata, forPersistentStoreOfType: storeType ?? StoreFormats.type(ofFileAt: url), at: url, options: nil
        )
    }

    /// Empties a store, and deletes the files beside it. Nothing happens if there is no store.
    ///
    /// An added store, also one in memory, is removed from the coordinator, and can be added again. A file that is
    /// damaged, or not an SQLite database, is deleted, so that a program whose store cannot be loaded can begin anew.
    ///
    /// - Parameters:
    ///   - url: the location of the store.
    ///   - storeType: the type of the store.
    ///   - options: for stores in SQLite, `NSPersistentStoreTimeoutOption`, and `NSPersistentStoreForceDestroyOption`
    ///     to delete a file that cannot be opened, or, if it is false, to keep one that is not a database.
    /// - Throws: an error if another program keeps the store locked, or it cannot be written; and for an unknown type.
    open func destroyPersistentStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyStore(at: url, ofType: storeType, options: options)
    }

    /// Replaces a store by a copy of another one.
    ///
    /// - Parameters:
    ///   - destinationURL: the store to replace; it is created if there is none.
    ///   - destinationOptions: options for opening it, such as `NSPersistentStoreTimeoutOption`.
    ///   - sourceURL: the store to copy; it is only read.
    ///   - sourceOptions: options that identify it, such as the schema of one in PostgreSQL; others are not used.
    ///   - storeType: the type of both stores.
    /// - Throws: an error if the source is missing or cannot be read; the destination then stays as it was.
    open func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        try replaceStore(
            at: destinationURL, destinationOptions, from: sourceURL, sourceOptions, ofType: storeType)
    }

    /// Copies a store's objects into a new store, which replaces it in the coordinator: for “Save as”, or to change a
    /// store's type. The old store's files stay.
    ///
    /// Between SQLite stores the objects keep their IDs, and contexts can continue to use their objects. Otherwise
    /// objects have new IDs in the new store and must be fetched again.
    ///
    /// - Parameters:
    ///   - store: a store of this coordinator.
    ///   - URL: the location of the new store, where none may exist yet.
    ///   - options: the options of the new store.
    ///   - storeType: the type of the new store, one of those that come with Core Data.
    /// - Returns: the new store.
    /// - Throws: an error if the new store cannot be made, or the old one cannot be read. The coordinator is then
    ///   unchanged.
    @discardableResult
    open func migratePersistentStore(
        _ store: NSPersistentStore, to URL: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
    ) throws -> NSPersistentStore {
        try moveStore(store, to: URL, options: options, withType: storeType)
    }

    /// Moves a store to another URL: an SQLite store opens the file that is there, which must be a store of the same
    /// model; a store that is written as a whole is written there by its next save.
    ///
    /// - Parameters:
    ///   - url: the new URL.
    ///   - store: a store of this coordinator.
    /// - Returns: whether the store is now at the URL.
    @discardableResult
    open func setURL(_ url: URL, for store: NSPersistentStore) -> Bool { relocate(store, to: url) }

    /// The position in the history after the latest transaction.
    ///
    /// - Parameter stores: the stores whose history counts; `nil` or none for all.
    /// - Returns: `nil` if none of the stores keeps a history, or none can be read.
    open func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        let named = (stores ?? []).isEmpty ? nil : stores?.compactMap { $0 as? NSPersistentStore }
        let numbers = session.latestTransactions(of: named?.map(\.sessionStore))
        return numbers.isEmpty ? nil : NSPersistentHistoryToken(numbers)
    }

    /// Removes all tables and columns whose removal lightweight migrations deferred.
    ///
    /// A store that was added with `NSPersistentStoreDeferredLightweightMigrationOptionKey` is migrated without
    /// removing what is no longer needed. Until this cleanup is done, its metadata have that key, with the value
    /// `true`. Nothing happens if there is nothing to remove.
    ///
    /// - Throws: the errors of the stores, such as `NSPersistentStoreTimeoutError` for one that another process keeps
    ///   locked; a failed removal can be tried again.
    open func finishDeferredLightweightMigration() throws {
        while try finishDeferredTask() {}
    }

    /// Removes one table or column whose removal lightweight migrations deferred: `DROP TABLE _T_ZCAR`, `ALTER TABLE
    /// ZCAR DROP COLUMN ZCOLOUR`.
    ///
    /// - Throws: the errors of the stores; see ``finishDeferredLightweightMigration()``.
    open func finishDeferredLightweightMigrationTask() throws { _ = try finishDeferredTask() }

    // MARK: Requests

    /// Runs a request of any kind on the stores.
    ///
    /// - Parameters:
    ///   - request: a fetch, a save, a batch or a history request.
    ///   - context: the context on whose behalf, and on whose queue, the request runs.
    /// - Returns: an array of results for a fetch; an empty array for a save; otherwise an `NSPersistentStoreResult`.
    /// - Throws: `NSPersistentStoreUnsupportedRequestTypeError` for a request that no store supports, and the errors of
    ///   the stores.
    @discardableResult
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        try run(request, for: context)
    }

    // MARK: Locking

    /// Locks the stores for other threads until `unlock()`; calls may be nested.
    open func lock() { session.lock.lock() }

    /// Locks the stores if no other thread has them.
    ///
    /// - Returns: whether the stores are locked now.
    open func tryLock() -> Bool { session.lock.try() }

    /// Unlocks the stores for other threads.
    open func unlock() { session.lock.unlock() }

    /// Runs a block with exclusive use of the stores, later.
    ///
    /// - Parameter block: the work; no other thread uses the stores meanwhile.
    open func perform(_ block: @escaping () -> Void) { runLater(block) }

    /// Runs a block with exclusive use of the stores, and waits for it.
    ///
    /// - Parameter block: the work; no other thread uses the stores meanwhile.
    open func performAndWait(_ block: () -> Void) { withLock(block) }

    // MARK: IDs

    /// The ID of an object by its URI; `nil` if no store of the coordinator can have it.
    ///
    /// - Parameter url: the `uriRepresentation()` of an ID, from this run of the program or an earlier one.
    /// - Returns: the ID, whether or not the store still has the object.
    open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        identifier(forURI: url)
    }

    /// The ID of an object by its URI as a string; `nil` if no store of the coordinator can have it.
    ///
    /// - Parameter string: the URI.
    /// - Returns: the ID, whether or not the store still has the object.
    open func managedObjectID(for string: String) -> NSManagedObjectID? {
        URL(string: string).flatMap { managedObjectID(forURIRepresentation: $0) }
    }
}

extension NSPersistentStoreCoordinator {
    /// The format of a type of stores, if they can be migrated in place.
    package static func migratableFormat(ofType type: String) -> (any MigratableFormat.Type)? {
        StoreTypes.type(named: type)?.migratableFormat
    }

    /// The format of a type of stores.
    ///
    /// - Throws: 134000 for an unknown type, 134070 for one whose stores cannot be migrated in place.
    static func migratableFormat(of type: String, _ url: URL) throws -> any MigratableFormat.Type {
        if let format = try storeClass(type, url).migratableFormat { return format }
        throw StoreError.unsupported("being migrated", storeType: type, url: url)
    }
}

// The contexts that use the coordinator, and what is saved for them to merge.
extension NSPersistentStoreCoordinator {
    func remember(_ context: ObjectTable) { withLock { contexts.append(context) } }

    func forget(_ context: ObjectTable) { withLock { contexts.removeAll { $0 === context } } }

    /// Informs the other automatically merging contexts of a context's save.
    ///
    /// - Returns: these contexts, each of which merges on its own queue.
    func announce(from saver: NSManagedObjectContext, _ changes: () -> SavedChanges) -> [NSManagedObjectContext] {
        let listeners = withLock { contexts.compactMap(\.context) }.filter {
            $0 !== saver && $0.automaticallyMergesChangesFromParent && $0.needsMerges
        }
        guard !listeners.isEmpty else { return [] }
        let changes = changes()
        for context in listeners { context.mergeSoon(changes) }
        return listeners
    }
}

/// A request that can run itself on a coordinator's stores: all requests except fetches, which contexts run.
protocol ExecutableRequest: NSPersistentStoreRequest {
    /// Runs the request.
    ///
    /// - Returns: the request's result.
    func execute(in source: NSPersistentStoreCoordinator, for context: NSManagedObjectContext) throws -> Any
}
