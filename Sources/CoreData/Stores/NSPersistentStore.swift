import Foundation

/// A store of managed objects: the common part of all kinds.
///
/// A store is what programs see of it; its engine is what reads and writes rows.
open class NSPersistentStore: NSObject, @unchecked Sendable {
    // @unchecked Sendable: confined to its coordinator's queue, but for `identity`, which is safe to share.

    /// What the engine knows of the store, too.
    package let facts: StoreFacts

    /// What is to be announced of its changes.
    final let announcements = ChangeAnnouncements()

    /// The coordinator that the store was added to.
    open private(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?

    /// The configuration of the model whose entities the store holds.
    open var configurationName: String { facts.configurationName }

    /// The options that the store was opened with.
    open var options: [AnyHashable: Any]? { facts.options }

    /// Where the store is.
    open var url: URL? {
        get { facts.url }
        set { facts.url = newValue }
    }

    /// The store's UUID.
    open var identifier: String! {
        get { identity.uuid }
        set { identity.uuid = newValue }
    }

    /// The identity that IDs of the store's objects refer to; a store that takes the place of another has that one's.
    package var identity: StoreIdentity {
        get { facts.identity }
        set { facts.identity = newValue }
    }

    /// The kind of store: `NSSQLiteStoreType` and its kin.
    open var type: String { "" }

    /// Whether the store may only be read.
    open var isReadOnly: Bool {
        get { facts.isReadOnly }
        set { facts.isReadOnly = newValue }
    }

    /// The store's metadata, with `NSStoreUUIDKey` and `NSStoreTypeKey`.
    open var metadata: [String: Any]! {
        get { storedMetadata }
        set {
            storedMetadata = newValue ?? [:]
            metadataAreChanged = true
            if let uuid = storedMetadata[NSStoreUUIDKey] as? String { identity.uuid = uuid }
        }
    }

    package var storedMetadata: [String: Any] {
        get { facts.metadata }
        set { facts.metadata = newValue }
    }

    /// Whether the metadata were set and are yet to be written, which the next save of a context does.
    package var metadataAreChanged: Bool {
        get { facts.metadataAreChanged }
        set { facts.metadataAreChanged = newValue }
    }

    /// Creates a store object for a file that exists or is yet to be made; `loadMetadata` opens it.
    ///
    /// - Parameters:
    ///   - root: the coordinator that opens the store.
    ///   - name: the configuration of the model, `nil` for all entities.
    ///   - url: where the store is.
    ///   - options: as documented for `addPersistentStore(ofType:configurationName:at:options:)`.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        facts = StoreFacts(url: url, configuration: name, options: options)
        persistentStoreCoordinator = root
        super.init()
        identity.store = self
        prepare(for: url)
    }

    /// Opens the store and reads its metadata, including its UUID.
    ///
    /// - Throws: when the store cannot be opened or does not fit the coordinator's model.
    open func loadMetadata() throws {}

    /// Called after the store was added to a coordinator.
    ///
    /// - Parameter coordinator: the coordinator, which the store knows from then on.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) { persistentStoreCoordinator = coordinator }

    /// Called before the store is removed from its coordinator; closes what is open.
    ///
    /// - Parameter coordinator: the coordinator that removes the store.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) { persistentStoreCoordinator = nil }

    /// Reads a store's metadata without opening it for use.
    ///
    /// - Parameter url: where the store is.
    /// - Returns: the metadata, by key.
    /// - Throws: when there is no store of this type. By default, that the type does not support it.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        throw StoreError.unsupported("reading metadata", storeType: "\(self)", url: url)
    }

    /// Writes a store's metadata without opening it for use.
    ///
    /// - Parameters:
    ///   - metadata: what replaces the metadata of the store.
    ///   - url: where the store is.
    /// - Throws: when there is no store of this type. By default, that the type does not support it.
    open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw StoreError.unsupported("writing metadata", storeType: "\(self)", url: url)
    }

    // MARK: - The engine

    /// What reads and writes the store's rows, for the coordinator under its lock.
    package var engine: any StoreEngine { MissingEngine(type: type, url: url) }

    /// Called once, when the store object has been made; a store of the developer's gets its identifier.
    package func prepare(for url: URL) {}

    /// Lets go of what the store has in memory as a whole; called once, after it was removed from its coordinator.
    package func unloadContents() {}

    /// Reads what the store has in memory as a whole; called once, after `loadMetadata()`.
    package func loadContents() throws {}

    /// Goes on with a file of the store's format at another place; see `NSPersistentStoreCoordinator.setURL(_:for:)`.
    package func relocate(to url: URL) throws {
        throw StoreError.unsupported("being moved while it is open", storeType: type, url: self.url)
    }

    /// Listens to changes that others make, where the store can tell of them.
    final func listen(for coordinator: NSPersistentStoreCoordinator) {
        engine.news?.listen(
            asking: { [weak coordinator] question in
                guard let coordinator else { return false }
                return coordinator.withLockIfFree(question)
            },
            heard: { [weak self, weak coordinator] in
                guard let self else { return }
                coordinator?.announceChange(of: self)
            })
    }

    /// Makes the ID of an object of this store from the last part of its URI, `nil` when it makes no sense.
    package func identifier(for entity: EntityLayout, uriKey: String) -> NSManagedObjectID? {
        guard uriKey.first == "p", let key = Int64(uriKey.dropFirst()), key > 0 else { return nil }
        return NSManagedObjectID(layout: entity, store: identity, key: key)
    }

    /// The kind of stores that the class is for; `nil` for a class that reads and writes its stores itself.
    package class var format: (any StoreFormat.Type)? { nil }

    /// The kind of stores, where such can be migrated in their place.
    package final class var migratableFormat: (any MigratableFormat.Type)? { format as? any MigratableFormat.Type }

    /// Whether the rows of other stores can be written into a new store of this type.
    package class var takesRows: Bool { false }

    /// What migrates a store of this type, whose model is another one; `nil` for types that cannot be migrated.
    package class func automaticMigration(
        of url: URL, to model: NSManagedObjectModel, configuration: String?, options: [AnyHashable: Any]?
    ) -> (() throws -> Void)? { nil }

    /// Removes what somebody left beside the store who was killed while writing it.
    package class func removeLeftovers(of url: URL) {}

    /// Takes the store's files away. Nothing to do for stores without files.
    package class func destroy(at url: URL, options: [AnyHashable: Any]?) throws {}

    /// Puts a copy of the store at `source` in the place of the one at `destination`.
    package class func replace(
        at destination: URL, from source: URL, options: [AnyHashable: Any]?
    ) throws { throw StoreError.unsupported("replacing", storeType: "\(self)", url: destination) }

    /// Writes changed metadata; `metadata`'s setter only keeps them.
    package func saveMetadata() throws {}
}

extension NSManagedObjectID {
    /// The store that has the object, `nil` for a temporary ID or a store that was removed.
    public var persistentStore: NSPersistentStore? { storeIdentity?.store as? NSPersistentStore }
}

extension NSPersistentStoreRequest {
    /// The stores to ask; `nil` for all stores of the coordinator.
    public var affectedStores: [NSPersistentStore]? {
        get { affectedStoreObjects?.compactMap { $0 as? NSPersistentStore } }
        set { affectedStoreObjects = newValue }
    }
}
