import CoreDataModel
import Foundation
import SQLiteConnection
import StoreEngine

/// Reads and writes a store in an SQLite database of Core Data's format, in a file or in memory.
///
/// The connection and everything else here is confined to the caller: a coordinator calls it under its lock.
package final class SQLiteEngine: OpenableEngine, @unchecked Sendable {
    // @unchecked Sendable: confined as said, which also holds for those who listen to changes of others.
    let facts: StoreFacts
    /// What the options of the store ask for.
    let settings: StoreSettings
    /// The model that the store was opened with.
    private(set) var model: NSManagedObjectModel?
    /// Whether the database is in memory, without any file.
    let isInMemory: Bool
    /// Whether a plan that SQL cannot say is answered without its condition and order.
    let hasEvaluatingAsker: Bool

    var opened: OpenStore? { didSet { latestAnswer = nil } }
    /// Whether SQL can say what was asked for last; nil before anybody has asked.
    var latestAnswer: AnsweredPlan?
    /// The file of `opened`, where it may be written.
    var fileInUse: OpenFile?
    /// The read transactions that query generations hold.
    var readers = PinnedReaders()
    /// Grows with everything that is written through this object.
    private(set) var writeCount = 0
    private var detection: RemoteChangeDetection?

    package var readGeneration: AnyObject?
    package var expectedChanges: Int64?

    /// - Parameters:
    ///   - facts: where the store is, and how it is to be opened.
    ///   - isInMemory: whether there is no file; `nil` for what the URL says: `/dev/null`, which Xcode's templates give previews and
    ///     tests, is none.
    ///   - hasEvaluatingAsker: whether the caller applies the conditions and orders that SQL cannot say.
    package init(_ facts: StoreFacts, isInMemory: Bool? = nil, hasEvaluatingAsker: Bool = false) {
        self.facts = facts
        settings = StoreSettings(facts.options)
        self.isInMemory = isInMemory ?? facts.url.map(\.isNoFile) ?? false
        self.hasEvaluatingAsker = hasEvaluatingAsker
    }

    deinit { endFile() }

    // MARK: Opening and closing

    /// Opens the store, making it first where there is none.
    ///
    /// - Throws: what ``openFile(_:)`` throws.
    package func open(_ model: NSManagedObjectModel?) throws {
        self.model = model
        try openFile(model)
    }

    /// Closes what is open. The log is moved into the file, as far as nobody reads an older state.
    package func close() {
        detection?.cancel()
        detection = nil
        endFile()
    }

    private func endFile() {
        opened?.idleReaders.close()
        if !facts.isReadOnly { opened?.prepareToClose() }
        opened = nil
        fileInUse = nil
    }

    /// Goes on with a file of the store's format at another place.
    package func relocate(to url: URL) throws {
        guard !isInMemory else {
            throw StoreError.unsupported("being moved while it is open", storeType: NSInMemoryStoreType, url: facts.url)
        }
        // The file must be a store already; none is made here.
        _ = try StoreFiles.metadata(at: url)
        let former = (opened, facts.url, facts.metadata, facts.identity.uuid)
        facts.url = url
        do { try openFile(model) } catch {
            (opened, facts.url, facts.metadata, facts.identity.uuid) = former
            throw error
        }
    }

    /// Writes the metadata.
    package func saveMetadata() throws {
        try writing { store in try store.transaction { try store.file.write(facts.metadata) } }
        facts.metadataAreChanged = false
    }

    /// What is open, or an error that says that nothing is.
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
        let isHistorys =
            store.history == nil && (facts.options?[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue != true
        throw SQLiteStoreError.readOnly(
            store.file.url,
            reason: isHistorys ? ": it keeps a history, so open it with NSPersistentHistoryTrackingKey" : "")
    }
}

extension SQLiteEngine: NewsEngine {
    package var news: (any NewsEngine)? { settings.postsRemoteChanges ? self : nil }

    package func listen(asking: @escaping @Sendable (() -> Bool) -> Bool?, heard: @escaping @Sendable () -> Void) {
        guard !isInMemory, let url = facts.url,
            // The next reading reports a store that cannot be read any more.
            let version = try? opened?.connection.integer("PRAGMA data_version")
        else { return }
        let counting = { [weak self] () -> Int64? in
            guard let opened = self?.opened, !opened.connection.isInTransaction else { return nil }
            // The next reader gets the error of a store that cannot be read now.
            return try? opened.connection.integer("PRAGMA data_version")
        }
        detection = RemoteChangeDetection(url, version: version, counting: counting, asking: asking, heard: heard)
    }
}
