import Foundation

/// A store of managed objects: the common part of all kinds.
///
/// The engine methods (`fetchRows` and what follows) are for the coordinator, which calls them on its queue only.
open class NSPersistentStore: NSObject, @unchecked Sendable {
    // @unchecked Sendable: confined to its coordinator's queue, but for `identity`, which is safe to share.

    /// The coordinator that the store was added to.
    open private(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?

    /// The configuration of the model whose entities the store holds.
    open var configurationName: String { storedConfigurationName ?? NSManagedObjectModel.defaultConfigurationName }
    private let storedConfigurationName: String?

    /// The options that the store was opened with.
    open private(set) var options: [AnyHashable: Any]?

    /// Where the store is.
    open var url: URL?

    /// The store's UUID.
    open var identifier: String! {
        get { identity.uuid }
        set { identity.uuid = newValue }
    }

    /// The identity that IDs of the store's objects refer to; a store that takes the place of another has that one's.
    package var identity: StoreIdentity

    /// The kind of store: `NSSQLiteStoreType` and its kin.
    open var type: String { "" }

    /// Whether the store may only be read.
    open var isReadOnly: Bool

    /// The store's metadata, with `NSStoreUUIDKey` and `NSStoreTypeKey`.
    open var metadata: [String: Any]! {
        get { storedMetadata }
        set {
            storedMetadata = newValue ?? [:]
            metadataAreChanged = true
            if let uuid = storedMetadata[NSStoreUUIDKey] as? String { identity.uuid = uuid }
        }
    }

    package var storedMetadata: [String: Any] = [:]

    /// Whether the metadata were set and are yet to be written, which the next save of a context does.
    package var metadataAreChanged = false

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
        identity = StoreIdentity(uuid: UUID().uuidString)
        storedConfigurationName = name
        self.options = options
        self.url = url
        isReadOnly = (options?[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue ?? false
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
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) { persistentStoreCoordinator = coordinator }

    /// Called before the store is removed from its coordinator; closes what is open.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) { persistentStoreCoordinator = nil }

    /// Reads a store's metadata without opening it for use.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        throw StoreError.unsupported("reading metadata", storeType: "\(self)", url: url)
    }

    /// Writes a store's metadata without opening it for use.
    open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw StoreError.unsupported("writing metadata", storeType: "\(self)", url: url)
    }

    // MARK: - The engine

    /// Called once, when the store object has been made; a store of the developer's gets its identifier.
    package func prepare(for url: URL) {}

    /// Lets go of what the store has in memory as a whole; called once, after it was removed from its coordinator.
    package func unloadContents() {}

    /// Reads what the store has in memory as a whole; called once, after `loadMetadata()`.
    package func loadContents() throws {}

    /// Goes on with a file of the store's format at another place; see `NSPersistentStoreCoordinator.setURL(_:for:)`.
    package func relocate(to url: URL) throws { throw unsupported("being moved while it is open") }

    /// The rows that a plan finds, in order.
    package func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row> { throw unsupported("fetching") }

    /// Hands out the rows that a plan finds one by one, in order.
    package func readRows(_ plan: FetchPlan, _ body: (consuming Row) -> Void) throws {
        for row in try fetchRows(plan) { body(row) }
    }

    /// Hands out the rows that a plan finds, one at a time.
    ///
    /// - Parameter body: returns whether to go on. It must not keep the row.
    package func forEachRow(_ plan: FetchPlan, _ body: (CurrentRow) -> Bool) throws {
        let current = ReadRow()
        for row in try fetchRows(plan) {
            current.values = row.values
            guard body(current) else { return }
        }
    }

    /// Hands out the rows that a plan finds in portions, in order. What is done with a portion may read from the store.
    package func forEachPortion(
        _ plan: FetchPlan, of count: Int, _ body: (ContiguousArray<Row>) throws -> Void
    ) throws {
        try body(fetchRows(plan))
    }

    /// The IDs of the rows that a plan finds, in order.
    package func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID] { throw unsupported("fetching") }

    /// How many rows a plan finds.
    package func fetchCount(_ plan: FetchPlan) throws -> Int { throw unsupported("fetching") }

    /// The dictionaries that a plan finds, in order.
    package func fetchDictionaries(_ plan: FetchPlan) throws -> [[String: Any]] { throw unsupported("fetching") }

    /// The row of an object, `nil` when it is gone.
    package func row(for identifier: NSManagedObjectID) throws -> Row? { throw unsupported("fetching") }

    /// The rows of objects; those that are gone are left out.
    package func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try ContiguousArray(identifiers.compactMap { try row(for: $0) })
    }

    /// The destinations of a to-many relationship, in order where it has one.
    package func relatedIdentifiers(
        of relationship: RelationshipLayout, for identifier: NSManagedObjectID
    ) throws -> [NSManagedObjectID] { throw unsupported("fetching") }

    /// The references of a relationship that lead to no object, by the primary keys of the objects that have them. Only files that
    /// other programs change can have any.
    package func danglingReferences(
        of relationship: RelationshipLayout, from entity: EntityLayout
    ) throws -> [Int64: [NSManagedObjectID]] { [:] }

    /// Hands out primary keys for new objects.
    ///
    /// - Returns: an ID for each of the entities, in order.
    package func makePermanentIdentifiers(for entities: [EntityLayout]) throws -> [NSManagedObjectID] {
        throw unsupported("inserting")
    }

    /// Counts on from a key, so that objects that bring their own keys do not meet new ones.
    package func reserveKeys(upTo key: Int64, of root: EntityLayout) throws { throw unsupported("reserving keys") }

    /// Writes a change set in one transaction, or nothing.
    ///
    /// - Throws: `SaveRefusal` for conflicts, an `NSError` for everything else.
    package func save(_ changes: ChangeSet) throws -> SaveResult { throw unsupported("saving") }

    /// Writes a change set and what others have to write, or nothing.
    ///
    /// - Parameter others: saves to other stores, before this one's transaction ends; what it throws ends that too.
    package func save(_ changes: ChangeSet, with others: () throws -> Void) throws -> SaveResult {
        try others()
        return try save(changes)
    }

    /// Writes new rows in one transaction, or nothing.
    ///
    /// - Parameter next: fills in the next row; false when there is none.
    package func insertBatch(_ plan: BatchInsertPlan, next: (inout BatchRow) throws -> Bool) throws -> BatchOutcome {
        throw unsupported("batch insertions")
    }

    /// Changes rows in one transaction, without reading them.
    package func updateBatch(_ plan: BatchUpdatePlan) throws -> BatchOutcome { throw unsupported("batch updates") }

    /// Deletes rows in one transaction, without reading them, as the delete rules say.
    package func deleteBatch(_ plan: BatchDeletePlan) throws -> BatchOutcome { throw unsupported("batch deletions") }

    /// Whether the store keeps a history that can be read.
    package var tracksHistory: Bool { false }

    /// The transactions of the history after a place, in their order.
    package func historyTransactions(after start: HistoryPosition?) throws -> [HistoryTransactionRow] {
        throw unsupported("history")
    }

    /// The changes of the transactions of the history after a place, in their order.
    package func historyChanges(after start: HistoryPosition?) throws -> [HistoryChangeRow] {
        throw unsupported("history")
    }

    /// Deletes the transactions before a place; `nil` for all.
    package func deleteHistory(before end: HistoryPosition?) throws { throw unsupported("history") }

    /// The number of the latest transaction, 0 before the first one.
    package func latestTransaction() throws -> Int64 { throw unsupported("history") }

    /// The number of the oldest transaction that has not been deleted; `nil` where there is no history.
    package func oldestKeptTransaction() throws -> Int64? { nil }

    /// Whether changes of the store are announced, those of other processes included.
    package var postsRemoteChanges: Bool { false }

    /// Keeps what the store holds now readable, for as long as the result is there; `nil` for a store that cannot.
    package func pinGeneration() throws -> AnyObject? { nil }

    /// A number that changes when somebody else saves to the store: another coordinator, or another program.
    package func changeCount() throws -> Int64 { 0 }

    /// What `changeCount()` has to be for what is written now; `nil` where that does not matter. Set by the coordinator.
    package final var expectedChanges: Int64?

    /// Keeps other coordinators and programs from saving to the store, until something is saved here or `letOthersIn()`.
    package func keepOthersOut() throws {}

    /// Lets others save again.
    package func letOthersIn() {}

    /// What `pinGeneration()` gave, while that is to be read; `nil` to read the store as it is. Set by the coordinator.
    package final var readGeneration: AnyObject?

    /// Makes the ID of an object of this store from the last part of its URI, `nil` when it makes no sense.
    package func identifier(for entity: EntityLayout, uriKey: String) -> NSManagedObjectID? {
        guard uriKey.first == "p", let key = Int64(uriKey.dropFirst()), key > 0 else { return nil }
        return NSManagedObjectID(layout: entity, store: identity, key: key)
    }

    /// Takes the store's files away. Nothing to do for stores without files.
    package class func destroy(at url: URL, options: [AnyHashable: Any]?) throws {}

    /// Puts a copy of the store at `source` in the place of the one at `destination`.
    package class func replace(
        at destination: URL, from source: URL, options: [AnyHashable: Any]?
    ) throws { throw StoreError.unsupported("replacing", storeType: "\(self)", url: destination) }

    /// Writes changed metadata; `metadata`'s setter only keeps them.
    package func saveMetadata() throws {}

    private func unsupported(_ work: String) -> NSError {
        StoreError.unsupported(work, storeType: type, url: url)
    }
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
