import CPippinPQ
import Foundation

/// A connection to a PostgreSQL server: runs statements, keeps them prepared, and sends and receives values in binary
/// form.
///
/// A connection and its results are confined to one queue or lock at a time, which the owner must ensure; nothing here
/// except ``Cancellation`` is `Sendable`. All errors are ``PostgresError``.
package final class PostgresConnection {
    /// The location of the server.
    package let target: ConnectionTarget
    /// Whether statements stay prepared on the server. Must be false if a pooler gives each transaction another
    /// connection.
    package let keepsStatements: Bool
    let handle: OpaquePointer
    var statements = PreparedStatements()
    /// How often something was sent and its answer awaited.
    package internal(set) var roundTrips = 0
    /// Whether a pipeline did not come to its end: the next answer would be one to another statement.
    var hasLostAnswers = false
    /// Whether all transactions are parts of one.
    var isWhole = false
    /// How many parts are open.
    var parts = 0
    /// A statement that was sent and not answered yet.
    var ahead: StatementAhead?
    /// Rows on their way, in either direction.
    weak var openCopy: (any PausedWork)?
    let warnings = Warnings()
    /// A statement that is sent along with each query outside of transactions, in the same round trip.
    package var companion: Request? { didSet { companionAnswer = nil } }
    /// What was last answered to it.
    package private(set) var companionAnswer: PostgresResult?
    /// Is told each statement before it is sent.
    package var statementLog: ((String) -> Void)?
    /// Is told each statement once it is answered: the text, the time, the rows, and the error if it failed.
    package var statementReport: ((String, Duration, Int, String?) -> Void)?
    /// When the statements were sent whose answers are awaited, if somebody is told.
    var sentAt: ContinuousClock.Instant?
    /// How many rows of the present statement have come one by one.
    var rowsSoFar = 0
    /// Detects a server that no longer answers.
    var watch: AnswerWatch?

    /// Connects to a server.
    ///
    /// - Parameters:
    ///   - target: the location of the server, and the credentials.
    ///   - keepsStatements: whether statements stay prepared on the server.
    /// - Throws: an error of class 08, 28, 3D or 57 if no connection can be made.
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

    /// The number of the server's process, which identifies the sender of a `NOTIFY`.
    package var processID: Int32 { PQbackendPID(handle) }

    /// The encoding of the database, such as `UTF8`; nil if a pooler does not pass it on.
    package var databaseEncoding: String? {
        PQparameterStatus(handle, "server_encoding").map { String(cString: $0) }
    }

    /// Whether transactions only read unless they say otherwise, as far as the server tells.
    package var isReadOnlyByDefault: Bool { ReadOnlyDefault.isSet(handle) }

    /// Whether the connection still works, as far as is known without asking the server.
    package var isUsable: Bool { PQstatus(handle) == CONNECTION_OK && !hasLostAnswers }

    /// Whether a transaction is open, including a failed one.
    package var isInTransaction: Bool {
        // While such work is under way, the connection appears to be in a transaction.
        if ahead?.isByItself ?? openCopy?.isByItself ?? false { settle() }
        return switch PQtransactionStatus(handle) {
        case PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_ACTIVE: true
        default: false
        }
    }

    /// How many warnings came with answers so far. A warning with the answer to `COMMIT` says that the server did not
    /// wait for its standbys.
    package var warningCount: Int { warnings.count }

    // MARK: Statements

    /// Runs one or several statements without parameters, ignoring their rows.
    package func execute(_ sql: String) throws { _ = try executeTagged(sql) }

    /// Runs one or several statements without parameters, ignoring their rows.
    ///
    /// - Returns: what the server says that it did last: `ROLLBACK` for the `COMMIT` of a failed transaction.
    func executeTagged(_ sql: String) throws -> String {
        settle()
        noteSending(sql)
        let result = awaiting { PQexec(handle, sql) }
        defer { PQclear(result) }
        try check(result, sql)
        return PQcmdStatus(result).map { String(cString: $0) } ?? ""
    }

    /// Runs a statement and waits for all of its rows.
    @discardableResult
    package func query(_ sql: String, _ parameters: PostgresParameters = .init()) throws -> PostgresResult {
        do { return try run(sql, parameters) } catch let error as PostgresError {
            // The tables have changed since the statement was prepared. Outside of a transaction it can safely be run
            // again.
            guard error.isOutdatedPlan else { throw error }
            guard !isInTransaction else {
                // The server, which has ended the transaction, drops no statement now. Later ones get other names.
                statements.removeAll()
                throw error
            }
            forgetStatements()
            return try run(sql, parameters)
        }
    }

    /// Runs a statement without keeping it prepared.
    @discardableResult
    package func queryOnce(_ sql: String, _ parameters: PostgresParameters = .init()) throws -> PostgresResult {
        settle()
        noteSending(sql)
        let result = parameters.withParts { count, values, counts, formats in
            awaiting { PQexecParams(handle, sql, count, parameters.types, values, counts, formats, 1) }
        }
        return try checked(result, sql)
    }

    private func run(_ sql: String, _ parameters: PostgresParameters) throws -> PostgresResult {
        if let companion, !isInTransaction {
            let results = try pipeline([Request(sql, parameters), companion])
            companionAnswer = results[1]
            return results[0]
        }
        guard keepsStatements else { return try queryOnce(sql, parameters) }
        settle()
        let name = try prepared(sql, parameters.types)
        noteSending(sql)
        let result = parameters.withParts { count, values, counts, formats in
            awaiting { PQexecPrepared(handle, name, count, values, counts, formats, 1) }
        }
        return try checked(result, sql)
    }

    /// Counts and logs a statement whose answer is awaited by itself.
    func noteSending(_ sql: String) {
        roundTrips += 1
        statementLog?(sql)
        if statementReport != nil { (sentAt, rowsSoFar) = (.now, 0) }
    }

    /// Reports a statement whose answer is there.
    private func report(_ result: OpaquePointer?, _ sql: String?, _ error: PostgresError? = nil) {
        guard let statementReport, let sentAt, let sql else { return }
        let status = PQresultStatus(result)
        guard status != PGRES_SINGLE_TUPLE else { return rowsSoFar += 1 }
        guard ![PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_PIPELINE_SYNC].contains(status) else { return }
        let changed = PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
        statementReport(sql, .now - sentAt, max(rowsSoFar, Int(PQntuples(result)), changed), error?.message)
        rowsSoFar = 0
        if !isInPipeline { self.sentAt = nil }
    }

    private var isInPipeline: Bool { PQpipelineStatus(handle) != PQ_PIPELINE_OFF }

    /// The name of a statement on the server; prepares it first if it is new.
    func prepared(_ sql: String, _ types: [UInt32]) throws -> String {
        if let known = statements.name(sql, types) { return known }
        try makeRoom(for: 1)
        let name = statements.add(sql, types)
        roundTrips += 1
        sentAt = nil
        let result = awaiting { PQprepare(handle, name, sql, Int32(types.count), types) }
        defer { PQclear(result) }
        do { try check(result, sql) } catch {
            statements.remove(sql, types)
            statementReport?(sql, .zero, 0, (error as? PostgresError)?.message ?? "\(error)")
            throw error
        }
        return name
    }

    /// Has the server drop the oldest statements if there would be too many.
    func makeRoom(for count: Int) throws {
        for old in statements.removeOldest(before: count) { try execute("DEALLOCATE \(old)") }
    }

    /// Makes all statements be prepared again.
    package func forgetStatements() {
        statements.removeAll()
        settle()
        // If this fails, the next statement fails as well, and reports it.
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
            if sentAt != nil { report(result, sql) }
        default:
            let error = PostgresError(result, statement: sql, connection: handle)
            if sentAt != nil { report(result, sql, error) }
            throw error
        }
    }
}

/// The statements that a connection has prepared, up to a limit; the oldest ones are dropped first.
struct PreparedStatements {
    private struct Key: Hashable {
        let sql: String
        let types: [UInt32]

        /// Hashes long texts by their lengths and ends.
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
    /// No two connections use one name: through a pool that lends one session to many, a statement of another program
    /// would be executed.
    private let prefix = "pippin_\(String(UInt64.random(in: .min ... .max), radix: 36))_"

    func name(_ sql: String, _ types: [UInt32]) -> String? { names[Key(sql: sql, types: types)] }

    /// Whether there are too many with some more.
    func isFull(with more: Int) -> Bool { order.count + more > limit }

    /// - Returns: the names of those that make room for new ones.
    mutating func removeOldest(before new: Int) -> [String] {
        guard new > 0, isFull(with: new) else { return [] }
        let count = min(order.count, max(limit / 4, order.count + new - limit))
        let outdated = order.prefix(count).compactMap { names.removeValue(forKey: $0) }
        order.removeFirst(count)
        return outdated
    }

    /// - Returns: the name of the new one.
    mutating func add(_ sql: String, _ types: [UInt32]) -> String {
        latest += 1
        let key = Key(sql: sql, types: types)
        let name = "\(prefix)\(latest)"
        names[key] = name
        order.append(key)
        return name
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

extension PostgresConnection {
    /// Runs one statement as plain text, for servers that support nothing else, such as the console of PgBouncer.
    ///
    /// - Parameter sql: the statement.
    /// - Returns: the rows: texts by column, without nulls.
    /// - Throws: the server's errors.
    package func plainTexts(_ sql: String) throws -> [[String: String]] {
        settle()
        roundTrips += 1
        let result = awaiting { PQexec(handle, sql) }
        defer { PQclear(result) }
        try check(result, sql)
        let names = (0..<PQnfields(result)).map { PQfname(result, $0).map { String(cString: $0) } ?? "" }
        return (0..<PQntuples(result)).map { row in
            var texts: [String: String] = [:]
            for (column, name) in names.enumerated() where PQgetisnull(result, row, Int32(column)) == 0 {
                texts[name] = PQgetvalue(result, row, Int32(column)).map { String(cString: $0) }
            }
            return texts
        }
    }
}

extension PostgresConnection {
    /// Asks the server whether it is still there, whenever it has not answered for the given time.
    package func watchAnswers(seconds: Double) {
        guard let host = PQhost(handle).map({ String(cString: $0) }), !host.isEmpty,
            let port = PQport(handle).map({ String(cString: $0) })
        else { return }
        var own = target
        own.settings["host"] = host
        own.settings["port"] = port
        // The address that was found, if the target gives one in addition to the name.
        if (try? target.parsed()["hostaddr"]) != nil, let address = PQhostaddr(handle).map({ String(cString: $0) }) {
            own.settings["hostaddr"] = address
        }
        own.settings["connect_timeout"] = String(max(2, Int(seconds)))
        watch = AnswerWatch(own, socket: PQsocket(handle), seconds: seconds)
    }

    /// Runs a closure that waits for the server.
    @inline(__always)
    func awaiting<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let watch else { return try body() }
        watch.begin()
        defer { watch.end() }
        return try body()
    }
}

extension PostgresConnection {
    /// Sends a statement without waiting for its rows: the server finds them while other work is done here.
    ///
    /// - Parameters:
    ///   - sql: the statement, which is not kept prepared.
    ///   - parameters: its values.
    /// - Returns: the handle by which its rows are requested.
    /// - Throws: the error of a lost connection.
    package func sendAhead(_ sql: String, _ parameters: PostgresParameters = .init()) throws -> StatementAhead {
        settle()
        let sent = StatementAhead(sql, isByItself: !isInTransaction)
        noteSending(sql)
        let isSent = parameters.withParts { count, values, counts, formats in
            PQsendQueryParams(handle, sql, count, parameters.types, values, counts, formats, 1) == 1
        }
        guard isSent else { throw PostgresError(nil, statement: sql, connection: handle) }
        ahead = sent
        return sent
    }

    /// The rows of a statement that was sent.
    package func result(of statement: StatementAhead) throws -> PostgresResult {
        if statement === ahead { settle() }
        guard let result = statement.result else {
            throw PostgresError(
                state: PostgresError.connectionFailure, message: "the statement was not sent by this connection")
        }
        return try result.get()
    }

    /// Receives the answers to what was sent before, so that something else can be sent.
    func settle() {
        openCopy?.pause()
        guard let sent = ahead else { return }
        ahead = nil
        watch?.begin()
        defer { watch?.end() }
        // All of a statement's results must be read to free the connection.
        while let pointer = PQgetResult(handle) {
            let result = Result { try checked(pointer, sent.sql) }
            if sent.result == nil { sent.result = result }
            if !isUsable { break }
        }
    }
}

extension PostgresConnection {
    /// Runs a statement and hands out its rows as they arrive, so that they need not all be in memory.
    ///
    /// - Parameters:
    ///   - sql: the statement.
    ///   - parameters: its values.
    ///   - body: receives a result with one row, and returns whether to go on. It must not use the connection.
    /// - Throws: the server's errors, and the errors of `body`.
    package func forEachRow(
        _ sql: String, _ parameters: PostgresParameters = .init(), _ body: (PostgresResult) throws -> Bool
    ) throws {
        settle()
        let name = keepsStatements ? try prepared(sql, parameters.types) : nil
        noteSending(sql)
        let isSent = parameters.withParts { count, values, counts, formats in
            guard let name else {
                return PQsendQueryParams(handle, sql, count, parameters.types, values, counts, formats, 1) == 1
            }
            return PQsendQueryPrepared(handle, name, count, values, counts, formats, 1) == 1
        }
        guard isSent, PQsetSingleRowMode(handle) == 1 else {
            throw PostgresError(nil, statement: sql, connection: handle)
        }
        watch?.begin()
        defer { watch?.end() }
        var failure: (any Error)?
        var goesOn = true
        while let pointer = PQgetResult(handle) {
            let result = PostgresResult(pointer)
            guard failure == nil else { continue }
            do {
                try check(pointer, sql)
                if goesOn, PQresultStatus(pointer) == PGRES_SINGLE_TUPLE, try !body(result) {
                    goesOn = false
                    cancellation().cancel()
                }
            } catch {
                // The cancellation was intended.
                if !goesOn, (error as? PostgresError)?.isCancelled == true { continue }
                failure = error
                if goesOn, !(error is PostgresError) { cancellation().cancel() }
            }
        }
        if let failure { throw failure }
    }
}
