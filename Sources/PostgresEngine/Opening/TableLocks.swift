import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

/// Begins transactions that read one state of a store, and locks its tables against changes of their structure until
/// they end.
///
/// The locks come before the snapshot: if a table is rewritten after it, PostgreSQL shows the snapshot no row of the
/// table, without an error.
struct TableLocks {
    /// The names of the tables, in the store's schema.
    private let tables: [String]
    private let schema: String
    /// How long to wait for other transactions, in seconds; no limit unless it is above 0.
    private let timeout: Double
    /// The statement; nil if nothing is locked.
    private var statement: String?
    /// Whether the server was asked which tables can be locked.
    private var isChosen = false

    /// What a server has place for in each transaction, unless it is configured otherwise.
    private static let usualMost = 64

    /// - Parameters:
    ///   - tables: the names of the tables, without the schema's.
    ///   - place: the location of the store.
    ///   - settings: how long to wait.
    init(_ tables: some Sequence<String>, of place: StorePlace, _ settings: StoreSettings) {
        (schema, timeout) = (place.schema, settings.timeout)
        self.tables = Set(tables).sorted()
        statement = locking(self.tables)
    }

    init(_ schema: SQLSchema, of place: StorePlace, _ settings: StoreSettings) {
        let tables = schema.mappings.compactMap { $0 }.flatMap { mapping in
            [mapping.table]
                + mapping.toManys.compactMap { toMany in
                    if case .joinTable(let join)? = toMany { join.table } else { nil }
                }
        }
        self.init(tables.map(QualifiedName.name), of: place, settings)
    }

    /// Partitions are not named: who changes one needs a lock on the table as well.
    private func locking(_ names: [String]) -> String? {
        guard !names.isEmpty else { return nil }
        let list = names.map { "ONLY " + quotedName(QualifiedName.make(schema: schema, name: $0)) }
        return "LOCK TABLE \(list.joined(separator: ", ")) IN ACCESS SHARE MODE NOWAIT"
    }

    /// Begins the transaction, with everything in one round trip.
    ///
    /// - Parameters:
    ///   - connection: a connection without a transaction.
    ///   - waits: whether to wait for whoever is changing a table.
    ///   - requests: what to ask first.
    /// - Returns: the answers.
    /// - Throws: the server's errors; no transaction is open then.
    mutating func begin(
        _ connection: PostgresConnection, waits: Bool = true, _ requests: [PostgresConnection.Request]
    ) throws -> [PostgresResult] {
        if tables.count > Self.usualMost, !isChosen { try choose(connection) }
        var (pause, waited) = (0.01, 0.0)
        while true {
            var all = [PostgresConnection.Request(try connection.beginning(.snapshot))]
            if let statement { all.append(.init(statement)) }
            do { return Array(try connection.pipeline(all + requests).suffix(requests.count)) } catch {
                try? connection.rollback()
                guard let error = error as? PostgresError, error.statement == statement, statement != nil,
                    connection.isUsable
                else { throw error }
                if error.isPermissionDenied || error.isSyntaxOrTypeError || error.isMissingTable {
                    let former = statement
                    try choose(connection)
                    guard statement != former else { throw error }
                    continue
                }
                guard error.isLockTimeout, waits, !(timeout > 0) || waited < timeout else { throw error }
            }
            // Nothing is held meanwhile, so that a migration that takes its tables one after the other goes on.
            Thread.sleep(forTimeInterval: pause)
            waited += pause
            pause = min(pause * 2, 0.25)
        }
    }

    /// Chooses the tables that can be locked: those that there are and that the role may read. None if they are more
    /// than the server has place for in each transaction: all transactions share that place, and those of other
    /// programs would fail.
    private mutating func choose(_ connection: PostgresConnection) throws {
        isChosen = true
        var parameters = PostgresParameters()
        parameters.append(schema)
        parameters.append(array: tables)
        let found = try connection.query(
            """
            SELECT c.relname, current_setting('max_locks_per_transaction')::integer FROM pg_class c \
            JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = ANY($2) \
            AND c.relkind IN ('r', 'p', 'v') AND pg_catalog.has_table_privilege(c.oid, 'SELECT') ORDER BY c.relname
            """, parameters)
        let isTooMany = found.count > 0 && found.count > found.integer(0, 1)
        statement = isTooMany ? nil : locking((0..<found.count).map { found.string($0, 0) })
    }
}
