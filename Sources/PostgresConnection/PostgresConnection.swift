import CLibPQ
import Foundation

/// One connection to a PostgreSQL server: runs statements, keeps them prepared, sends and receives values in binary form.
///
/// A connection and its results are confined to one queue or lock at a time, which is the owner's to keep; nothing here but
/// ``Cancellation`` is `Sendable`. Everything throws ``PostgresError``.
package final class PostgresConnection {
    /// Where the server is.
    package let target: ConnectionTarget
    /// Whether statements stay prepared on the server. They must not where a pool gives each transaction another connection.
    package let keepsStatements: Bool
    let handle: OpaquePointer
    var statements = PreparedStatements()
    /// How often something was sent and an answer awaited.
    package internal(set) var roundTrips = 0
    /// Whether all transactions are parts of one.
    var isWhole = false
    /// How many parts are open.
    var parts = 0
    /// What was sent and is yet to be answered.
    var ahead: StatementAhead?
    /// Rows that are on their way.
    weak var openCopy: (any PausedWork)?
    let warnings = Warnings()
    /// Sees to it that a server which answers no more is found out.
    var watch: AnswerWatch?

    /// Connects to a server.
    ///
    /// - Parameters:
    ///   - target: where the server is, and how to get in.
    ///   - keepsStatements: whether statements stay prepared on the server.
    /// - Throws: an error of class 08, 28, 3D or 57 when there is no way in.
    package init(_ target: ConnectionTarget, keepsStatements: Bool = true) throws {
        self.target = target
        self.keepsStatements = keepsStatements
        handle = try target.connect()
        warnings.listen(to: handle)
    }

    deinit {
        watch?.invalidate()
        PQfinish(handle)
    }

    /// The server's version, such as 150007.
    package var serverVersion: Int { Int(PQserverVersion(handle)) }

    /// The number of the server's process, by which `NOTIFY` tells who sent it.
    package var processID: Int32 { PQbackendPID(handle) }

    /// Whether the connection still works, as far as is known without asking.
    package var isUsable: Bool { PQstatus(handle) == CONNECTION_OK }

    /// Whether a transaction is open, failed ones included.
    package var isInTransaction: Bool {
        // While it is under way, the connection looks as if it were in one.
        if ahead?.isByItself ?? openCopy?.isByItself ?? false { settle() }
        return switch PQtransactionStatus(handle) {
        case PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_ACTIVE: true
        default: false
        }
    }

    /// How many warnings came with answers so far. One that comes with that to `COMMIT` says that the server did not wait for its standbys to
    /// have the transaction, too.
    package var warningCount: Int { warnings.count }

    // MARK: Statements

    /// Runs one or several statements without parameters, whose rows do not matter.
    package func execute(_ sql: String) throws {
        settle()
        roundTrips += 1
        let result = awaiting { PQexec(handle, sql) }
        defer { PQclear(result) }
        try check(result, sql)
    }

    /// Runs a statement and waits for all of its rows.
    @discardableResult
    package func query(_ sql: String, _ parameters: PostgresParameters = .init()) throws -> PostgresResult {
        do { return try run(sql, parameters) } catch let error as PostgresError {
            // The tables have changed since the statement was prepared. Outside of a transaction nothing is lost by trying again.
            guard error.isOutdatedPlan, !isInTransaction else { throw error }
            forgetStatements()
            return try run(sql, parameters)
        }
    }

    /// Runs a statement that is not worth being kept.
    @discardableResult
    package func queryOnce(_ sql: String, _ parameters: PostgresParameters = .init()) throws -> PostgresResult {
        settle()
        roundTrips += 1
        let result = parameters.withParts { count, values, counts, formats in
            awaiting { PQexecParams(handle, sql, count, parameters.types, values, counts, formats, 1) }
        }
        return try checked(result, sql)
    }

    private func run(_ sql: String, _ parameters: PostgresParameters) throws -> PostgresResult {
        guard keepsStatements else { return try queryOnce(sql, parameters) }
        settle()
        let name = try prepared(sql, parameters.types)
        roundTrips += 1
        let result = parameters.withParts { count, values, counts, formats in
            awaiting { PQexecPrepared(handle, name, count, values, counts, formats, 1) }
        }
        return try checked(result, sql)
    }

    /// The name of a statement on the server, which prepares it first where it is new.
    func prepared(_ sql: String, _ types: [UInt32]) throws -> String {
        if let known = statements.name(sql, types) { return known }
        let (name, outdated) = statements.add(sql, types)
        for old in outdated { try execute("DEALLOCATE \(old)") }
        roundTrips += 1
        let result = awaiting { PQprepare(handle, name, sql, Int32(types.count), types) }
        defer { PQclear(result) }
        do { try check(result, sql) } catch {
            statements.remove(sql, types)
            throw error
        }
        return name
    }

    /// Has all statements be prepared anew.
    package func forgetStatements() {
        statements.removeAll()
        settle()
        // Where that does not work, nothing else will, which reports it.
        PQclear(PQexec(handle, "DEALLOCATE ALL"))
    }

    // MARK: Errors

    func checked(_ pointer: OpaquePointer?, _ sql: String) throws -> PostgresResult {
        let result = PostgresResult(pointer)
        try check(pointer, sql)
        return result
    }

    func check(_ result: OpaquePointer?, _ sql: String?) throws {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_SINGLE_TUPLE, PGRES_COPY_IN, PGRES_COPY_OUT,
            PGRES_EMPTY_QUERY, PGRES_PIPELINE_SYNC:
            return
        default: throw PostgresError(result, statement: sql, connection: handle)
        }
    }
}

/// The statements that a connection has prepared, at most so many; the ones that came first go first.
struct PreparedStatements {
    private struct Key: Hashable {
        let sql: String
        let types: [UInt32]

        /// Long texts are compared by their lengths and ends.
        func hash(into hasher: inout Hasher) {
            hasher.combine(sql.utf8.count)
            hasher.combine(types.count)
            for byte in sql.utf8.suffix(8) { hasher.combine(byte) }
        }
    }

    private let limit = 256
    private var names: [Key: String] = [:]
    private var order: [Key] = []
    private var latest = 0

    func name(_ sql: String, _ types: [UInt32]) -> String? { names[Key(sql: sql, types: types)] }

    /// - Returns: the name of the new one, and of those that must go.
    mutating func add(_ sql: String, _ types: [UInt32]) -> (name: String, outdated: [String]) {
        var outdated: [String] = []
        if order.count >= limit {
            outdated = order.prefix(limit / 4).compactMap { names.removeValue(forKey: $0) }
            order.removeFirst(limit / 4)
        }
        latest += 1
        let key = Key(sql: sql, types: types)
        names[key] = "pippin_\(latest)"
        order.append(key)
        return ("pippin_\(latest)", outdated)
    }

    mutating func remove(_ sql: String, _ types: [UInt32]) {
        let key = Key(sql: sql, types: types)
        names[key] = nil
        order.removeAll { $0 == key }
    }

    mutating func removeAll() {
        names.removeAll()
        order.removeAll()
    }
}
