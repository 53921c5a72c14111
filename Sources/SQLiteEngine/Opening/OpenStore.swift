import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine
import Synchronization

/// An open store: the file, the schema, and what was prepared for each entity.
final class OpenStore {
    let file: StoreFile
    let schema: SQLSchema
    let identity: StoreIdentity
    let external: ExternalData
    /// Records which files of large values are being written or removed.
    let journal: FileJournal
    let derived: DerivedValues
    /// The persistent history; nil if the store keeps none.
    let history: HistoryWriter?
    /// Whether the store has the tables of a history. If this program does not record it, the store may only be read.
    let hasHistory: Bool
    /// Whether a save must look at the reports of triggers.
    let hasDerivedAttributes: Bool
    /// The triggers of derived attributes, if a transaction can compute their aggregates at its end; otherwise none.
    private(set) lazy var deferrableTriggers = (try? findDeferrableTriggers()) ?? []
    /// Whether a transaction collects the objects whose aggregates it computes at its end.
    var collectsAggregates = false
    /// SQLite's `schema_version` when the structure was last inspected.
    let structureVersion: Int64
    /// The statement that reads that number.
    var structureStatement: Statement?
    /// The statement that reads the number which changes with others' commits.
    var changeStatement: Statement?
    /// Whether a reading is in progress, which others join.
    var isReading = false
    /// Whether a transaction is open only to keep others from writing. The next writing transaction takes it over.
    var locksOutWriters = false
    /// Whether the journal is a write-ahead log; nil before it was first needed.
    var isLogged: Bool?
    /// The value that `changeCount()` must have for the next write; `nil` if any value will do.
    var expectedChanges: Int64?
    var fetches: [FetchKey: CachedFetch] = [:]
    /// Whether others were kept out before the preview began; nil without a preview.
    var wasLockedBeforePreview: Bool?
    /// The files of large values that the long transaction wrote or makes superfluous; nil without such a transaction.
    var filesOfLongTransaction: [ExternalFiles]?
    /// The indexes that the long transaction will create once the rows exist.
    var indexesOfLongTransaction: [IndexDefinition] = []
    /// The triggers that the long transaction will create once the rows exist.
    var triggersOfLongTransaction: [TriggerDefinition] = []
    /// The store as it is used again after the long transaction, if that writes derived attributes like others.
    var usualStore: OpenStore?
    /// The full-text indexes of the entities that the model has searched.
    var searchIndexes: [SearchIndex] = []
    /// The value of `changeCount()` when each of these was found to be up to date; not known of all.
    var searchedChanges: [String: Int64] = [:]
    /// Readers of former query generations, for use by others.
    let idleReaders = IdleReaders()
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

    /// The access that was prepared for an entity's rows.
    func access(_ entity: EntityLayout) throws -> EntityAccess {
        let index = entity.number - 1
        if accesses.indices.contains(index), let known = accesses[index] { return known }
        guard let mapping = schema.mapping(of: entity) else {
            try schema.checkCurrent(entity)
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

    /// Runs work on the connection, and converts SQLite's errors to Core Data's.
    func run<Result>(
        _ work: String, fallback: Int = CoreDataErrorCode.sqlite, _ body: () throws -> Result
    ) throws -> Result {
        try file.run(work, fallback: fallback, body)
    }
}

/// A store as it was at one moment: a reader in a transaction of its own, which ends when this object is released.
final class PinnedReader {
    private(set) var store: OpenStore
    private let idle: IdleReaders

    init(_ store: OpenStore, from idle: IdleReaders) { (self.store, self.idle) = (store, idle) }

    deinit {
        // If rows are still being read, the reading holds the reader alone, and closes it.
        if isKnownUniquelyReferenced(&store) { idle.give(store) }
    }
}

/// Unused readers of a store, kept because opening one takes ten times as long as a small reading with it.
final class IdleReaders: @unchecked Sendable {
    // @unchecked Sendable: the lock guards the readers. A reader in here is unused, and is passed from one user to the
    // next.

    /// Few programs read more states at once, and each reader keeps files open and pages in memory.
    private static let limit = 4

    private let lock = NSLock()
    private var readers: [OpenStore] = []
    private var isClosed = false

    /// The reader that was used last.
    func take() -> OpenStore? { lock.withLock { readers.popLast() } }

    /// Takes a reader back, ending its transaction, so that the log can be moved into the file.
    ///
    /// - Parameter reader: a reader that only the caller holds.
    func give(_ reader: OpenStore) {
        guard (try? reader.connection.rollback()) != nil, !reader.connection.isInTransaction else { return }
        lock.withLock {
            if !isClosed, readers.count < Self.limit { readers.append(reader) }
        }
    }

    /// Closes all readers, and those that are returned later.
    func close() {
        // They are released outside the lock.
        _ = lock.withLock {
            defer { readers = [] }
            isClosed = true
            return readers
        }
    }
}

/// The files of stores that this process has open for writing. When the process ends, the content of their logs is
/// moved into them, so that the main file alone has all rows, even if the stores were not released.
enum FilesAtExit {
    private static let paths = Mutex<[String: Int]>([:])
    private static let process = ProcessInfo.processInfo.processIdentifier
    private static let isRegistered: Bool = {
        _ = process
        return atexit { FilesAtExit.moveLogs() } == 0
    }()

    static func add(_ path: String) {
        _ = isRegistered
        paths.withLock { $0[path, default: 0] += 1 }
    }

    static func remove(_ path: String) {
        paths.withLock { paths in
            let count = (paths[path] ?? 0) - 1
            paths[path] = count > 0 ? count : nil
        }
    }

    private static func moveLogs() {
        // A forked child must not touch its parent's locks; and another thread may be using the list.
        guard getpid() == process, let open = paths.withLockIfAvailable({ Array($0.keys) }) else { return }
        for path in open {
            // A connection of its own, since other threads may still be using theirs. It does not block.
            let log = try? FileManager.default.attributesOfItem(atPath: path + "-wal")
            guard (log?[.size] as? NSNumber)?.intValue ?? 0 > 0 else { continue }
            guard let connection = try? Connection(path: path, mode: .readWrite, busyTimeout: 0) else { continue }
            // SQLite knows of the log only after it has read something.
            _ = try? connection.integer("PRAGMA schema_version")
            try? connection.checkpoint(.passive)
        }
    }
}

/// A store's file that is open for writing, as long as this object exists.
final class OpenFile: Sendable {
    private let path: String

    init(_ path: String) {
        self.path = path
        FilesAtExit.add(path)
    }

    deinit { FilesAtExit.remove(path) }
}

extension OpenStore {
    /// Ends open statements, and moves the log into the file, as far as no connection reads an older state. The very
    /// last connection does that by itself when it is closed; others do not.
    func prepareToClose() {
        readmitWriters()
        guard connection.mode == .create || connection.mode == .readWrite, !connection.isInTransaction else { return }
        // Pages that cannot be moved stay in the log, and are still valid.
        try? connection.checkpoint(.passive)
        removeUnread()
        journal.settle()
    }
}
