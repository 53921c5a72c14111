import CoreDataModel
import PostgresConnection
import StoreEngine

/// The transactions that query generations hold, each on a connection of its own.
struct PinnedReaders {
    private struct WeakReader { weak var reader: OpenDatabase? }

    private var all: [WeakReader] = []
    private var latest = WeakReader()
    /// Which transactions the latest reader sees.
    private var latestSnapshot = ""

    /// The latest reader, if nothing was written since.
    func latest(_ snapshot: String) -> OpenDatabase? {
        guard latestSnapshot == snapshot, let reader = latest.reader, reader.connection.isUsable else {
            return nil
        }
        return reader
    }

    mutating func add(_ reader: OpenDatabase, _ snapshot: String) {
        note(reader)
        latest = WeakReader(reader: reader)
        latestSnapshot = snapshot
    }

    /// Adds a reader that is not shared.
    mutating func note(_ reader: OpenDatabase) {
        all.removeAll { $0.reader == nil }
        all.append(WeakReader(reader: reader))
    }

    /// Ends the transactions, which keep others from dropping the tables.
    mutating func endAll() {
        for reader in all { reader.reader?.endGeneration() }
        self = PinnedReaders()
    }
}

extension OpenDatabase {
    /// Ends the transaction of a generation without waiting for the server. Outside of it, the connection would read
    /// another state.
    fileprivate func endGeneration() {
        hasEnded = true
        _ = try? connection.sendAhead("ROLLBACK")
    }

    private static let snapshot = "SELECT pg_current_snapshot()::text"

    /// Which transactions are visible now.
    func currentSnapshot() throws -> String {
        try reading("read from") { try connection.query(Self.snapshot).string(0, 0) }
    }

    /// The same store through a connection of its own, in a transaction that keeps seeing what has been committed so
    /// far.
    func pinnedReader(
        _ pool: ReaderPool, in generationPlace: GenerationPlace? = nil
    ) throws -> (reader: OpenDatabase, snapshot: String) {
        try run("read from") {
            var losses = Losses(place.failover)
            while true {
                do {
                    let (connection, timeline) = try pool.take(timeline)
                    return try pinned(on: connection, timeline, in: generationPlace) { pool.give($0, timeline) }
                } catch let error as PostgresError
                    where error.isConnectionFailure || error.isOnStandby || error.isServerTrouble
                {
                    // Nothing was read yet.
                    pool.removeAll()
                    _ = try losses.wait(after: error)
                }
            }
        }
    }

    /// The same store through a connection to any server that has it.
    func pinnedReader(
        on other: PostgresConnection, in generationPlace: GenerationPlace? = nil,
        giveBack: @escaping (PostgresConnection) -> Void
    ) throws -> (reader: OpenDatabase, snapshot: String) {
        // It is not waited for: the store can be read elsewhere.
        try run("read from") {
            try pinned(on: other, timeline, waits: false, in: generationPlace, giveBack: giveBack)
        }
    }

    private func pinned(
        on other: PostgresConnection, _ timeline: String, waits: Bool = true, in generationPlace: GenerationPlace?,
        giveBack: @escaping (PostgresConnection) -> Void
    ) throws -> (reader: OpenDatabase, snapshot: String) {
        // The first statement after the locks determines what the transaction sees.
        let results = try locks.begin(other, waits: waits, [.init(Self.snapshot), generationRequest])
        var configuration = configuration
        configuration.isReadOnly = false
        let reader = try OpenDatabase(
            configuration, isPinned: true,
            // The place is released together with the connection.
            giveBack: { connection in withExtendedLifetime(generationPlace) { giveBack(connection) } },
            statements: statements, connection: other)
        reader.timeline = timeline
        reader.searches = searches
        // The reader has saved nothing, and sees what this store has saved.
        for index in searches.indexes where index.mayWrite {
            reader.searches.current[index.number] = searches.current[index.number].map { $0 + saves.own }
        }
        try checkGeneration(results[1])
        return (reader, results[0].string(0, 0))
    }
}

extension OpenDatabase {
    /// The channel on which programs notify each other of saves. The payload is the schema.
    static let channel = "pippin"

    /// Notifies others of the change once the transaction is committed, if there are listeners. One of the last
    /// statements of a transaction.
    func notification() -> PostgresConnection.Request {
        notifications.mustNotifyOwnProcess = notifications.channel != nil
        var parameters = PostgresParameters()
        parameters.append(place.schema)
        guard let identity = notifications.channel?.identity(place.schema) else {
            let text = notifications.statement ?? Presence.notifying(place.schema)
            notifications.statement = text
            return .init(text, parameters)
        }
        parameters.append(identity)
        return .init(Presence.notifyingOthers, parameters)
    }

    /// Takes the answer to ``notification()``.
    func noteNotified(_ answer: PostgresResult?) {
        // An earlier save of a long transaction may not have notified others.
        guard longTransaction == nil, let answer, answer.count == 1 else { return }
        if !answer.isNull(0, 0) { notifications.mustNotifyOwnProcess = false }
    }

    /// Notifies the process's own listeners of a save for which the server sends no notification.
    func notifyOwnProcess() {
        guard notifications.mustNotifyOwnProcess else { return }
        notifications.mustNotifyOwnProcess = false
        notifications.channel?.noteOwnSave(place.schema, from: connection.processID)
    }
}
