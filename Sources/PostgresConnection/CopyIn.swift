import CPippinPQ

/// Writes rows to a table in `COPY`'s binary format.
@usableFromInline package struct CopyWriter {
    @usableFromInline var values = BinaryValues()
    private let connection: PostgresConnection
    private static let portion = 1 << 18

    init(_ connection: PostgresConnection) {
        self.connection = connection
        values.reserve(Self.portion + (1 << 16))
        for byte: UInt8 in [0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00] { values.append(byte) }
        values.append(Int32(0))
        values.append(Int32(0))
    }

    /// Begins the next row.
    ///
    /// - Parameter columns: how many values follow.
    /// - Throws: the error of a connection that is lost.
    package mutating func beginRow(_ columns: Int) throws {
        if values.bytes.count >= Self.portion { try send() }
        values.append(Int16(columns))
    }

    @inlinable @inline(__always)
    package mutating func append(_ value: some BinaryValue) { values.appendSized(value) }

    @inlinable package mutating func appendNull() { values.appendNull() }

    mutating func append(contentsOf rows: BinaryValues) throws {
        rows.bytes.withUnsafeBytes { values.append(contentsOf: $0) }
        try send()
    }

    mutating func finish() throws {
        values.append(Int16(-1))
        try send()
    }

    private mutating func send() throws {
        let isSent = values.bytes.withUnsafeBytes { connection.putCopyData($0) }
        values.removeAll()
        guard isSent else { throw PostgresError(nil, statement: nil, connection: connection.handle) }
    }
}

/// Rows for `COPY` that are collected before it begins.
@usableFromInline package struct CopyRows {
    @usableFromInline var values = BinaryValues()
    @usableFromInline package var count = 0

    package init() {}

    @inlinable package var byteCount: Int { values.bytes.count }

    /// Begins the next row.
    ///
    /// - Parameter columns: how many values follow.
    @inlinable package mutating func beginRow(_ columns: Int) {
        count += 1
        values.append(Int16(columns))
    }

    @inlinable @inline(__always)
    package mutating func append(_ value: some BinaryValue) { values.appendSized(value) }

    @inlinable package mutating func appendNull() { values.appendNull() }

    package mutating func removeAll() {
        values.removeAll()
        count = 0
    }

    func append(to writer: inout CopyWriter) throws { try writer.append(contentsOf: values) }

    /// The bytes before the first row, and after the last one.
    static var header: CopyRows {
        var header = CopyRows()
        for byte: UInt8 in [0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00] {
            header.values.append(byte)
        }
        header.values.append(Int32(0))
        header.values.append(Int32(0))
        return header
    }
    static var trailer: CopyRows {
        var trailer = CopyRows()
        trailer.values.append(Int16(-1))
        return trailer
    }

    /// Hands the rows to the library.
    ///
    /// - Returns: false if the connection is lost.
    func put(on connection: PostgresConnection) -> Bool {
        connection.watch?.begin()
        defer { connection.watch?.end() }
        return values.bytes.withUnsafeBytes { connection.putCopyData($0) }
    }
}

extension PostgresConnection {
    /// Writes rows that were collected: `COPY car (maker) FROM STDIN (FORMAT binary)`.
    @discardableResult
    package func copy(_ sql: String, _ rows: CopyRows) throws -> Int {
        try copy(sql) { writer in try rows.append(to: &writer) }
    }

    /// Writes many rows at once: `COPY car (maker) FROM STDIN (FORMAT binary)`.
    ///
    /// - Parameters:
    ///   - sql: the statement.
    ///   - body: writes the rows.
    /// - Returns: how many rows were added.
    /// - Throws: the server's errors, and the errors of `body`; then no row is added.
    @discardableResult
    package func copy(_ sql: String, _ body: (inout CopyWriter) throws -> Void) throws -> Int {
        settle()
        try beginCopy(sql)
        watch?.begin()
        defer { watch?.end() }
        var failure: (any Error)?
        var writer = CopyWriter(self)
        do {
            try body(&writer)
            try writer.finish()
        } catch { failure = error }
        do {
            let count = try endCopy(sql, failing: failure != nil)
            if let failure { throw failure }
            return count
        } catch { throw failure ?? error }
    }

    /// Hands bytes to the library, which takes less than 2 GB at once.
    ///
    /// - Returns: false if the connection is lost.
    func putCopyData(_ raw: UnsafeRawBufferPointer) -> Bool {
        let most = 1 << 28
        guard raw.count > most else {
            return PQputCopyData(handle, raw.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(raw.count)) == 1
        }
        return stride(from: 0, to: raw.count, by: most).allSatisfy { start in
            putCopyData(UnsafeRawBufferPointer(rebasing: raw[start..<min(start + most, raw.count)]))
        }
    }

    func beginCopy(_ sql: String) throws {
        noteSending(sql)
        watch?.begin()
        defer { watch?.end() }
        let start = PQexec(handle, sql)
        defer { PQclear(start) }
        try check(start, sql)
        guard PQresultStatus(start) == PGRES_COPY_IN else {
            throw PostgresError(state: "42601", message: "the statement is not a COPY FROM STDIN", statement: sql)
        }
    }

    /// - Returns: how many rows were added.
    /// - Throws: the server's error, including the intended one if `failing`.
    func endCopy(_ sql: String, failing: Bool = false) throws -> Int {
        roundTrips += 1
        watch?.begin()
        defer { watch?.end() }
        PQputCopyEnd(handle, failing ? "the rows could not be made" : nil)
        var count = 0
        var failure: (any Error)?
        while let pointer = PQgetResult(handle) {
            let result = PostgresResult(pointer)
            do {
                try check(pointer, sql)
                count = result.affected
            } catch {
                failure = failure ?? error
                if !isUsable { break }
            }
        }
        if let failure { throw failure }
        return count
    }
}
