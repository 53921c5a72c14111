import CPippinPQ
import Foundation

/// An error that PostgreSQL or its client library reports. It never contains a password.
package struct PostgresError: Error, Equatable, CustomStringConvertible {
    /// The five characters that identify the kind of error, such as `23505`; of class 08 if the connection failed.
    package var state: String
    /// The server's own sentence.
    package var message: String
    package var detail: String?
    /// What the server suggests.
    package var hint: String?
    /// Where the server was, such as in a trigger's function.
    package var context: String?
    /// The table, the column and the constraint involved, if the server names them.
    package var table: String?
    package var column: String?
    package var constraint: String?
    /// The file of the server's source that reports it: unlike messages, its name is in no language.
    package var file: String?
    /// The character of the statement at which the server found the error, from 1; nil if it does not say so.
    package var position: Int?
    /// The statement that failed; nil if there was none, as in connecting.
    package var statement: String?

    package init(state: String, message: String, statement: String? = nil) {
        (self.state, self.message, self.statement) = (state, message, statement)
    }

    /// Reads the fields of an error result.
    init(_ result: OpaquePointer?, statement: String?, connection: OpaquePointer?) {
        func field(_ code: Character) -> String? {
            PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
        }
        let text = connection.flatMap { PQerrorMessage($0) }.map { String(cString: $0) } ?? ""
        // Without a state, the error comes from the library itself: it has lost the connection, or sends nothing of the
        // kind, such as too many parameters.
        let isUsable = connection.map { PQstatus($0) == CONNECTION_OK } ?? false
        state = field("C") ?? (isUsable ? Self.libraryRefusal : Self.connectionFailure)
        message = field("M") ?? Self.firstLine(of: text)
        (detail, hint, context) = (field("D"), field("H"), field("W"))
        (table, column, constraint) = (field("t"), field("c"), field("n"))
        file = field("F")
        position = field("P").flatMap { Int($0) }
        self.statement = statement
        if isReadOnly, connection.map(ReadOnlyDefault.isSet) == true { self = .readOnlyByDefault(statement) }
    }

    private static func firstLine(of text: String) -> String {
        let line = text.split(separator: "\n").first.map(String.init) ?? "the connection was lost"
        return line
    }

    /// The state for lost connections.
    package static let connectionFailure = "08006"
    /// The state for what the library does not send, though the connection works: a system error.
    package static let libraryRefusal = "58000"

    package var description: String {
        var text = "PostgreSQL error \(state): \(message)"
        if let detail { text += " (\(detail))" }
        if let statement { text += " in \"\(statement)\"" }
        if let hint { text += "; \(hint)" }
        return text
    }

    /// Two rows would have the same unique values.
    package var isUniqueViolation: Bool { state == "23505" }
    /// A row would refer to a missing one.
    package var isForeignKeyViolation: Bool { state == "23503" }
    /// The work conflicted with another transaction, and may succeed if it is retried.
    package var isRetryable: Bool { state == "40001" || state == "40P01" }
    /// The server is not there, or no longer there.
    package var isConnectionFailure: Bool { state.hasPrefix("08") || state.hasPrefix("57P") }
    /// The transaction accepts no writes.
    package var isReadOnly: Bool { state == "25006" }
    /// The server accepts no writes, like a standby.
    package var isOnStandby: Bool {
        isReadOnly || state == "0A000" && statement?.hasPrefix("BEGIN") == true
    }
    /// The server has no connection left.
    package var isWithoutConnection: Bool { state == "53300" }
    /// The server answers, and has trouble of its own, such as no memory, no room on its disk, or a file that it cannot
    /// read or write. A server whose disk is full ends new connections with "could not write init file", an internal
    /// error.
    package var isServerTrouble: Bool {
        ["53", "58", "XX"].contains { state.hasPrefix($0) } && !isWithoutConnection
            && !(state == Self.libraryRefusal && statement != nil)
    }
    /// Another server, or the same one later, may let the program in: this one is not there, is starting, is a standby,
    /// is full, or has trouble.
    package var isWorthLookingElsewhere: Bool {
        isConnectionFailure && state != "57P04" && !isAboutAllCertificates || isOnStandby || isWithoutConnection
            || isServerTrouble
    }
    /// The role may not do this.
    package var isPermissionDenied: Bool { state == "42501" }
    /// The statement was cancelled, by a request or a time limit.
    package var isCancelled: Bool { state == "57014" }
    /// A lock could not be acquired in time.
    package var isLockTimeout: Bool { state == "55P03" }
    /// The server cannot make sense of the statement: it has no such operator, or types do not match.
    package var isSyntaxOrTypeError: Bool { state.hasPrefix("42") && !isPermissionDenied }
    /// A value does not fit, or cannot be computed: a number that is too large, a division by zero.
    package var isDataError: Bool { state.hasPrefix("22") }
    /// The server refuses what was to be written: values that do not fit, break a rule of a table or a policy, or are
    /// too large.
    package var isOfValues: Bool {
        // A trigger's own errors are of class P0. The rights to a table are checked in another file than its policies.
        ["22", "23", "44", "54", "P0"].contains { state.hasPrefix($0) } || state == Self.libraryRefusal
            || isPermissionDenied && file == "execMain.c"
    }
    package var isOutOfRange: Bool { state == "22003" }
    package var isDivisionByZero: Bool { state == "22012" }
    /// The server has a limit: no entry of an index is larger than a third of a page.
    package var isTooLargeForIndex: Bool {
        state == "54000" && ["indextuple.c", "nbtutils.c", "hashinsert.c"].contains(file)
    }
    /// The server takes no copied rows for the table: it checks each row by a policy.
    package var refusesCopying: Bool { state == "0A000" && statement?.hasPrefix("COPY") == true }
    /// There is no database of that name.
    package var isMissingDatabase: Bool { state == "3D000" }
    /// A table or a schema does not exist.
    package var isMissingTable: Bool { state == "42P01" || state == "3F000" }
    package var isMissingColumn: Bool { state == "42703" }
    /// The server's certificate was refused, or there is none.
    package var isAboutCertificate: Bool {
        state == "08001" && statement == nil && ["certificate", "SSL"].contains { message.contains($0) }
    }
    /// The certificate of each server that was tried was refused.
    private var isAboutAllCertificates: Bool {
        guard isAboutCertificate else { return false }
        let attempts = message.split(separator: "; ").filter { $0.contains(" failed: ") }
        return !attempts.isEmpty
            && attempts.allSatisfy { attempt in ["certificate", "SSL"].contains { attempt.contains($0) } }
    }
    /// A row has no value in a column that needs one.
    package var isNullInRequiredColumn: Bool { state == "23502" }
    /// A statement was prepared before its tables changed.
    package var isOutdatedPlan: Bool { state == "0A000" && file == "plancache.c" }
    /// The session has not the statements that were prepared in it, or has those of others: it is shared.
    package var isForeignSession: Bool { state == "26000" || state == "42P05" }
}

extension PostgresError {
    /// Something was to be written where transactions only read unless they say otherwise.
    ///
    /// The state is that of a missing right: unlike with a standby, no other server takes the write.
    static func readOnlyByDefault(_ statement: String?) -> PostgresError {
        var error = PostgresError(
            state: "42501",
            message: "transactions of this role, or of this database, only read (default_transaction_read_only)",
            statement: statement)
        error.hint =
            "Open the store for reading only, or set default_transaction_read_only off (ALTER ROLE, ALTER DATABASE)."
        return error
    }
}

/// What is set for transactions that do not say whether they write.
enum ReadOnlyDefault {
    /// Whether they only read, by what is set for the role or the database. Not on a standby, where nothing can be set
    /// otherwise; servers before version 14 do not tell.
    static func isSet(_ handle: OpaquePointer) -> Bool {
        func isOn(_ name: String) -> Bool { PQparameterStatus(handle, name).map { String(cString: $0) } == "on" }
        return isOn("default_transaction_read_only") && !isOn("in_hot_standby")
    }
}

/// A notification to the listeners of a channel.
package struct PostgresNotification: Sendable, Equatable {
    package let channel: String
    package let payload: String
    /// The number of the sender's process on the server.
    package let processID: Int32

    package init(channel: String, payload: String, processID: Int32) {
        (self.channel, self.payload, self.processID) = (channel, payload, processID)
    }
}

extension PostgresConnection {
    /// The notifications that have arrived on the channels that the connection listens to.
    package func notifications() throws -> [PostgresNotification] {
        guard PQconsumeInput(handle) == 1 else { throw PostgresError(nil, statement: nil, connection: handle) }
        var found: [PostgresNotification] = []
        while let pointer = PQnotifies(handle) {
            found.append(
                PostgresNotification(
                    channel: String(cString: pointer.pointee.relname), payload: String(cString: pointer.pointee.extra),
                    processID: pointer.pointee.be_pid))
            PQfreemem(pointer)
        }
        return found
    }

    /// The socket, for callers that wait for several things.
    package var socket: Int32 { PQsocket(handle) }

    /// Whether something has arrived that was not read yet, such as the end of the connection.
    package var hasInput: Bool {
        var poll = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        return Foundation.poll(&poll, 1, 0) > 0
    }

    /// Notices, without asking the server, that it has ended the connection.
    package func noticeEnd() {
        guard ahead == nil, hasInput else { return }
        // The next statement reports an error of this call.
        _ = PQconsumeInput(handle)
    }
}

/// Writes rows to a table through one `COPY`, while the server stores the earlier ones. Any other use of the connection
/// ends the `COPY`; it is begun again for the rows that follow.
package final class OpenCopy: PausedWork {
    private let connection: PostgresConnection
    private let sql: String
    private var rows = CopyRows()
    private var isOpen = false
    /// How many rows the server has added.
    private var count = 0
    private var failure: (any Error)?
    let isByItself = false
    private static let portion = 1 << 17

    /// - Parameters:
    ///   - connection: the connection.
    ///   - sql: the statement: `COPY car (maker) FROM STDIN (FORMAT binary)`.
    package init(_ connection: PostgresConnection, _ sql: String) { (self.connection, self.sql) = (connection, sql) }

    /// Adds a row.
    ///
    /// - Parameters:
    ///   - columns: how many values it has.
    ///   - body: writes them.
    /// - Throws: the errors of `body`, and the server's errors, also for earlier rows.
    @inline(__always)
    package func add(_ columns: Int, _ body: (inout CopyRows) throws -> Void) throws {
        rows.beginRow(columns)
        try body(&rows)
        if rows.byteCount >= Self.portion { try send() }
    }

    /// Ends the `COPY`.
    ///
    /// - Returns: how many rows were added since the beginning.
    /// - Throws: the server's errors.
    package func finish() throws -> Int {
        if rows.count > 0 { try send() }
        pause()
        if let failure { throw failure }
        return count
    }

    private func send() throws {
        if let failure { throw failure }
        if !isOpen {
            connection.settle()
            try connection.beginCopy(sql)
            isOpen = true
            connection.openCopy = self
            try put(CopyRows.header)
        }
        try put(rows)
        rows.removeAll()
    }

    private func put(_ rows: CopyRows) throws {
        guard !rows.put(on: connection) else { return }
        let lost = PostgresError(nil, statement: sql, connection: connection.handle)
        failure = lost
        throw lost
    }

    /// Ends a `COPY` under way, so that the connection can be used for something else.
    func pause() {
        guard isOpen else { return }
        isOpen = false
        connection.openCopy = nil
        _ = CopyRows.trailer.put(on: connection)
        do { count += try connection.endCopy(sql) } catch { failure = failure ?? error }
    }
}

/// Work on a connection that pauses while other work uses the connection.
protocol PausedWork: AnyObject {
    func pause()

    /// Whether it runs outside of a transaction, although the connection appears to be in one.
    var isByItself: Bool { get }
}
