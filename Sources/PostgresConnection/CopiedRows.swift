import CPippinPQ

/// The rows of a query, as `COPY … TO STDOUT` sends them: one after the other, each read in place, while the server
/// finds the next ones.
///
/// This takes the library less than half the time of a result, and no memory for rows that were read. The query has no
/// parameters, since `COPY` takes none. If the connection is used in between, the remaining rows are received into
/// memory first.
package final class CopiedRows: RowCells, PausedWork {
    /// The position and length of a value in the message; -1 for NULL.
    @usableFromInline struct Cell {
        @usableFromInline let offset: Int32
        @usableFromInline let count: Int32
    }

    private static let part = "pippin_copy"
    private let connection: PostgresConnection
    private let sql: String
    let isByItself: Bool
    // Unsafe memory: the cells are allocated and freed here, one for each column that the server announces; the message
    // belongs to the library, and is freed here when the next one is requested. Cells are filled only with positions
    // that were checked to lie in the message. Accesses are not checked for overlaps: only one thread at a time uses
    // this.
    @exclusivity(unchecked) @usableFromInline let cells: UnsafeMutablePointer<Cell>
    @usableFromInline let columnCount: Int
    /// How many rows were read.
    package private(set) var count = 0
    @exclusivity(unchecked) @usableFromInline var message: UnsafeMutablePointer<CChar>?
    /// Whether a row was read, so that the header has been passed.
    private var isBegun = false
    /// Whether everything from the server has been received.
    private var isComplete = false
    private var failure: (any Error)?
    /// Messages that were received to free the connection, and have not been read yet.
    private var waiting: ArraySlice<(message: UnsafeMutablePointer<CChar>, count: Int)> = []

    /// Starts the query.
    ///
    /// In a transaction, a query that fails leaves the transaction as it was.
    ///
    /// - Parameters:
    ///   - query: the query: `SELECT t0._id, t0.title FROM book t0`.
    ///   - connection: the connection.
    ///   - check: a statement that fails where the query must not be answered; outside of a transaction, it is sent
    ///     along.
    /// - Throws: the server's errors.
    package init(_ query: String, _ connection: PostgresConnection, after check: String? = nil) throws {
        connection.settle()
        let isByItself = !connection.isInTransaction
        // Sent separately: of statements that are sent together, none is run if one cannot be parsed.
        if !isByItself { try connection.execute("SAVEPOINT \(Self.part)") }
        let copy = (isByItself ? check.map { $0 + "; " } ?? "" : "") + "COPY (\(query)) TO STDOUT (FORMAT binary)"
        connection.noteSending(copy)
        let start = connection.awaiting { PQexec(connection.handle, copy) }
        defer { PQclear(start) }
        do {
            try connection.check(start, query)
            guard PQresultStatus(start) == PGRES_COPY_OUT else {
                throw PostgresError(state: "42601", message: "the statement is not a query", statement: query)
            }
        } catch {
            if !isByItself { Self.undo(connection) }
            throw error
        }
        (self.connection, self.sql, self.isByItself) = (connection, query, isByItself)
        columnCount = Int(PQnfields(start))
        cells = .allocate(capacity: max(columnCount, 1))
        cells.initialize(repeating: Cell(offset: 0, count: -1), count: max(columnCount, 1))
        connection.openCopy = self
    }

    deinit {
        stop()
        PQfreemem(message)
        for (message, _) in waiting { PQfreemem(message) }
        cells.deallocate()
    }

    // MARK: Reading

    @inlinable @inline(__always)
    package func raw(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        guard column >= 0, column < columnCount, let message, cells[column].count >= 0 else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        let cell = cells[column]
        return UnsafeRawBufferPointer(start: UnsafeRawPointer(message) + Int(cell.offset), count: Int(cell.count))
    }

    @inlinable @inline(__always)
    package func isNull(_ row: Int, _ column: Int) -> Bool {
        column < 0 || column >= columnCount || cells[column].count < 0
    }

    @inlinable @inline(__always)
    package func forEachRow(_ body: (Int) throws -> Bool) throws {
        while try next() { if try !body(0) { return stop() } }
    }

    /// Goes to the next row.
    ///
    /// - Returns: false at the end.
    /// - Throws: the server's errors.
    package func next() throws -> Bool {
        while true {
            let size = try receive()
            guard size > 0, let message else { return false }
            if try split(UnsafeRawBufferPointer(start: message, count: size)) {
                count += 1
                return true
            }
        }
    }

    /// Ends it before all rows were read; does nothing if all were.
    @usableFromInline package func stop() {
        guard !isComplete else { return }
        // Otherwise the server would find and send all remaining rows.
        if connection.isUsable { connection.cancellation().cancel() }
        // The cancellation was intended.
        do { try finish(drop()) } catch {}
        failure = nil
    }

    /// Receives all rows, before any is read.
    ///
    /// - Throws: the server's errors.
    package func receiveAll() throws {
        pause()
        if let failure { throw failure }
    }

    /// Receives the remaining rows, so that the connection can be used for something else.
    func pause() {
        guard !isComplete else { return }
        connection.watch?.begin()
        defer { connection.watch?.end() }
        var message: UnsafeMutablePointer<CChar>?
        var count: Int32 = 0
        while true {
            count = PQgetCopyData(connection.handle, &message, 0)
            guard count > 0, let received = message else { break }
            waiting.append((received, Int(count)))
        }
        do { try finish(count) } catch { failure = error }
    }

    // MARK: Receiving

    /// Takes the next message.
    ///
    /// - Returns: its length; 0 after the last one.
    private func receive() throws -> Int {
        PQfreemem(message)
        message = nil
        if let next = waiting.popFirst() {
            message = next.message
            return next.count
        }
        if let failure { throw failure }
        guard !isComplete else { return 0 }
        // Data that has arrived already is taken without looking at the clock.
        var count = PQgetCopyData(connection.handle, &message, 1)
        if count == 0 { count = connection.awaiting { PQgetCopyData(connection.handle, &message, 0) } }
        if count > 0 { return Int(count) }
        do { try finish(count) } catch {
            failure = error
            throw error
        }
        return 0
    }

    /// Discards what the server still sends.
    ///
    /// - Returns: what the library says at the end.
    private func drop() -> Int32 {
        connection.watch?.begin()
        defer { connection.watch?.end() }
        var message: UnsafeMutablePointer<CChar>?
        var count: Int32 = 1
        while count > 0 {
            count = PQgetCopyData(connection.handle, &message, 0)
            PQfreemem(message)
            message = nil
        }
        return count
    }

    /// Receives the result after the rows.
    ///
    /// - Parameter end: what the library has returned instead of a row: -1 for the end, -2 for a failure.
    /// - Throws: the server's error, or the library's: missing rows are never taken for the end.
    private func finish(_ end: Int32) throws {
        isComplete = true
        connection.openCopy = nil
        var failure: (any Error)? = end == -1 ? nil : PostgresError(nil, statement: sql, connection: connection.handle)
        while let result = connection.awaiting({ PQgetResult(connection.handle) }) {
            defer { PQclear(result) }
            // The server's own message is more detailed.
            do { try connection.check(result, sql) } catch { failure = error }
            if !connection.isUsable || PQresultStatus(result) == PGRES_COPY_OUT { break }
        }
        if let failure {
            if !isByItself { Self.undo(connection) }
            throw failure
        }
        if !isByItself { try connection.execute("RELEASE SAVEPOINT \(Self.part)") }
    }

    /// Returns the transaction to its former state.
    private static func undo(_ connection: PostgresConnection) {
        // The first error is the one to report.
        if connection.isUsable { try? connection.execute("ROLLBACK TO SAVEPOINT \(part); RELEASE SAVEPOINT \(part)") }
    }

    // MARK: Messages

    /// The bytes before the first row: a signature, flags, and the length of a header extension that is not defined
    /// yet.
    private static let headerCount = 19

    /// Finds the values of a row, which the server sends as one message.
    ///
    /// - Returns: false if the message contains no row.
    /// - Throws: an error for an invalid row.
    private func split(_ message: UnsafeRawBufferPointer) throws -> Bool {
        var position = 0
        if !isBegun {
            isBegun = true
            position = Self.headerCount
            guard message.count >= position else { throw malformed() }
            position += Int(Int32(bigEndian: message.loadUnaligned(fromByteOffset: 15, as: Int32.self)))
            guard position >= Self.headerCount, position <= message.count else { throw malformed() }
            if position == message.count { return false }
        }
        guard position + 2 <= message.count else { throw malformed() }
        let count = Int16(bigEndian: message.loadUnaligned(fromByteOffset: position, as: Int16.self))
        // This count of values marks the end.
        if count == -1 { return false }
        guard Int(count) == columnCount else { throw malformed() }
        position += 2
        for column in 0..<columnCount {
            guard position + 4 <= message.count else { throw malformed() }
            let count = Int32(bigEndian: message.loadUnaligned(fromByteOffset: position, as: Int32.self))
            position += 4
            cells[column] = Cell(offset: Int32(truncatingIfNeeded: position), count: max(count, -1))
            position += Int(max(count, 0))
        }
        guard position <= message.count else { throw malformed() }
        return true
    }

    private func malformed() -> PostgresError {
        stop()
        return PostgresError(state: "08P01", message: "the server sent what is not a row of COPY", statement: sql)
    }
}
