import CLibPQ

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
