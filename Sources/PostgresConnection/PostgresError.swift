import CLibPQ

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
