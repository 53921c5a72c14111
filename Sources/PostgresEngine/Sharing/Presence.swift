import PostgresConnection

/// That somebody listens to what is saved to a store, said by locks of the session that listens: they end with it, however it ends.
///
/// There are three kinds of locks, each with a second number.
///
/// - `listening`, with the store's number, is held together by all who listen. Who saves tries to hold it alone, and lets go of it in the same
///   statement: where that works, nobody listens.
/// - `alone`, with a number that is made up, is held by a session before which nobody listened. What its own process saves need not be
///   told by the server while nobody else listens.
/// - `beside`, with the number of such a session, is held by all who have come after it. The process of that session tries this one.
///
/// **Nothing is lost.** Who comes listens first (`LISTEN`), then takes its locks, and looks last for transactions that hold the store's lock of those who save
/// (``OpenDatabase/lock(_:alone:)``), which each does from its beginning to its end. A transaction that tries after the locks are taken finds somebody, and tells.
/// One that has tried before is either at its end when the newcomer looks, so that whatever is read from then on has it, or is seen by it; the newcomer
/// waits for it, and takes it for a change. A session that was first and is gone does not hold `alone` any more, so that its process tells again; if it was there still when
/// a transaction tried, and is gone when a newcomer looks for it, the transaction has begun before, and is seen as any other one.
package struct Presence {
    private static let (listening, alone, beside) = (747_748, 747_749, 747_750)

    /// The store's number.
    private let store: Int32
    /// The number under which the session is the first one; nil where it is not.
    package private(set) var identity: Int32?
    /// The sessions that were the first ones, and are there.
    private var firsts: [Int64] = []
    /// Transactions that may not have told of what they save.
    private var open: Set<String> = []

    /// Whether there may be saves under way that nobody tells of.
    package var isBehind: Bool { !open.isEmpty }

    // MARK: Who listens

    /// Takes the locks of a session that listens already.
    ///
    /// - Parameters:
    ///   - schema: the store's.
    ///   - connection: the session. It must stay the same: locks mean nothing where a pool gives each statement another one.
    ///   - maybeAlone: whether it may be the first one.
    /// - Throws: the server's errors. The session is of no use then.
    package init(_ schema: String, _ connection: PostgresConnection, maybeAlone: Bool) throws {
        store = OpenDatabase.lockNumber(of: schema)
        _ = try connection.query("SELECT pg_advisory_lock_shared(\(Self.listening), \(store))")
        if maybeAlone {
            let number = Int32.random(in: .min ... .max)
            let isTaken = try connection.queryOnce("SELECT pg_try_advisory_lock(\(Self.alone), \(number))").integer(
                0, 0)
            if isTaken == 1 { identity = number }
        }
        let others = try Self.locks(
            connection, "l.pid, l.classid::bigint, l.objid::bigint",
            """
            (l.classid = \(Self.listening) AND l.objid = \(Self.unsigned(store)) AND l.mode = 'ShareLock' \
            OR l.classid = \(Self.alone) AND l.mode = 'ExclusiveLock') AND l.pid <> pg_backend_pid()
            """)
        let rows = (0..<others.count).map { (others.integer($0, 0), others.integer($0, 1), others.integer($0, 2)) }
        let listeners = Set(rows.filter { $0.1 == Int64(Self.listening) }.map(\.0))
        if !listeners.isEmpty { try leaveFirst(connection) }
        firsts = rows.filter { $0.1 == Int64(Self.alone) }.map(\.2)
        for first in firsts {
            try connection.execute("SELECT pg_advisory_lock_shared(\(Self.beside), \(Self.signed(first)))")
        }
        open = try saving(connection)
    }

    /// Looks which of the transactions are under way still that may not have told.
    package mutating func catchUp(_ connection: PostgresConnection) throws {
        open.formIntersection(try saving(connection))
    }

    /// Lets go of the locks.
    package mutating func end(_ connection: PostgresConnection) throws {
        // Its own process tries this one first, and tells when it is free.
        try leaveFirst(connection)
        try connection.execute("SELECT pg_advisory_unlock_shared(\(Self.listening), \(store))")
        for first in firsts {
            try connection.execute("SELECT pg_advisory_unlock_shared(\(Self.beside), \(Self.signed(first)))")
        }
    }

    private mutating func leaveFirst(_ connection: PostgresConnection) throws {
        guard let identity else { return }
        self.identity = nil
        try connection.execute("SELECT pg_advisory_unlock(\(Self.alone), \(identity))")
    }

    /// The transactions that save to the store.
    private func saving(_ connection: PostgresConnection) throws -> Set<String> {
        let found = try Self.locks(
            connection, "l.virtualtransaction",
            "l.classid = \(OpenDatabase.savingLock) AND l.objid = \(Self.unsigned(store))")
        return Set((0..<found.count).map { found.string($0, 0) })
    }

    /// The locks by two numbers that somebody holds in the database.
    private static func locks(
        _ connection: PostgresConnection, _ columns: String, _ condition: String
    ) throws -> PostgresResult {
        try connection.queryOnce(
            """
            SELECT \(columns) FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted \
            AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()) AND (\(condition))
            """)
    }

    /// Locks are listed by numbers without a sign.
    private static func unsigned(_ number: Int32) -> UInt32 { UInt32(bitPattern: number) }
    private static func signed(_ number: Int64) -> Int32 { Int32(truncatingIfNeeded: number) }

    // MARK: Who saves

    /// The statement that tells those who listen to the channel, if anybody listens to the store: `$1` is the schema. Its value is null where
    /// nobody was told.
    ///
    /// - Parameter schema: the store's.
    /// - Returns: the statement.
    static func telling(_ schema: String) -> String {
        let lock = "(\(listening), \(OpenDatabase.lockNumber(of: schema)))"
        return
            "SELECT CASE WHEN pg_try_advisory_lock\(lock) THEN \(nothing("pg_advisory_unlock\(lock)")) ELSE \(tell) END"
    }

    /// The same for a process whose own session is the first one, with the number `$2`.
    static let tellingOthers = """
        SELECT CASE WHEN pg_try_advisory_lock_shared(\(alone), $2) THEN \
        pg_advisory_unlock_shared(\(alone), $2)::text || \(tell) \
        WHEN pg_try_advisory_lock(\(beside), $2) THEN \(nothing("pg_advisory_unlock(\(beside), $2)")) ELSE \(tell) END
        """

    private static let tell = "pg_notify('\(OpenDatabase.channel)', $1)::text"
    private static func nothing(_ call: String) -> String { "nullif(\(call), true)::text" }
}
