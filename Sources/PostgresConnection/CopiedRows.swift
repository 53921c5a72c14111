import CLibPQ

/// The rows that a query finds, as `COPY … TO STDOUT` sends them: one after the other, each read where it lies. The server finds the next ones meanwhile.
///
/// That takes the library less than half the time of a result, and no memory for rows that were read. The query has no parameters, since `COPY` takes
/// none. Whoever uses the connection in between has the rest wait in memory.
package final class CopiedRows: RowCells, PausedWork {
    /// Where a value lies in the message, and how long it is; -1 for none.
    @usableFromInline struct Cell {
        @usableFromInline let offset: Int32
        @usableFromInline let count: Int32
    }

    private static let part = "pippin_copy"
    private let connection: PostgresConnection
    private let sql: String
    let isByItself: Bool
    // Unsafe memory: the cells are allocated and freed here, as many as the server says that rows have columns; the message is the library's,
    // freed here once the next one is asked for. Cells are only filled with places that were checked to lie in the message.
    @exclusivity(unchecked) @usableFromInline let cells: UnsafeMutablePointer<Cell>
    @usableFromInline let columnCount: Int
    /// How many rows were read.
    package private(set) var count = 0
    @exclusivity(unchecked) @usableFromInline var message: UnsafeMutablePointer<CChar>?
    /// Whether a row was read, so that the header is behind.
    private var isBegun = false
    /// Whether everything was received that the server sends.
    private var isComplete = false
    private var failure: (any Error)?
    /// What was received for somebody else's sake, and is yet to be read.
    private var waiting: ArraySlice<(message: UnsafeMutablePointer<CChar>, count: Int)> = []

    /// Has the server begin.
    ///
    /// In a transaction, a query that fails leaves it as it was.
    ///
    /// - Parameters:
    ///   - query: the query: `SELECT t0._id, t0.title FROM book t0`.
    ///   - connection: the connection.
    /// - Throws: the server's errors.
    package init(_ query: String, _ connection: PostgresConnection) throws {
        connection.settle()
        let isByItself = !connection.isInTransaction
        // By itself: of statements that are sent together, none is run where one cannot be parsed.
        if !isByItself { try connection.execute("SAVEPOINT \(Self.part)") }
        connection.roundTrips += 1
        let copy = "COPY (\(query)) TO STDOUT (FORMAT binary)"
        let start = connection.awaiting { PQexec(connection.handle, copy) }
        defer { PQclear(start) }
        do {
            try connection.check(start, query)
            guard PQresultStatus(start) == PGRES_COPY_OUT else {
                throw PostgresError(state: "42601", message: "the statement is no query", statement: query)
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

    /// Ends it before all rows were read; nothing happens where they were.
    @usableFromInline package func stop() {
        guard !isComplete else { return }
        // Nothing else would keep the server from finding and sending all the rest.
        if connection.isUsable { connection.cancellation().cancel() }
        // That it was cancelled is what was wanted.
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

    /// Receives what is left, so that the connection can be used for something else.
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
    /// - Returns: how long it is; 0 behind the last one.
    private func receive() throws -> Int {
        PQfreemem(message)
        message = nil
        if let next = waiting.popFirst() {
            message = next.message
            return next.count
        }
        if let failure { throw failure }
        guard !isComplete else { return 0 }
        // What is there already is taken without looking at the clock.
        var count = PQgetCopyData(connection.handle, &message, 1)
        if count == 0 { count = connection.awaiting { PQgetCopyData(connection.handle, &message, 0) } }
        if count > 0 { return Int(count) }
        do { try finish(count) } catch {
            failure = error
            throw error
        }
        return 0
    }

    /// Drops what the server sends still.
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

    /// Receives what comes behind the rows.
    ///
    /// - Parameter end: what the library has said instead of a row: -1 for the end, -2 where it failed.
    /// - Throws: the server's error, or the library's: rows that are not there are never taken for the end.
    private func finish(_ end: Int32) throws {
        isComplete = true
        connection.openCopy = nil
        var failure: (any Error)? = end == -1 ? nil : PostgresError(nil, statement: sql, connection: connection.handle)
        while let result = connection.awaiting({ PQgetResult(connection.handle) }) {
            defer { PQclear(result) }
            // What the server says, says more.
            do { try connection.check(result, sql) } catch { failure = error }
            if !connection.isUsable || PQresultStatus(result) == PGRES_COPY_OUT { break }
        }
        if let failure {
            if !isByItself { Self.undo(connection) }
            throw failure
        }
        if !isByItself { try connection.execute("RELEASE SAVEPOINT \(Self.part)") }
    }

    /// Goes back to where the transaction was before.
    private static func undo(_ connection: PostgresConnection) {
        // The first error is the one to tell.
        if connection.isUsable { try? connection.execute("ROLLBACK TO SAVEPOINT \(part); RELEASE SAVEPOINT \(part)") }
    }

    // MARK: Messages

    /// What comes before the first row: a signature, flags, and the length of what nobody has defined yet.
    private static let headerCount = 19

    /// Finds the values of a row: the server sends each row as one message.
    ///
    /// - Returns: false where the message has no row.
    /// - Throws: an error for what is no row.
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
        // So many values has the end.
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
        return PostgresError(state: "08P01", message: "the server sent what is no row of COPY", statement: sql)
    }
}
