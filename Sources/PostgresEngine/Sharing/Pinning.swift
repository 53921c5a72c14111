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
    fileprivate func pinnedReader(_ pool: ReaderPool) throws -> (reader: OpenDatabase, snapshot: String) {
        try run("read from") {
            let other = try pool.take()
            // The first statement of the transaction says what it sees.
            let snapshot = try other.pipeline([.init(other.beginning(.snapshot)), .init(Self.snapshot)])[1].string(0, 0)
            let reader = try OpenDatabase(
                place: place, schema: schema, identity: identity, settings: settings, isPooled: isPooled,
                hasHistory: hasHistory, generation: generation, isPinned: true,
                pool: pool, statements: statements, connection: other)
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
        let (reader, snapshot) = try store.pinnedReader(readerPool(store))
        readers.add(reader, snapshot)
        return reader
    }

    /// The connections that read, while others write.
    private func readerPool(_ store: OpenDatabase) -> ReaderPool {
        if let pool { return pool }
        let made = ReaderPool(store.place, store.settings, isPooled: store.isPooled)
        pool = made
        return made
    }

    /// What a plan finds, in portions: from a connection of its own, so that rows can be written meanwhile.
    package func portions(_ plan: FetchPlan) throws -> any RowPortions {
        let store = try current()
        let generation = readGeneration as? OpenDatabase
        // In a transaction of its own, a store reads what it has written.
        if generation == nil, store.isInLongTransaction || store.keepsOthersOut {
            return RowList(try fetchRows(plan))
        }
        let reader =
            try generation ?? (store.place.session == nil ? store.pinnedReader(readerPool(store)).reader : store)
        return try reader.cursor(plan) ?? RowList(try fetchRows(plan))
    }
}

/// Rows that are all there already.
private final class RowList: RowPortions {
    private var rest: ArraySlice<Row>

    init(_ rows: ContiguousArray<Row>) { rest = Array(rows)[...] }

    func next(_ count: Int) -> ContiguousArray<Row> {
        defer { rest = rest.dropFirst(count) }
        return ContiguousArray(rest.prefix(count))
    }
}
