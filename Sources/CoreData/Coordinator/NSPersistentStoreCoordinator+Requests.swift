import Foundation
import StoreSession
import Synchronization

// Requests of contexts. Each goes to the stores that can answer it, under the lock.
extension NSPersistentStoreCoordinator: RowSource {
    /// Runs a request of any kind.
    func run(_ request: NSPersistentStoreRequest, for context: NSManagedObjectContext) throws -> Any {
        if let fetch = request as? any FetchDescription { return try context.results(of: fetch) }
        if let request = request as? any ExecutableRequest { return try request.execute(in: self, for: context) }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreUnsupportedRequestType,
            "The stores do not know requests of type \(type(of: request)).")
    }

    var generation: UInt32 { session.generation }

    func isCurrent(_ identity: ObjectIdentity, since stamp: UInt32) -> Bool {
        session.isCurrent(identity, since: stamp)
    }

    /// The stores that hold an entity.
    func storesOf(_ entity: EntityLayout, among wanted: [NSPersistentStore]?) -> [NSPersistentStore] {
        withLock { session.storesOf(entity, among: wanted?.map(\.sessionStore)).compactMap(shown) }
    }

    /// A store as programs see it. For use under the lock.
    func shown(_ store: SessionStore) -> NSPersistentStore? { stores.first { $0.sessionStore === store } }

    func isScattered(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool {
        storesOf(plan.entity, among: stores).count > 1 || evaluatesInMemory(plan, stores: stores)
    }

    func evaluatesInMemory(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool {
        session.evaluatesInMemory(plan, stores: stores?.map(\.sessionStore))
    }

    func givesFaults(_ plan: FetchPlan) -> Bool {
        guard hasObjectStores else { return false }
        return storesOf(plan.entity, among: nil).contains { $0.objectStore?.givesFaults ?? false }
    }

    func fetchRows(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> ContiguousArray<Row> {
        try session.fetchRows(plan, stores: stores?.map(\.sessionStore))
    }

    /// The rows of all stores are read under the lock.
    var handsOutRows: Bool { true }

    func readRows(_ plan: FetchPlan, stores: [NSPersistentStore]?, _ body: (consuming PlacedRow) -> Void) throws {
        try session.readRows(plan, stores: stores?.map(\.sessionStore), body)
    }

    func fetchIdentifiers(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [NSManagedObjectID] {
        try session.fetchIdentifiers(plan, stores: stores?.map(\.sessionStore))
    }

    func fetchCount(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> Int {
        try session.fetchCount(plan, stores: stores?.map(\.sessionStore))
    }

    func fetchDictionaries(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [[String: Any]] {
        try session.fetchDictionaries(plan, stores: stores?.map(\.sessionStore))
    }

    func row(for identifier: NSManagedObjectID) throws -> Row? { try session.row(for: identifier) }

    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try session.rows(for: identifiers)
    }

    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] { try session.destinations(of: relationship, for: identifiers) }

    func readDestinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: consuming PlacedRow) -> Void
    ) throws -> Bool {
        guard !hasObjectStores else { return false }
        return try session.readDestinations(of: relationship, for: identifiers, body)
    }

    /// Writes a context's changes.
    ///
    /// - Parameters:
    ///   - sets: the change set for each store.
    ///   - objects: returns the objects of a store, for stores that work with objects.
    ///   - transaction: the transaction that the save belongs to.
    /// - Returns: the result of each store, in the order of the sets.
    /// - Throws: `SaveRefusal` for conflicts, the error of a broken transaction, and the errors of the stores.
    func save(
        _ sets: [(NSPersistentStore, ChangeSet)], objects: (NSPersistentStore) -> SavedObjects,
        in transaction: OptimisticTransaction?
    ) throws -> [SaveResult] {
        try session.save(sets.map { ($0.0.sessionStore, $0.1) }, in: transaction) { store, changes in
            guard let developers = shown(store)?.objectStore else { return try store.engine.save(changes) }
            return try developers.save(objects(developers), changes)
        }
    }

    // MARK: Query generations

    /// A token for the present content of the stores.
    ///
    /// - Throws: what `StoreSession.pinCurrentGeneration(_:)` throws.
    package func pinCurrentGeneration() throws -> NSQueryGenerationToken {
        NSQueryGenerationToken(try session.pinCurrentGeneration())
    }

    // MARK: IDs

    func identifier(forURI url: URL) -> NSManagedObjectID? {
        guard url.scheme == "x-coredata", let uuid = url.host else { return nil }
        let parts = url.pathComponents.filter { $0 != "/" }
        guard parts.count == 2, let entity = modelLayout.entityByName[parts[0]] else { return nil }
        return withLock {
            stores.first { $0.identity.uuid.caseInsensitiveCompare(uuid) == .orderedSame }?
                .identifier(for: entity, uriKey: parts[1])
        }
    }

    /// The ID of this coordinator's store for an ID from another coordinator of the same file.
    func localIdentifier(_ identifier: NSManagedObjectID) -> NSManagedObjectID {
        if let store = identifier.persistentStore, store.persistentStoreCoordinator === self { return identifier }
        return session.localIdentifier(identifier)
    }
}

// Moves stores while they are open.
extension NSPersistentStoreCoordinator {
    /// Copies a store's objects into a new store, which replaces it in the coordinator.
    func moveStore(
        _ store: NSPersistentStore, to URL: URL, options: [AnyHashable: Any]?, withType storeType: String
    ) throws -> NSPersistentStore {
        let new = try withLock {
            guard persistentStores.contains(store) else {
                throw StoreError.make(
                    CoreDataErrorCode.persistentStoreOperation, "The store was not added to this coordinator.",
                    url: store.url)
            }
            let type = try Self.rowStoreClass(storeType, URL)
            let isInMemory = storeType == NSInMemoryStoreType
            if !isInMemory, try Self.hasStore(type, storeType, URL, options) {
                throw StoreError.make(
                    CocoaError.Code.fileWriteFileExists.rawValue,
                    "There is a store at “\(URL.path)” already; a store that migrates there would mix with it.",
                    url: URL, suggestion: "Destroy it first with destroyPersistentStore(at:type:options:).")
            }
            let isNew = !URL.isFileURL || !FileManager.default.fileExists(atPath: URL.path)
            let isDefault = store.configurationName == NSManagedObjectModel.defaultConfigurationName
            let new = type.init(
                persistentStoreCoordinator: self, configurationName: isDefault ? nil : store.configurationName, at: URL,
                options: options)
            do { try move(store, to: new) } catch {
                new.willRemove(from: self)
                new.unloadContents()
                if isNew, !isInMemory { try? type.destroy(at: URL, options: options) }
                throw error
            }
            return new
        }
        // Outside the lock: an observer may wait for a context that waits for the lock.
        postReplacement(of: store, by: new)
        return new
    }

    /// Copies a store's objects into a new store, which replaces it in the coordinator.
    ///
    /// - Parameters:
    ///   - store: a store of this coordinator.
    ///   - storeURL: the location of the new store, where none may exist yet.
    ///   - options: the options of the new store.
    ///   - type: the type of the new store, one of those that come with Core Data.
    /// - Returns: the new store.
    /// - Throws: an error if the new store cannot be made, or the old one cannot be read. The coordinator is then
    ///   unchanged.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
        type: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: storeURL, options: options, withType: type.rawValue)
    }

    private static func rowStoreClass(_ name: String, _ url: URL) throws -> NSPersistentStore.Type {
        let type = try storeClass(name, url)
        if type.takesRows { return type }
        throw StoreError.unsupported("other stores migrating into it", storeType: name, url: url)
    }

    /// Whether there is a store.
    ///
    /// - Throws: the errors of a server that does not say.
    private static func hasStore(
        _ type: NSPersistentStore.Type, _ name: String, _ url: URL, _ options: [AnyHashable: Any]?
    ) throws -> Bool {
        if !url.isFileURL, let format = migratableFormat(ofType: name) {
            return try format.exists(at: url, options: options)
        }
        let known = {
            try type.format?.metadata(at: url, options: options) ?? type.metadataForPersistentStore(with: url)
        }
        return (try? known()) != nil
    }

    private func move(_ store: NSPersistentStore, to new: NSPersistentStore) throws {
        let keepsKeys = store.engine.keys != nil && new.engine.keys != nil
        let uuid = store.identity.uuid
        if keepsKeys { new.identity = store.identity }
        do {
            try new.loadMetadata()
            try new.loadContents()
            let own = new.metadata.filter { StoreMetadata.isReserved($0.key) }
            let kept = store.metadata.filter { !StoreMetadata.isReserved($0.key) }
            new.metadata = own.merging(kept) { own, _ in own }
            let entities = modelLayout.entities.filter { store.sessionStore.holds($0, of: managedObjectModel) }
            let copy = try StoreCopy(
                source: store, destination: new, model: modelLayout, entities: entities, keepsKeys: keepsKeys)
            try copy.run()
        } catch {
            if keepsKeys {
                store.identity.uuid = uuid
                store.identity.store = store
            }
            throw error
        }
        if keepsKeys { new.identity.store = new }
        store.willRemove(from: self)
        store.unloadContents()
        new.didAdd(to: self)
        replace(store, by: new)
    }
}
