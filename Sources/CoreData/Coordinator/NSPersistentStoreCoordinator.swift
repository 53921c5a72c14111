import Foundation
import Synchronization

/// Stands between contexts and stores: opens stores, and sends each request to those that can answer it.
///
/// Safe to use from any thread: one lock guards the stores.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
    // @unchecked Sendable: `stores`, `contexts`, `changeLog` and the stores themselves are touched under `lock` only.

    /// The model of the stores.
    public let managedObjectModel: NSManagedObjectModel
    package let modelLayout: ModelLayout
    let lockObject = NSRecursiveLock()
    private let queue = DispatchQueue(label: "NSPersistentStoreCoordinator")
    private var stores: [NSPersistentStore] = [] { didSet { storesByEntity = [:] } }
    private var storesByEntity: [ObjectIdentifier: [NSPersistentStore]] = [:]
    private var contexts: [WeakContext] = []
    private var changeLog = ChangeLog()
    private let saveCount = Atomic<UInt32>(1)

    private struct WeakContext { weak var context: NSManagedObjectContext? }

    /// A name for logs.
    open var name: String?

    /// Creates a coordinator for a model, which can be changed no more.
    ///
    /// - Parameter model: a complete model; one with mistakes stops the program with a message that names them.
    public init(managedObjectModel model: NSManagedObjectModel) {
        managedObjectModel = model
        do { modelLayout = try model.compiledLayout() } catch {
            programmerError((error as NSError).localizedDescription)
        }
        super.init()
        ManagedClasses.learn(model)
    }

    // MARK: Stores

    /// The stores that were added.
    open var persistentStores: [NSPersistentStore] { withLock { stores } }

    /// The store of a URL.
    open func persistentStore(for URL: URL) -> NSPersistentStore? {
        withLock { stores.first { $0.url?.standardizedFileURL == URL.standardizedFileURL } }
    }

    /// Where a store is.
    open func url(for store: NSPersistentStore) -> URL { store.url ?? URL(fileURLWithPath: "/dev/null") }

    /// Opens a store, or makes it if there is none.
    ///
    /// - Parameters:
    ///   - storeType: `NSSQLiteStoreType` or `NSInMemoryStoreType`, or a registered type.
    ///   - configuration: the configuration of the model whose entities the store holds; `nil` for all.
    ///   - storeURL: where the store is; may be `nil` for one in memory.
    ///   - options: by the keys that are named `NS…Option`.
    /// - Returns: the store.
    /// - Throws: an error in the Cocoa domain: 134000 for an unknown type, 134100 when the store's model differs, 134080
    ///   and the file errors when it cannot be opened.
    @discardableResult
    open func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        guard let type = StoreTypes.type(named: storeType) else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreInvalidType,
                "There is no store type “\(storeType)”; there are \(StoreTypes.names.joined(separator: ", ")).",
                url: storeURL)
        }
        if let configuration, managedObjectModel.entities(forConfigurationName: configuration) == nil {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOpen,
                "The model has no configuration “\(configuration)”; it has "
                    + "\(managedObjectModel.configurations.joined(separator: ", ")).", url: storeURL)
        }
        let url = storeURL ?? URL(fileURLWithPath: "/dev/null")
        return try withLock {
            if storeType != NSInMemoryStoreType, let known = stores.first(where: { $0.url == url }) { return known }
            let store = type.init(
                persistentStoreCoordinator: self, configurationName: configuration, at: url, options: options)
            try store.loadMetadata()
            store.didAdd(to: self)
            stores.append(store)
            postStoresDidChange([NSAddedPersistentStoresKey: [store]])
            return store
        }
    }

    /// Opens a store, or makes it if there is none.
    @discardableResult
    public func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(
            ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
    }

    /// Opens the store of a description: before it returns, or in the background where the description says so.
    ///
    /// - Parameters:
    ///   - storeDescription: what to open.
    ///   - block: called with the description, and the error if there was one.
    open func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        let work = Transferred { [self] in
            do {
                try addPersistentStore(
                    ofType: storeDescription.type, configurationName: storeDescription.configuration,
                    at: storeDescription.url, options: storeDescription.options)
                block(storeDescription, nil)
            } catch { block(storeDescription, error) }
        }
        if storeDescription.shouldAddStoreAsynchronously {
            queue.async { work.value() }
        } else {
            work.value()
        }
    }

    /// Closes a store. Its objects in contexts become inaccessible.
    open func remove(_ store: NSPersistentStore) throws {
        try withLock {
            guard stores.contains(store) else {
                throw StoreError.make(
                    CoreDataErrorCode.persistentStoreOperation, "The store was not added to this coordinator.",
                    url: store.url)
            }
            NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
            store.willRemove(from: self)
            stores.removeAll { $0 === store }
            postStoresDidChange([NSRemovedPersistentStoresKey: [store]])
        }
    }

    private func postStoresDidChange(_ info: [String: Any]) {
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: info)
    }

    // MARK: Locking

    /// Runs a block with the stores, later.
    open func perform(_ block: @escaping () -> Void) {
        let work = Transferred(block)
        queue.async { [self] in withLock { work.value() } }
    }

    /// Runs a block with the stores, and waits for its result.
    public func performAndWait<Result, Failure: Error>(
        _ block: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lockObject.lock()
        defer { lockObject.unlock() }
        return try block()
    }

    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        lockObject.lock()
        defer { lockObject.unlock() }
        return try body()
    }

    // MARK: Contexts

    func remember(_ context: NSManagedObjectContext) {
        withLock {
            contexts.removeAll { $0.context == nil }
            contexts.append(WeakContext(context: context))
        }
    }

    func forget(_ context: NSManagedObjectContext) {
        withLock { contexts.removeAll { $0.context == nil || $0.context === context } }
    }

    /// Tells the other contexts that merge automatically what one saved.
    func announce(from saver: NSManagedObjectContext, _ changes: () -> SavedChanges) {
        let listeners = withLock { contexts.compactMap(\.context) }.filter {
            $0 !== saver && $0.automaticallyMergesChangesFromParent
        }
        guard !listeners.isEmpty else { return }
        let changes = changes()
        for context in listeners { context.perform { context.merge(changes) } }
    }

    // MARK: IDs

    /// The ID of an object by its URI, `nil` when no store of the coordinator can have it.
    open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        guard url.scheme == "x-coredata", let uuid = url.host else { return nil }
        let parts = url.pathComponents.filter { $0 != "/" }
        guard parts.count == 2, let entity = modelLayout.entityByName[parts[0]] else { return nil }
        return withLock {
            stores.first { $0.identity.uuid.caseInsensitiveCompare(uuid) == .orderedSame }?
                .identifier(for: entity, uriKey: parts[1])
        }
    }

    /// An ID as this coordinator's stores have it, for one that another coordinator of the same file made.
    func localIdentifier(_ identifier: NSManagedObjectID) -> NSManagedObjectID? {
        guard let foreign = identifier.storeIdentity else { return identifier }
        if let store = foreign.store as? NSPersistentStore, store.persistentStoreCoordinator === self {
            return identifier
        }
        guard let store = withLock({ stores.first { $0.identity.uuid == foreign.uuid } }),
            let entity = modelLayout.entityByName[identifier.layout.name]
        else { return identifier }
        if store.identity === foreign { return identifier }
        return NSManagedObjectID(
            layout: entity, store: store.identity, key: identifier.key, reference: identifier.reference)
    }

    // MARK: What contexts ask for

    /// Grows with every save, so that what was read before can be told from what was read after.
    var generation: UInt32 { saveCount.load(ordering: .acquiring) }

    /// Whether what was read of an object at a generation is still what its store has, as far as this coordinator
    /// knows.
    func isCurrent(_ identifier: NSManagedObjectID, since stamp: UInt32) -> Bool {
        if generation == stamp { return true }
        return withLock { changeLog.isUnchanged(identifier, since: stamp) }
    }

    /// The stores that hold an entity.
    func storesOf(_ entity: EntityLayout, among wanted: [NSPersistentStore]?) -> [NSPersistentStore] {
        withLock {
            let holders: [NSPersistentStore]
            if let known = storesByEntity[ObjectIdentifier(entity)] {
                holders = known
            } else {
                holders = stores.filter { $0.holds(entity, of: managedObjectModel) }
                storesByEntity[ObjectIdentifier(entity)] = holders
            }
            return wanted.map { wanted in holders.filter(wanted.contains) } ?? holders
        }
    }

    func fetchRows(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> ContiguousArray<Row> {
        try withLock {
            let sources = storesOf(plan.entity, among: stores)
            if sources.count == 1 { return try sources[0].fetchRows(plan) }
            return try ContiguousArray(sources.map { try $0.fetchRows(plan) }.joined())
        }
    }

    func fetchIdentifiers(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [NSManagedObjectID] {
        try withLock { try storesOf(plan.entity, among: stores).flatMap { try $0.fetchIdentifiers(plan) } }
    }

    func fetchCount(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> Int {
        try withLock {
            try storesOf(plan.entity, among: stores).reduce(0) { try $0 + $1.fetchCount(plan) }
        }
    }

    func fetchDictionaries(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [[String: Any]] {
        try withLock { try storesOf(plan.entity, among: stores).flatMap { try $0.fetchDictionaries(plan) } }
    }

    /// Deletes what a plan finds, store by store.
    func deleteRows(
        _ plan: FetchPlan, stores wanted: [NSPersistentStore]?, contextName: String?, author: String?
    ) throws -> [NSManagedObjectID] {
        try withLock {
            var deleted: [NSManagedObjectID] = []
            for store in storesOf(plan.entity, among: wanted) {
                var changes = ChangeSet()
                changes.contextName = contextName
                changes.author = author
                changes.deleted = try store.fetchRows(plan).map {
                    RowDeletion(objectID: $0.objectID, version: $0.version)
                }
                guard !changes.isEmpty else { continue }
                _ = try save([(store, changes)])
                deleted += changes.deleted.map(\.objectID)
            }
            return deleted
        }
    }

    func row(for identifier: NSManagedObjectID) throws -> Row? {
        try withLock { try store(of: identifier)?.row(for: identifier) }
    }

    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        guard !identifiers.isEmpty else { return [] }
        return try withLock {
            var rows: ContiguousArray<Row> = []
            for store in stores {
                let mine = identifiers.filter { $0.storeIdentity === store.identity }
                if !mine.isEmpty { rows += try store.rows(for: mine) }
            }
            return rows
        }
    }

    func relatedIdentifiers(
        of relationship: RelationshipLayout, for identifier: NSManagedObjectID
    ) throws -> [NSManagedObjectID] {
        try withLock { try store(of: identifier)?.relatedIdentifiers(of: relationship, for: identifier) ?? [] }
    }

    private func store(of identifier: NSManagedObjectID) -> NSPersistentStore? {
        stores.first { $0.identity === identifier.storeIdentity }
    }

    /// Permanent IDs for new objects: in the store that each was assigned to, or the first that may take it.
    func makePermanentIdentifiers(
        for objects: [NSManagedObject], assigned: [ObjectIdentifier: NSPersistentStore]
    ) throws -> [NSManagedObjectID] {
        guard !objects.isEmpty else { return [] }
        return try withLock {
            var defaults: [ObjectIdentifier: NSPersistentStore] = [:]
            var last: EntityLayout?
            func store(for object: NSManagedObject) throws -> NSPersistentStore {
                if !assigned.isEmpty, let store = assigned[ObjectIdentifier(object)] { return store }
                if let known = defaults[ObjectIdentifier(object.layout)] { return known }
                let candidates = storesOf(object.layout, among: nil)
                guard let store = candidates.first(where: { !$0.isReadOnly }) else {
                    throw noStore(for: object, candidates)
                }
                defaults[ObjectIdentifier(object.layout)] = store
                return store
            }
            if stores.count == 1, assigned.isEmpty, let only = stores.first {
                for object in objects where object.layout !== last {
                    _ = try store(for: object)
                    last = object.layout
                }
                return try only.makePermanentIdentifiers(for: objects.map(\.layout))
            }
            var groups: [(store: NSPersistentStore, positions: [Int])] = []
            for (position, object) in objects.enumerated() {
                let store = try store(for: object)
                if let index = groups.firstIndex(where: { $0.store === store }) {
                    groups[index].positions.append(position)
                } else {
                    groups.append((store, [position]))
                }
            }
            var result: [Int: NSManagedObjectID] = [:]
            for group in groups {
                let made = try group.store.makePermanentIdentifiers(for: group.positions.map { objects[$0].layout })
                for (position, identifier) in zip(group.positions, made) { result[position] = identifier }
            }
            return objects.indices.compactMap { result[$0] }
        }
    }

    private func noStore(for object: NSManagedObject, _ candidates: [NSPersistentStore]) -> NSError {
        if let readOnly = candidates.first {
            return StoreError.make(
                CoreDataErrorCode.persistentStoreSave,
                "A new “\(object.layout.name)” cannot be saved: its store was opened read-only.", url: readOnly.url)
        }
        return StoreError.make(
            CoreDataErrorCode.persistentStoreSave,
            "A new “\(object.layout.name)” cannot be saved: the coordinator has no store for its entity. Add one with "
                + "addPersistentStore or loadPersistentStores first.")
    }

    /// Writes what a context saves.
    ///
    /// - Throws: `SaveRefusal` for conflicts, and the errors of the stores.
    func save(_ sets: [(NSPersistentStore, ChangeSet)]) throws -> [SaveResult] {
        try withLock {
            for (store, _) in sets where store.isReadOnly {
                throw StoreError.make(
                    CoreDataErrorCode.persistentStoreSave,
                    "The changes cannot be saved: the store was opened read-only.", url: store.url,
                    userInfo: [NSAffectedStoresErrorKey: [store]])
            }
            let results = try sets.map { try $0.0.save($0.1) }
            let generation = saveCount.add(1, ordering: .acquiringAndReleasing).newValue
            for (_, changes) in sets { changeLog.note(changes, generation) }
            for result in results { changeLog.note(result.computed.map(\.objectID), generation) }
            return results
        }
    }
}

extension NSPersistentStore {
    /// Whether the store's configuration has an entity.
    fileprivate func holds(_ entity: EntityLayout, of model: NSManagedObjectModel) -> Bool {
        guard configurationName != NSManagedObjectModel.defaultConfigurationName,
            let entities = model.entities(forConfigurationName: configurationName)
        else { return true }
        return entities.contains { $0.name == entity.name || $0.name == entity.root.name }
    }
}
