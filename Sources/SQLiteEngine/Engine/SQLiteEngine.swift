import CoreDataModel
import Dispatch
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine
import Synchronization

/// Reads and writes a store in an SQLite database of Core Data's format, in a file or in memory.
///
/// Everything here, including the connection, is confined to the caller: a coordinator calls it under its lock.
package final class SQLiteEngine: OpenableEngine, @unchecked Sendable {
    // @unchecked Sendable: confined as described, including to the listener for changes by others.
    let facts: StoreFacts
    /// The settings in the store's options.
    let settings: StoreSettings
    /// The model with which the store was opened.
    private(set) var model: NSManagedObjectModel?
    /// Whether the database is in memory, without any file.
    let isInMemory: Bool
    /// Whether plans that SQL cannot express are answered without their condition and order.
    let callerEvaluates: Bool

    var opened: OpenStore? {
        didSet {
            latestAnswer = nil
            commits.follow(opened)
        }
    }
    private let commits = CommitCounter()
    /// Whether SQL can express the latest plan; nil before the first one.
    var latestAnswer: AnsweredPlan?
    /// The file of `opened`, if it is writable.
    var fileInUse: OpenFile?
    /// The read transactions that query generations hold.
    var readers = PinnedReaders()
    /// Increases with everything written through this object.
    private(set) var writeCount = 0
    private var detection: RemoteChangeDetection?
    private var observation: (whileIdle: @Sendable (() -> Bool) -> Bool?, handler: @Sendable () -> Void)?
    var pageCache: PageCache

    package var readGeneration: AnyObject?
    package var expectedChanges: Int64?

    /// - Parameters:
    ///   - facts: the store's location and options.
    ///   - isInMemory: whether there is no file; `nil` to derive it from the URL: `/dev/null`, which Xcode's templates
    ///     use for previews and tests, is not a file.
    ///   - callerEvaluates: whether the caller applies conditions and orders that SQL cannot express.
    package init(_ facts: StoreFacts, isInMemory: Bool? = nil, callerEvaluates: Bool = false) {
        self.facts = facts
        settings = StoreSettings(facts.options)
        self.isInMemory = isInMemory ?? facts.url.map(\.isNoFile) ?? false
        self.callerEvaluates = callerEvaluates
        pageCache = PageCache(settings: settings, isInMemory: self.isInMemory)
    }

    deinit {
        commits.follow(nil)
        endFile()
    }

    // MARK: Opening and closing

    /// Opens the store, creating it if it does not exist.
    ///
    /// - Throws: the errors of ``openFile(_:)``.
    package func open(_ model: NSManagedObjectModel?) throws {
        self.model = model
        try openFile(model)
    }

    /// Closes the store. The log is moved into the file, as far as no connection reads an older state.
    package func close() {
        detection?.cancel()
        detection = nil
        observation = nil
        endFile()
    }

    private func endFile() {
        opened?.idleReaders.close()
        if !facts.isReadOnly { opened?.prepareToClose() }
        opened = nil
        fileInUse = nil
    }

    /// Continues with a file of the store's format at another place.
    package func relocate(to url: URL) throws {
        guard !isInMemory else {
            throw StoreError.unsupported("being moved while it is open", storeType: NSInMemoryStoreType, url: facts.url)
        }
        // The file must be a store already; it is not created here.
        _ = try StoreFiles.metadata(at: url)
        let former = (opened, facts.url, facts.metadata, facts.identity.uuid, facts.isReadOnly)
        facts.url = url
        do { try openFile(model) } catch {
            (opened, facts.url, facts.metadata, facts.identity.uuid, facts.isReadOnly) = former
            throw error
        }
        // Generations pinned from now on are of the new file.
        readers = PinnedReaders()
        former.0?.idleReaders.close()
        if !former.4 { former.0?.prepareToClose() }
        // The former folder is watched no longer.
        detection?.cancel()
        detection = nil
        if let observation { observeChanges(whileIdle: observation.whileIdle, handler: observation.handler) }
    }

    /// Writes the metadata.
    package func saveMetadata() throws {
        try writing { store in try store.transaction { try store.file.write(facts.metadata) } }
        facts.metadataAreChanged = false
    }

    /// The open store; it throws if no store is open.
    func current() throws -> OpenStore {
        if let opened { return opened }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreOperation,
            "The store “\(facts.url?.lastPathComponent ?? "")” is not open: it was not loaded, or was removed.",
            url: facts.url)
    }

    func writable() throws -> OpenStore {
        let store = try current()
        writeCount += 1
        guard facts.isReadOnly else { return store }
        throw SQLiteStoreError.readOnly(store.file.url, reason: facts.readOnlyReason)
    }
}

extension SQLiteEngine {
    /// Like `writing(_:)`, for work that may write many pages: SQLite keeps more of them in memory, and they are not
    /// reported to those who watch the files one by one.
    func writingMuch<Result>(_ work: (OpenStore) throws -> Result) throws -> Result {
        guard let detection else { return try writingManyPages(work) }
        return try detection.withoutReports { try writingManyPages(work) }
    }

    private func writingManyPages<Result>(_ work: (OpenStore) throws -> Result) throws -> Result {
        try writing { store in
            // The parts of a long transaction get no more pages: a migration writes its rows in the order of their
            // keys, and keeps its memory small.
            let isPart = store.connection.isInTransaction && !store.locksOutWriters
            return try isPart ? work(store) : pageCache.writing(store.connection) { try work(store) }
        }
    }
}

extension SQLiteEngine: ChangeNotifyingEngine {
    package var changeNotifications: (any ChangeNotifyingEngine)? { settings.postsRemoteChanges ? self : nil }

    package func observeChanges(
        whileIdle: @escaping @Sendable (() -> Bool) -> Bool?, handler: @escaping @Sendable () -> Void
    ) {
        observation = (whileIdle, handler)
        guard !isInMemory, let url = facts.url,
            // If this fails, the next reading reports the error.
            let version = try? opened?.connection.integer("PRAGMA data_version")
        else { return }
        detection = RemoteChangeDetection(
            url, version: version, counting: commits.count, whileIdle: whileIdle, handler: handler)
    }
}

extension SQLiteEngine {
    /// A generation of the store's present content, shared by all callers until something is written.
    func makeGeneration(_ settings: StoreSettings) throws -> PinnedReader? {
        try following { try makeGeneration(of: $0, settings) }
    }

    private func makeGeneration(of store: OpenStore, _ settings: StoreSettings) throws -> PinnedReader? {
        guard !store.connection.isInTransaction || store.locksOutWriters else { return nil }
        let others = try store.changeCount()
        if let known = readers.latest(own: writeCount, others: others) { return known }
        guard readers.count() < settings.maximumReaders else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOperation,
                "The store “\(store.file.url.lastPathComponent)” has \(settings.maximumReaders) query generations pinned "
                    + "already; no more can be.", url: store.file.url,
                suggestion: "Let contexts and tokens go, or raise NSPersistentStoreConnectionPoolMaxSizeKey.")
        }
        guard let reader = try store.pinnedReader(timeout: settings.timeout) else { return nil }
        readers.add(reader, own: writeCount, others: others)
        return reader
    }
}

/// Counts the commits of others to an engine's open store, for the thread that watches the file.
///
/// The watching thread does not refer to the engine: a weak reference would make everything that retains the engine
/// slower, and each request does.
final class CommitCounter: @unchecked Sendable {
    // @unchecked Sendable: the lock guards `store`. The connection is used by one thread at a time, because counting is
    // done while no other thread uses the engine, and `follow` waits for a count that has begun.
    private let lock = Mutex(())
    private var store: OpenStore?

    /// Counts in another store from now on, or, once the engine is closed, in none.
    func follow(_ store: OpenStore?) { lock.withLock { _ in self.store = store } }

    /// SQLite's number that changes when another connection commits; nil while it is unknown.
    func count() -> Int64? {
        lock.withLock { _ in
            // While other writers are locked out, there are no commits in between: the number is current.
            guard let store, !store.connection.isInTransaction || store.locksOutWriters else { return nil }
            // If this fails, the next reader gets the error.
            return try? store.connection.integer("PRAGMA data_version")
        }
    }
}

/// How many of the file's pages SQLite keeps in memory: 2 MB of them at first, its default, and more where that saves
/// reading and writing pages again and again (`PRAGMA cache_size`). A size among the store's pragmas is kept as it is.
struct PageCache {
    /// Whether the developer's pragmas say the size, or there is no file.
    private let isFixed: Bool
    private var readings = 0

    /// How often a store is read until it keeps more pages.
    static let manyReadings = 1_000
    /// The size for a store that is read often, in kilobytes.
    static let sizeForReadings: Int64 = 8_000
    /// The size while many rows are written, in kilobytes. Rows arrive at all places of an index: with few pages in
    /// memory, SQLite writes the same page to the log and reads it back for many of them.
    static let sizeForWriting: Int64 = 16_000

    init(settings: StoreSettings, isInMemory: Bool) {
        isFixed = isInMemory || settings.pragmas.keys.contains { $0.lowercased() == "cache_size" }
    }

    /// Counts the readings of another connection, which has SQLite's size.
    mutating func beginAnew() { readings = 0 }

    /// Keeps more pages from the reading on that makes them many. A program that reads everything once was faster with
    /// few.
    mutating func willRead(_ connection: Connection) {
        guard readings < Self.manyReadings, !isFixed else { return }
        readings += 1
        // The size makes no difference to what is read.
        if readings == Self.manyReadings { try? connection.setCacheSize(-Self.sizeForReadings) }
    }

    /// Keeps more pages while many rows are written, and frees them afterwards.
    func writing<Result>(_ connection: Connection, _ work: () throws -> Result) throws -> Result {
        guard !isFixed, let former = try? connection.integer("PRAGMA cache_size") else { return try work() }
        try? connection.setCacheSize(-Self.sizeForWriting)
        defer { try? connection.setCacheSize(former) }
        return try work()
    }
}

extension Connection {
    // A number of pages, or, if negative, of kilobytes.
    fileprivate func setCacheSize(_ size: Int64) throws { try execute("PRAGMA cache_size = \(size)") }
}

/// Detects changes of a store's file by others.
final class RemoteChangeDetection: @unchecked Sendable {
    // @unchecked Sendable: `watcher` is set once before the object is shared; `version` belongs to the thread
    // that uses the engine, as the connection does; `round` to `queue`.
    private let counting: () -> Int64?
    private let whileIdle: @Sendable (() -> Bool) -> Bool?
    private let handler: @Sendable () -> Void
    /// One queue for all stores of the process: with a queue for each, writes to a folder with many stores would create
    /// a thread for each. Code on this queue never waits.
    private static let queue = DispatchQueue(label: "RemoteChangeDetection")
    private var queue: DispatchQueue { Self.queue }
    private var watcher: StoreWatcher?
    private var version: Int64
    /// Counts the reported writes: the repeated checks after one of them end when the next one comes.
    private var round = 0

    /// When to check again after a write that has changed nothing yet, in milliseconds: a log is written before the
    /// index that makes its content visible.
    private static let delays = [2, 10, 50, 250]
    /// When to try again while another thread uses the engine, in milliseconds.
    private static let busyDelay = 20

    /// - Parameters:
    ///   - url: the location of the store.
    ///   - version: the present value of `counting`.
    ///   - counting: returns SQLite's `data_version` of the connection, which changes when others commit; nil while it
    ///     is unknown. It is called within `whileIdle`.
    ///   - whileIdle: runs a check unless another thread uses the engine; otherwise it returns `nil`.
    ///   - handler: called after others have changed the store.
    init(
        _ url: URL, version: Int64, counting: @escaping () -> Int64?,
        whileIdle: @escaping @Sendable (() -> Bool) -> Bool?,
        handler: @escaping @Sendable () -> Void
    ) {
        (self.version, self.counting, self.whileIdle, self.handler) = (version, counting, whileIdle, handler)
        watcher = StoreWatcher(url, on: queue) { [weak self] in self?.fileDidChange() }
    }

    /// Stops watching.
    func cancel() { watcher?.cancel() }

    /// Runs work that writes much to the store, without a report of each write.
    func withoutReports<Result>(_ work: () throws -> Result) rethrows -> Result {
        guard let watcher else { return try work() }
        return try watcher.withoutReports(work)
    }

    private func fileDidChange() {
        round += 1
        look(Self.delays[...], round)
    }

    private func look(_ delays: ArraySlice<Int>, _ round: Int) {
        guard round == self.round else { return }
        let isChanged = whileIdle {
            guard let now = counting(), now != version else { return false }
            version = now
            return true
        }
        guard let isChanged else { return look(delays, round, after: Self.busyDelay) }
        if isChanged { return handler() }
        if let delay = delays.first { look(delays.dropFirst(), round, after: delay) }
    }

    private func look(_ delays: ArraySlice<Int>, _ round: Int, after delay: Int) {
        queue.asyncAfter(deadline: .now() + .milliseconds(delay)) { [weak self] in self?.look(delays, round) }
    }
}

/// Stores in an SQLite database of Core Data's format.
package enum SQLiteFormat: StoreFormat {
    package static let type = NSSQLiteStoreType

    package static func makeEngine(_ facts: StoreFacts) -> any OpenableEngine { SQLiteEngine(facts) }

    /// Whether this process has a store open, so that only SQLite may open its file.
    package static func hasOpen(_ url: URL) -> Bool { OpenFiles.contains(url.path) }

    package static func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
        try StoreFiles.metadata(at: url)
    }

    package static func isEmpty(at url: URL) throws -> Bool { try StoreFile.openForReading(url).isEmpty() }

    package static func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        try StoreFiles.write(metadata, at: url, options: options)
    }

    package static func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
        try StoreFiles.destroy(at: url, options: options)
    }

    package static func replace(at destination: URL, from source: URL, options: [AnyHashable: Any]?) throws {
        try StoreFiles.replace(at: destination, from: source, options: options)
    }
}

/// Stores in memory, which are lost with their coordinator. They use the same engine on a database without a file, so
/// that a fetch finds the same as in a file.
package enum InMemoryFormat: StoreFormat {
    package static let type = NSInMemoryStoreType

    package static func makeEngine(_ facts: StoreFacts) -> any OpenableEngine {
        SQLiteEngine(facts, isInMemory: true, callerEvaluates: true)
    }

    package static func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
        StoreMetadata.ofNoModel(type: type)
    }

    package static func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        throw unsupported("writing metadata while it is not open")
    }

    package static func destroy(at url: URL, options: [AnyHashable: Any]?) throws {}

    package static func replace(at destination: URL, from source: URL, options: [AnyHashable: Any]?) throws {
        throw unsupported("replacing")
    }

    private static func unsupported(_ work: String) -> NSError {
        StoreError.unsupported(work, storeType: type, url: nil)
    }
}
