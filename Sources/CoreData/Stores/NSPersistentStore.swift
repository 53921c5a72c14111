import Foundation
import StoreSession

/// A store of managed objects: the common part of all kinds.
///
/// A store is the part that programs see; its engine reads and writes rows.
open class NSPersistentStore: NSObject, @unchecked Sendable {
    // @unchecked Sendable: used only under its coordinator's lock, except for `identity`, which is safe to share.

    /// The properties of the store that its engine knows, too.
    package final private(set) var facts: StoreFacts

    /// The store as its session knows it, made when the store is added.
    package final private(set) lazy var sessionStore = SessionStore(
        type: type, facts: facts, engine: engine, savesRows: objectStore == nil, format: Swift.type(of: self).format)

    /// The coordinator to which the store was added.
    open private(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?

    /// The configuration of the model whose entities the store holds.
    open var configurationName: String { facts.configurationName }

    /// The options with which the store was opened.
    open var options: [AnyHashable: Any]? { facts.options }

    /// The location of the store.
    open var url: URL? {
        get { facts.url }
        set { facts.url = newValue }
    }

    /// The store's UUID.
    open var identifier: String! {
        get { identity.uuid }
        set { identity.uuid = newValue }
    }

    /// The identity that IDs of the store's objects refer to; a store that replaces another takes over its identity.
    package var identity: StoreIdentity {
        get { facts.identity }
        set { facts.identity = newValue }
    }

    /// The type of store: `NSSQLiteStoreType` and similar constants; that in the metadata, if a subclass names none.
    open var type: String { storedMetadata[NSStoreTypeKey] as? String ?? "" }

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

    /// Whether the metadata were set and have not been written yet, which a context's next save does.
    package var metadataAreChanged: Bool {
        get { facts.metadataAreChanged }
        set { facts.metadataAreChanged = newValue }
    }

    /// Creates a store object for a file, which may not exist yet; `loadMetadata` opens it.
    ///
    /// - Parameters:
    ///   - root: the coordinator that opens the store.
    ///   - name: the configuration of the model; `nil` for all entities.
    ///   - url: the location of the store.
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

    /// Becomes the object by which programs see a store that its session has opened.
    package final func show(_ store: SessionStore) {
        (sessionStore, facts) = (store, store.facts)
        identity.store = self
    }

    /// Opens the store and reads its metadata, including its UUID.
    ///
    /// - Throws: an error if the store cannot be opened, or does not fit the coordinator's model.
    open func loadMetadata() throws {}

    /// Called after the store was added to a coordinator.
    ///
    /// - Parameter coordinator: the coordinator.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) { persistentStoreCoordinator = coordinator }

    /// Called before the store is removed from its coordinator; closes the store.
    ///
    /// - Parameter coordinator: the coordinator that removes the store.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) { persistentStoreCoordinator = nil }

    /// Reads a store's metadata without opening it for use.
    ///
    /// - Parameter url: the location of the store.
    /// - Returns: the metadata, by key.
    /// - Throws: an error if there is no store of this type. By default, an error that the type does not support it.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        throw StoreError.unsupported("reading metadata", storeType: "\(self)", url: url)
    }

    /// Writes a store's metadata without opening it for use.
    ///
    /// - Parameters:
    ///   - metadata: the new metadata.
    ///   - url: the location of the store.
    /// - Throws: an error if there is no store of this type. By default, an error that the type does not support it.
    open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw StoreError.unsupported("writing metadata", storeType: "\(self)", url: url)
    }

    /// The class of the manager that migrates stores of this type object by object: `NSMigrationManager` for all of
    /// them.
    open class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }

    // MARK: - The engine

    /// The engine that reads and writes the store's rows, for the coordinator under its lock.
    package var engine: any StoreEngine { MissingEngine(type: type, url: url) }

    /// Called once, when the store object has been made; a developer's store gets its identifier here.
    package func prepare(for url: URL) {}

    /// Releases what the store has in memory as a whole; called once, after its removal from the coordinator.
    package func unloadContents() {}

    /// Reads what the store keeps in memory as a whole; called once, after `loadMetadata()`.
    package func loadContents() throws {}

    /// Continues with a file of the store's format at another place; see `NSPersistentStoreCoordinator.setURL(_:for:)`.
    package func relocate(to url: URL) throws {
        throw StoreError.unsupported("being moved while it is open", storeType: type, url: self.url)
    }

    /// Makes the ID of an object of this store from the last part of its URI; `nil` if it is invalid.
    package func identifier(for entity: EntityLayout, uriKey: String) -> NSManagedObjectID? {
        guard uriKey.first == "p", let key = Int64(uriKey.dropFirst()), key > 0 else { return nil }
        return NSManagedObjectID(layout: entity, store: identity, key: key)
    }

    /// The format of the stores of this class; `nil` for a class that reads and writes its stores itself.
    package class var format: (any StoreFormat.Type)? { nil }

    /// The format of the stores, if they can be migrated in place.
    package final class var migratableFormat: (any MigratableFormat.Type)? { format as? any MigratableFormat.Type }

    /// Whether the rows of other stores can be written into a new store of this type.
    package class var takesRows: Bool { false }

    /// The migration of a store of this type with another model; `nil` for types that cannot be migrated.
    package class func automaticMigration(
        of url: URL, to model: NSManagedObjectModel, configuration: String?, options: [AnyHashable: Any]?
    ) -> (() throws -> Void)? { nil }

    /// Removes files that a killed writer left beside the store.
    package class func removeLeftovers(of url: URL) {}

    /// Deletes the store's files. It does nothing for stores without files.
    package class func destroy(at url: URL, options: [AnyHashable: Any]?) throws {}

    /// Replaces the store at `destination` by a copy of the one at `source`.
    package class func replace(
        at destination: URL, from source: URL, options: [AnyHashable: Any]?
    ) throws { throw StoreError.unsupported("replacing", storeType: "\(self)", url: destination) }

    /// The same, where options may identify the one at `source`.
    package class func replace(
        at destination: URL, from source: URL, options: [AnyHashable: Any]?, sourceOptions: [AnyHashable: Any]?
    ) throws { try replace(at: destination, from: source, options: options) }

    /// Writes changed metadata; the setter of `metadata` only keeps them.
    package func saveMetadata() throws {}
}

extension NSManagedObjectID {
    /// The store of the object; `nil` for a temporary ID, or a store that was removed.
    public var persistentStore: NSPersistentStore? { storeIdentity?.store as? NSPersistentStore }
}

extension NSPersistentStoreRequest {
    /// The stores to ask; `nil` for all stores of the coordinator.
    public var affectedStores: [NSPersistentStore]? {
        get { affectedStoreObjects?.compactMap { $0 as? NSPersistentStore } }
        set { affectedStoreObjects = newValue }
    }
}

extension NSPersistentStore {
    /// A type of store.
    public struct StoreType: RawRepresentable, Hashable, Sendable {
        /// The name of the type, as it was registered.
        public typealias RawValue = String
        /// The name of the type.
        public let rawValue: String
        /// Makes a type from its name.
        ///
        /// - Parameter rawValue: the name, such as `SQLite`.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A store in an SQLite database.
        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        /// A store in memory.
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
        /// A store in one binary file.
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
        /// A store in one XML file, which Apple has on macOS only.
        public static let xml = StoreType(rawValue: NSXMLStoreType)
    }
}

/// A state of the stores that contexts can continue to read while others write: see
/// `NSManagedObjectContext.setQueryGenerationFrom(_:)`.
///
/// A token keeps its generation readable as long as it, a copy of it, or a context pinned to it exists. An archived
/// token is only valid in the process that made it, and while the generation is readable; see `isExpired`.
open class NSQueryGenerationToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable: immutable; the content of the state is only used under the session's lock.

    /// The generation; `nil` for `current`.
    package final let state: PinnedGeneration?

    package init(_ state: PinnedGeneration?) {
        self.state = state
        super.init()
    }

    /// Stands for the generation that is current when a context next reads.
    open class var current: NSQueryGenerationToken { currentToken }

    private static let currentToken = NSQueryGenerationToken(nil)

    /// Whether this is `current`.
    package final var isCurrent: Bool { state == nil }

    /// Whether the generation can no longer be read: its last other token was released after this one was archived.
    package final var isExpired: Bool { state?.isExpired ?? false }

    /// The coordinator's count of saves when the generation was pinned.
    package final var saveCount: UInt32 { state?.saveCount ?? 0 }

    /// The object by which a store reads this generation; `nil` for a store without generations.
    package final func generation(of store: NSPersistentStore) -> AnyObject? {
        state?.object(of: store.sessionStore)
    }

    // MARK: Copying and coding

    /// Tokens are immutable: the copy is the token itself.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the object itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both tokens stand for the same generation.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but a token of the same generation.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSQueryGenerationToken else { return false }
        guard let state, let others = other.state else { return isCurrent && other.isCurrent }
        return state === others || state.isExpired && others.isExpired && state.identifier == others.identifier
    }

    /// The hash of the generation's identity.
    open override var hash: Int {
        guard let state else { return 0 }
        return state.isExpired ? state.identifier.hashValue : ObjectIdentifier(state).hashValue
    }

    /// `true`: tokens support secure coding.
    open class var supportsSecureCoding: Bool { true }

    private static let identifierKey = "generation"

    /// Archives the identity of the generation.
    ///
    /// - Parameter coder: a keyed coder.
    open func encode(with coder: NSCoder) {
        coder.encode((state?.identifier.uuidString ?? "") as NSString, forKey: Self.identifierKey)
    }

    /// Finds the generation of an archived token among those that can still be read.
    ///
    /// - Parameter coder: a keyed coder.
    public required init?(coder: NSCoder) {
        guard let text = coder.decodeObject(of: NSString.self, forKey: Self.identifierKey) else { return nil }
        let identifier = UUID(uuidString: text.description)
        state = identifier.map { PinnedGeneration.live($0) ?? PinnedGeneration(expired: $0) }
        super.init()
    }
}
