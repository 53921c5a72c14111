import CoreDataModel
import Foundation
import SQLiteConnection
import StoreEngine

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
