import Foundation
import SQLiteConnection

/// A store in an SQLite database of Core Data's format.
///
/// The coordinator calls it on its own queue only, to which the connection and everything else here is confined.
package class SQLiteStore: NSPersistentStore, @unchecked Sendable {
    // @unchecked Sendable: confined to the coordinator's queue, like its superclass.

    /// The model to open the store with, where there is no coordinator that has one.
    package var explicitModel: NSManagedObjectModel?

    var opened: OpenStore?
    /// The file of `opened`, where it may be written.
    var fileInUse: OpenFile?

    /// The metadata; what was set is written with the next save.

    package override var type: String { NSSQLiteStoreType }

    /// Whether the database is in memory, without any file: that of a store at `/dev/null` is, which is what Xcode's
    /// templates give previews and tests.
    var isInMemory: Bool { url.map(StoreFiles.isNoFile) ?? false }

    /// The read transactions that query generations hold.
    var readers = PinnedReaders()
    /// Grows with everything that is written through this object.
    private(set) var writeCount = 0

    /// What is open, or an error that says that nothing is.
    func current() throws -> OpenStore {
        if let opened { return opened }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreOperation,
            "The store “\(url?.lastPathComponent ?? "")” is not open: it was not loaded, or was removed.", url: url)
    }

    private var detection: RemoteChangeDetection?

    package override func didAdd(to coordinator: NSPersistentStoreCoordinator) {
        super.didAdd(to: coordinator)
        guard postsRemoteChanges, !isInMemory, let url,
            // A store that cannot be read any more tells so when it is next read.
            let version = try? opened?.connection.integer("PRAGMA data_version")
        else { return }
        detection = RemoteChangeDetection(self, url, version: version)
    }

    package override var postsRemoteChanges: Bool { StoreSettings(options).postsRemoteChanges }

    package override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
        detection?.cancel()
        detection = nil
        close()
        super.willRemove(from: coordinator)
    }

    deinit { close() }

    private func close() {
        if !isReadOnly { opened?.prepareToClose() }
        opened = nil
        fileInUse = nil
    }

    package override func loadMetadata() throws { try openFile() }

    package override func saveMetadata() throws {
        try writing { store in try store.transaction { try store.file.write(storedMetadata) } }
        metadataAreChanged = false
    }

    /// What of the model the store has not, or so that it cannot be told which is which. Everything else can be used.
    package var findings: [SchemaFinding] { opened?.schema.findings ?? [] }

    // MARK: The engine

    package override func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row> {
        try reading { try $0.fetchRows(plan) }
    }

    package override func readRows(_ plan: FetchPlan, _ body: (consuming Row) -> Void) throws {
        try reading { try $0.readRows(plan, body) }
    }

    package override func forEachRow(_ plan: FetchPlan, _ body: (CurrentRow) -> Bool) throws {
        try reading { try $0.forEachRow(plan, body) }
    }

    package override func forEachPortion(
        _ plan: FetchPlan, of count: Int, _ body: (ContiguousArray<Row>) throws -> Void
    ) throws {
        // The first row is read with the check of the structure; what follows is of the same state.
        guard let cursor = try reading({ try $0.rowCursor(plan) }) else { return }
        while true {
            let rows = try cursor.next(count)
            if rows.isEmpty { return }
            try body(rows)
        }
    }

    package override func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
        try reading { try $0.fetchIdentifiers(plan) }
    }

    package override func fetchCount(_ plan: FetchPlan) throws -> Int { try reading { try $0.fetchCount(plan) } }

    package override func fetchDictionaries(_ plan: FetchPlan) throws -> [[String: Any]] {
        try reading { try $0.fetchDictionaries(plan) }
    }

    package override func row(for identifier: NSManagedObjectID) throws -> Row? {
        try reading { store in try store.run("read from") { try store.row(for: identifier) } }
    }

    package override func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try reading { store in try store.run("read from") { try store.rows(for: identifiers) } }
    }

    package override func relatedIdentifiers(
        of relationship: RelationshipLayout, for identifier: NSManagedObjectID
    ) throws -> [NSManagedObjectID] { try reading { try $0.relatedIdentifiers(of: relationship, for: identifier) } }

    package override func danglingReferences(
        of relationship: RelationshipLayout, from entity: EntityLayout
    ) throws -> [Int64: [NSManagedObjectID]] {
        try reading { try $0.danglingReferences(of: relationship, from: entity) }
    }

    package override func makePermanentIdentifiers(for entities: [EntityLayout]) throws -> [NSManagedObjectID] {
        let isSavedLater = persistentStoreCoordinator?.activeTransaction != nil
        return try writing { try $0.makePermanentIdentifiers(for: entities, isSavedLater: isSavedLater) }
    }

    package override func reserveKeys(upTo key: Int64, of root: EntityLayout) throws {
        try writing { try $0.reserveKeys(upTo: key, of: root) }
    }

    package override func save(_ changes: ChangeSet) throws -> SaveResult { try save(changes, with: {}) }

    package override func save(_ changes: ChangeSet, with others: () throws -> Void) throws -> SaveResult {
        let metadata = metadataAreChanged ? storedMetadata : nil
        let result = try writing { try $0.save(changes, metadata: metadata, with: others) }
        metadataAreChanged = false
        return result
    }

    package override var tracksHistory: Bool { StoreSettings(options).tracksHistory && opened?.hasHistory == true }

    package override func historyTransactions(after start: HistoryPosition?) throws -> [HistoryTransactionRow] {
        try reading { try $0.historyTransactions(after: start) }
    }

    package override func historyChanges(after start: HistoryPosition?) throws -> [HistoryChangeRow] {
        try reading { try $0.historyChanges(after: start) }
    }

    package override func deleteHistory(before end: HistoryPosition?) throws {
        try writing { try $0.deleteHistory(before: end) }
    }

    package override func latestTransaction() throws -> Int64 { try current().latestTransaction() }

    package override func oldestKeptTransaction() throws -> Int64? { try current().oldestKeptTransaction() }

    package override func changeCount() throws -> Int64 { try current().changeCount() }

    package override func keepOthersOut() throws { try following { try $0.keepOthersOut() } }

    package override func letOthersIn() { opened?.letOthersIn() }

    package override func pinGeneration() throws -> AnyObject? { try makeGeneration(StoreSettings(options)) }

    package override func insertBatch(
        _ plan: BatchInsertPlan, next: (inout BatchRow) throws -> Bool
    ) throws -> BatchOutcome { try writing { try $0.insertBatch(plan, next: next) } }

    package override func updateBatch(_ plan: BatchUpdatePlan) throws -> BatchOutcome {
        try writing { try $0.updateBatch(plan) }
    }

    package override func deleteBatch(_ plan: BatchDeletePlan) throws -> BatchOutcome {
        try writing { try $0.deleteBatch(plan) }
    }

    // MARK: Files

    package override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try StoreFiles.metadata(at: url)
    }

    package override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        try StoreFiles.write(metadata, at: url)
    }

    package override class func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
        try StoreFiles.destroy(at: url, options: options)
    }

    package override class func replace(at destination: URL, from source: URL, options: [AnyHashable: Any]?) throws {
        try StoreFiles.replace(at: destination, from: source, options: options)
    }

    package override func relocate(to url: URL) throws {
        guard !isInMemory else { return try super.relocate(to: url) }
        // The file must be a store already; none is made here.
        _ = try StoreFiles.metadata(at: url)
        let former = (opened, self.url, storedMetadata, identity.uuid)
        self.url = url
        do { try openFile() } catch {
            (opened, self.url, storedMetadata, identity.uuid) = former
            throw error
        }
    }

    func writable() throws -> OpenStore {
        let store = try current()
        writeCount += 1
        guard isReadOnly else { return store }
        let isHistorys =
            store.history == nil && (options?[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue != true
        throw SQLiteStoreError.readOnly(
            store.file.url,
            reason: isHistorys ? ": it keeps a history, so open it with NSPersistentHistoryTrackingKey" : "")
    }
}

/// An open store: the file, the schema, and what was prepared for each entity.
final class OpenStore {
    let file: StoreFile
    let schema: SQLSchema
    let identity: StoreIdentity
    let external: ExternalData
    /// Which files of large values are being written or removed.
    let journal: FileJournal
    let derived: DerivedValues
    /// The persistent history; nil where the store keeps none.
    let history: HistoryWriter?
    /// Whether the store has the tables of a history, which it may only be read from.
    let hasHistory: Bool
    /// Whether saving has to look at what triggers reported.
    let hasDerivedAttributes: Bool
    /// SQLite's `schema_version`, when the structure was looked at last.
    let structureVersion: Int64
    /// Reads that number.
    var structureStatement: Statement?
    /// Reads the number that changes when others commit.
    var changeStatement: Statement?
    /// Whether a reading is going on, which others are parts of.
    var isReading = false
    /// Whether a transaction is open only to keep others from writing. The next one that writes takes it over.
    var keepsOthersOut = false
    /// What `changeCount()` has to be for what is written; `nil` where that does not matter.
    var expectedChanges: Int64?
    var fetches: [FetchKey: CachedFetch] = [:]
    /// The files of large values that the long transaction wrote or makes superfluous; nil where there is none.
    var filesOfLongTransaction: [ExternalFiles]?
    /// The indexes that the long transaction makes when the rows are there.
    var indexesOfLongTransaction: [IndexDefinition] = []
    private var accesses: [EntityAccess?]

    var connection: Connection { file.connection }

    init(
        file: StoreFile, schema: SQLSchema, identity: StoreIdentity, external: ExternalData, derived: DerivedValues,
        history: HistoryWriter?, hasHistory: Bool, structureVersion: Int64
    ) {
        self.structureVersion = structureVersion
        self.hasHistory = hasHistory
        self.file = file
        self.schema = schema
        self.identity = identity
        self.derived = derived
        self.history = history
        self.external = external
        journal = FileJournal(external)
        hasDerivedAttributes = schema.layout.entities.contains { !$0.derivedSlots.isEmpty }
        accesses = Array(repeating: nil, count: schema.mappings.count)
    }

    /// What was prepared for an entity's rows.
    func access(_ entity: EntityLayout) throws -> EntityAccess {
        let index = entity.number - 1
        if accesses.indices.contains(index), let known = accesses[index] { return known }
        guard let mapping = schema.mapping(of: entity) else {
            if let finding = schema.finding(of: entity) {
                throw finding.error("Objects of “\(entity.name)” cannot be used", url: file.url)
            }
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOperation,
                "The store “\(file.url.lastPathComponent)” does not hold objects of entity “\(entity.name)”.",
                url: file.url)
        }
        let access = EntityAccess(mapping, schema: schema, identity: identity, external: external)
        accesses[index] = access
        return access
    }

    /// Runs work on the connection, and turns what SQLite reports into Core Data's errors.
    func run<Result>(
        _ work: String, fallback: Int = CoreDataErrorCode.sqlite, _ body: () throws -> Result
    ) throws -> Result {
        try file.run(work, fallback: fallback, body)
    }
}
