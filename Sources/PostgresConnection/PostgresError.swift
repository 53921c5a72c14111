import CLibPQ

/// What PostgreSQL, or the library that talks to it, reports when a call fails. A password is never in it.
package struct PostgresError: Error, Equatable, CustomStringConvertible {
    /// The five characters that say what kind of error it is, such as `23505`; those of class 08 where the connection failed.
    package var state: String
    /// The server's own sentence.
    package var message: String
    package var detail: String?
    /// What the server suggests.
    package var hint: String?
    /// The table, the column and the constraint that are concerned, where the server says them.
    package var table: String?
    package var column: String?
    package var constraint: String?
    /// The statement that failed; nil where no statement was involved, as in connecting.
    package var statement: String?

    package init(state: String, message: String, statement: String? = nil) {
        (self.state, self.message, self.statement) = (state, message, statement)
    }

    /// Reads the fields of a result that is an error.
    init(_ result: OpaquePointer?, statement: String?, connection: OpaquePointer?) {
        func field(_ code: Character) -> String? {
            PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
        }
        let text = connection.flatMap { PQerrorMessage($0) }.map { String(cString: $0) } ?? ""
        // Without a state, the library itself failed: it has lost the connection, or memory.
        state = field("C") ?? Self.connectionFailure
        message = field("M") ?? Self.firstLine(of: text)
        (detail, hint) = (field("D"), field("H"))
        (table, column, constraint) = (field("t"), field("c"), field("n"))
        self.statement = statement
    }

    private static func firstLine(of text: String) -> String {
        let line = text.split(separator: "\n").first.map(String.init) ?? "the connection was lost"
        return line
    }

    /// The state of connections that are lost.
    package static let connectionFailure = "08006"

    package var description: String {
        var text = "PostgreSQL error \(state): \(message)"
        if let detail { text += " (\(detail))" }
        if let statement { text += " in \"\(statement)\"" }
        if let hint { text += "; \(hint)" }
        return text
    }

    /// Two rows would have the same unique values.
    package var isUniqueViolation: Bool { state == "23505" }
    /// A row would lead to one that is not there.
    package var isForeignKeyViolation: Bool { state == "23503" }
    /// Another transaction came in between, and the same work may succeed when it is done again.
    package var isRetryable: Bool { state == "40001" || state == "40P01" }
    /// The server is not there, or there no longer.
    package var isConnectionFailure: Bool { state.hasPrefix("08") || state.hasPrefix("57P") }
    /// The server takes no writes, as one that was made a standby does.
    package var isOnStandby: Bool {
        state == "25006" || state == "0A000" && statement?.hasPrefix("BEGIN") == true
    }
    /// Another server may do what this one does not, or this one may do it later: it is not there, is starting, is a standby, or is full.
    package var isWorthLookingElsewhere: Bool {
        isConnectionFailure && state != "57P04" || isOnStandby || state == "53300"
    }
    /// The role may not do this.
    package var isPermissionDenied: Bool { state == "42501" }
    /// Somebody, or a time limit, cancelled the statement.
    package var isCancelled: Bool { state == "57014" }
    /// A lock was not to be had in time.
    package var isLockTimeout: Bool { state == "55P03" }
    /// The statement makes no sense to the server: it has no such operator, types do not match.
    package var isSyntaxOrTypeError: Bool { state.hasPrefix("42") && !isPermissionDenied }
    /// A value does not fit, or cannot be computed: a number that is too large, a division by zero.
    package var isDataError: Bool { state.hasPrefix("22") }
    /// There is no database of that name.
    package var isMissingDatabase: Bool { state == "3D000" }
    /// A table or a schema is not there.
    package var isMissingTable: Bool { state == "42P01" || state == "3F000" }
    /// A statement was prepared when its tables looked different.
    package var isOutdatedPlan: Bool { state == "0A000" && message.contains("cached plan") }
}
