import PostgresConnection

/// Announces that a session listens to the saves of a store, by advisory locks of that session: they end with it,
/// however it ends.
///
/// There are three kinds of locks, each with a second number.
///
/// - `listening`, with the store's number, is held in shared mode by all listeners. A transaction that saves tries to
///   take it exclusively, and releases it in the same statement: if it succeeds, there are no listeners.
/// - `alone`, with a random number, is held by a session that found no other listener. The server need not send
///   notifications of saves of this session's own process while there is no other listener.
/// - `beside`, with the number of such a session, is held in shared mode by all listeners that came after it. The saves
///   of that session's process try this lock.
///
/// **No save is missed.** A new listener first executes `LISTEN`, then takes its locks, and finally looks for
/// transactions that hold the store's saving lock (``OpenDatabase/lock(_:alone:)``), which each saving transaction
/// holds from beginning to end. A transaction that tries the lock after the listener took it finds a listener, and
/// notifies. A transaction that tried it before has either ended when the listener looks, so that anything read from
/// then on includes it, or is found by the listener, which waits for its end and treats it as a change. A first session
/// that is gone no longer holds `alone`, so that its process notifies again. If it was still there when a transaction
/// tried, and is gone when a new listener looks for it, the transaction has begun before, and is found like any other
/// one.
package struct Presence {
    private static let (listening, alone, beside) = (747_748, 747_749, 747_750)

    /// The store's number.
    private let store: Int32
    /// The number under which the session is the first listener; nil if it is not.
    package private(set) var identity: Int32?
    /// The numbers of the sessions that were first when this one came.
    private var firsts: [Int64] = []
    /// Transactions under way that may not notify of what they save.
    private var open: Set<String> = []

    /// Whether there may be saves under way of which the server sends no notification.
    package var isBehind: Bool { !open.isEmpty }

    // MARK: Who listens

    /// Takes the locks of a session that listens already.
    ///
    /// - Parameters:
    ///   - schema: the store's.
    ///   - connection: the session. It must stay the same: locks are meaningless if a pooler gives each statement
    ///     another one.
    ///   - maybeAlone: whether it may become the first listener.
    /// - Throws: the server's errors. The session is then unusable.
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

    /// Checks which of the transactions that may not notify are still under way.
    package mutating func catchUp(_ connection: PostgresConnection) throws {
        open.formIntersection(try saving(connection))
    }

    /// Releases the locks.
    package mutating func end(_ connection: PostgresConnection) throws {
        // The session's own process tries this lock first, and notifies if it is free.
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

    /// The transactions that are saving to the store.
    private func saving(_ connection: PostgresConnection) throws -> Set<String> {
        let found = try Self.locks(
            connection, "l.virtualtransaction",
            "l.classid = \(OpenDatabase.savingLock) AND l.objid = \(Self.unsigned(store))")
        return Set((0..<found.count).map { found.string($0, 0) })
    }

    /// The advisory locks with two numbers that are held in the database.
    private static func locks(
        _ connection: PostgresConnection, _ columns: String, _ condition: String
    ) throws -> PostgresResult {
        try connection.queryOnce(
            """
            SELECT \(columns) FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted \
            AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()) AND (\(condition))
            """)
    }

    /// `pg_locks` lists the numbers without a sign.
    private static func unsigned(_ number: Int32) -> UInt32 { UInt32(bitPattern: number) }
    private static func signed(_ number: Int64) -> Int32 { Int32(truncatingIfNeeded: number) }

    // MARK: Who saves

    /// The statement that notifies the listeners of the channel if the store has any: `$1` is the schema. Its value is
    /// null if no notification was sent.
    ///
    /// - Parameter schema: the store's.
    /// - Returns: the statement.
    static func notifying(_ schema: String) -> String {
        let lock = "(\(listening), \(OpenDatabase.lockNumber(of: schema)))"
        return
            "SELECT CASE WHEN pg_try_advisory_lock\(lock) THEN \(nothing("pg_advisory_unlock\(lock)")) ELSE \(notify) END"
    }

    /// The same for a process whose own session is the first listener, with the number `$2`.
    static let notifyingOthers = """
        SELECT CASE WHEN pg_try_advisory_lock_shared(\(alone), $2) THEN \
        pg_advisory_unlock_shared(\(alone), $2)::text || \(notify) \
        WHEN pg_try_advisory_lock(\(beside), $2) THEN \(nothing("pg_advisory_unlock(\(beside), $2)")) ELSE \(notify) END
        """

    private static let notify = "pg_notify('\(OpenDatabase.channel)', $1)::text"
    private static func nothing(_ call: String) -> String { "nullif(\(call), true)::text" }
}

/// Triggers on the tables of a store that notify its programs of rows which are changed with plain SQL. Pure.
package enum TellingTriggers {
    /// The statements that add the triggers.
    ///
    /// - Parameter schema: the store's.
    /// - Returns: one transaction, for a role that owns the tables.
    package static func script(of schema: String) -> String {
        let store = quotedText(schema)
        return """
            -- Live queries of the store in the schema \(quotedName(schema)) hear of rows that plain SQL changes, and such a change counts the row's version up, so
            -- that a program that has read the row notices. Run it again when tables have come. Take it back with:
            -- DROP FUNCTION pippin.tell() CASCADE; DROP FUNCTION pippin.count_version() CASCADE;
            BEGIN;
            CREATE OR REPLACE FUNCTION pippin.tell() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
            DECLARE free smallint;
            BEGIN
                -- A save of a program with Pippin is counted already, and told by the program.
                IF NOT EXISTS (SELECT FROM pippin.saves WHERE schema_name = TG_ARGV[0] AND xmin = pg_current_xact_id()::xid) THEN
                    SELECT slot INTO free FROM pippin.saves WHERE schema_name = TG_ARGV[0] LIMIT 1 FOR UPDATE SKIP LOCKED;
                    UPDATE pippin.saves SET count = count + 1 WHERE schema_name = TG_ARGV[0] AND slot = coalesce(free, 0);
                    PERFORM pg_notify('\(OpenDatabase.channel)', TG_ARGV[0]);
                END IF;
                RETURN NULL;
            END $$;
            CREATE OR REPLACE FUNCTION pippin.count_version() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                NEW.\(ColumnName.version) := OLD.\(ColumnName.version) + 1;
                RETURN NEW;
            END $$;
            DO $$
            DECLARE place regclass;
            BEGIN
                FOR place IN SELECT format('%I.%I', schema_name, table_name)::regclass FROM pippin.tables WHERE schema_name = \(store) LOOP
                    EXECUTE format('DROP TRIGGER IF EXISTS pippin_tell ON %s', place);
                    EXECUTE format('CREATE TRIGGER pippin_tell AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT EXECUTE FUNCTION pippin.tell(%L)',
                        place, \(store));
                    IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = place AND attname = '\(ColumnName.version)') THEN
                        EXECUTE format('DROP TRIGGER IF EXISTS pippin_count_version ON %s', place);
                        EXECUTE format('CREATE TRIGGER pippin_count_version BEFORE UPDATE ON %s FOR EACH ROW '
                            'WHEN (NEW.\(ColumnName.version) = OLD.\(ColumnName.version)) EXECUTE FUNCTION pippin.count_version()', place);
                    END IF;
                END LOOP;
            END $$;
            COMMIT;
            """
    }
}
