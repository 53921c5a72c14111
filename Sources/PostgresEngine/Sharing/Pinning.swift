import CoreDataModel
import PostgresConnection
import StoreEngine

/// The transactions that query generations hold, each with a connection of its own.
struct PinnedReaders {
    private struct WeakReader { weak var reader: OpenDatabase? }

    private var readers: [WeakReader] = []
    /// Which transactions the latest reader sees.
    private var latestSnapshot = ""

    /// How many readers are in use.
    mutating func count() -> Int {
        readers.removeAll { $0.reader == nil }
        return readers.count
    }

    /// The latest reader, if nothing was written since.
    func latest(_ snapshot: String) -> OpenDatabase? {
        latestSnapshot == snapshot ? readers.last?.reader : nil
    }

    mutating func add(_ reader: OpenDatabase, _ snapshot: String) {
        readers.append(WeakReader(reader: reader))
        latestSnapshot = snapshot
    }
}

extension OpenDatabase {
    private static let snapshot = "SELECT pg_current_snapshot()::text"

    /// Which transactions are visible now.
    fileprivate func currentSnapshot() throws -> String {
        try run("read from") { try connection.query(Self.snapshot).string(0, 0) }
    }

    /// The same store through a connection of its own, in a transaction that goes on seeing what has been committed so far.
    fileprivate func pinnedReader() throws -> (reader: OpenDatabase, snapshot: String) {
        try run("read from") {
            let other = try DatabaseOpening.connect(place, settings, isPooled: isPooled)
            try other.begin(.snapshot)
            // The first statement of the transaction says what it sees.
            let snapshot = try other.query(Self.snapshot).string(0, 0)
            let reader = try OpenDatabase(
                place: place, schema: schema, identity: identity, settings: settings, isPooled: isPooled,
                hasHistory: hasHistory, generation: generation, isPinned: true, connection: other)
            return (reader, snapshot)
        }
    }
}

extension PostgresEngine {
    /// A generation of what the store holds now, one for all who ask until something is written.
    func makeGeneration() throws -> AnyObject? {
        let store = try current()
        guard !store.isInLongTransaction else { return nil }
        if let known = readers.latest(try store.currentSnapshot()) { return known }
        guard readers.count() < store.settings.maximumReaders else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOperation,
                "The store “\(store.place.name)” has \(store.settings.maximumReaders) query generations pinned already; no more can "
                    + "be.", url: store.place.shownURL,
                suggestion: "Let contexts and tokens go, or raise NSPersistentStoreConnectionPoolMaxSizeKey.")
        }
        let (reader, snapshot) = try store.pinnedReader()
        readers.add(reader, snapshot)
        return reader
    }
}
