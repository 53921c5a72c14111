import CPQBaseline
import Foundation

/// What one would write against `libpq`: prepared statements, binary values, `COPY` for many rows, on the table that
/// Pippin has made.
final class ByHand {
    let connection: OpaquePointer
    private let table: String
    private static let columns = "_id, id, title, count, price, created_at, is_flagged"
    /// Seconds from 2000-01-01, which the server counts from, to 2001-01-01.
    private static let epoch: Double = 366 * 86_400

    init(_ uri: String, schema: String) {
        guard let opened = PQconnectdb(uri), PQstatus(opened) == CONNECTION_OK else {
            fatalError("the server of the measurements is gone")
        }
        connection = opened
        table = "\"\(schema)\".item"
        run("SET client_min_messages = warning")
    }

    deinit { PQfinish(connection) }

    func run(_ sql: String) {
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
            fatalError(String(cString: PQerrorMessage(connection)))
        }
    }

    func empty() { run("TRUNCATE \(table) RESTART IDENTITY") }

    /// The database gives out the keys.
    func save(_ items: [Item]) {
        run("BEGIN")
        let columns = Self.columns.dropFirst("_id, ".count)
        let start = PQexec(connection, "COPY \(table) (\(columns)) FROM STDIN (FORMAT binary)")
        guard PQresultStatus(start) == PGRES_COPY_IN else { fatalError(String(cString: PQerrorMessage(connection))) }
        PQclear(start)
        var bytes: [UInt8] = [0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        bytes.reserveCapacity(1 << 19)
        func send() {
            _ = bytes.withUnsafeBytes {
                PQputCopyData(connection, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count))
            }
            bytes.removeAll(keepingCapacity: true)
        }
        func add<Number: FixedWidthInteger>(_ number: Number, sized: Bool = true) {
            if sized {
                withUnsafeBytes(of: Int32(MemoryLayout<Number>.size).bigEndian) { bytes.append(contentsOf: $0) }
            }
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }
        func add(_ text: String) {
            var text = text
            text.withUTF8 { utf8 in
                add(Int32(utf8.count), sized: false)
                bytes.append(contentsOf: utf8)
            }
        }
        for item in items {
            add(Int16(6), sized: false)
            add(item.id)
            add(item.title)
            add(Int64(item.count))
            add(item.price.bitPattern)
            add(Int64((item.createdAt.timeIntervalSinceReferenceDate + Self.epoch) * 1_000_000))
            add(UInt8(item.isFlagged ? 1 : 0))
            if bytes.count > 1 << 18 { send() }
        }
        add(Int16(-1), sized: false)
        send()
        PQputCopyEnd(connection, nil)
        while let result = PQgetResult(connection) { PQclear(result) }
        run("COMMIT")
    }

    private func items(_ result: OpaquePointer?) -> [Item] {
        let count = PQntuples(result)
        var items: [Item] = []
        items.reserveCapacity(Int(count))
        func bits(_ row: Int32, _ column: Int32) -> UInt64 {
            UnsafeRawPointer(PQgetvalue(result, row, column))?.loadUnaligned(as: UInt64.self).bigEndian ?? 0
        }
        func text(_ row: Int32, _ column: Int32) -> String {
            let bytes = UnsafeRawBufferPointer(
                start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
            return String(decoding: bytes, as: UTF8.self)
        }
        for row in 0..<count {
            items.append(
                Item(
                    id: text(row, 1), title: text(row, 2), count: Int(Int64(bitPattern: bits(row, 3))),
                    price: Double(bitPattern: bits(row, 4)),
                    createdAt: Date(
                        timeIntervalSinceReferenceDate: Double(Int64(bitPattern: bits(row, 5))) / 1_000_000 - Self.epoch
                    ),
                    isFlagged: PQgetvalue(result, row, 6)?.pointee == 1))
        }
        return items
    }

    private func fetch(_ sql: String) -> [Item] {
        let result = PQexecParams(connection, sql, 0, nil, nil, nil, nil, 1)
        defer { PQclear(result) }
        return items(result)
    }

    func all() -> [Item] { fetch("SELECT \(Self.columns) FROM \(table)") }

    /// One at a time, with a prepared statement.
    func find(_ identifiers: [String]) -> Int {
        prepareFinding()
        var found = 0
        for identifier in identifiers where find(identifier) != nil { found += 1 }
        run("DEALLOCATE find")
        return found
    }

    func prepareFinding() {
        PQclear(PQprepare(connection, "find", "SELECT \(Self.columns) FROM \(table) WHERE id = $1 LIMIT 1", 1, nil))
    }

    func find(_ identifier: String) -> Item? {
        identifier.withCString { text in
            var values: [UnsafePointer<CChar>?] = [text]
            let result = PQexecPrepared(connection, "find", 1, &values, nil, nil, 1)
            defer { PQclear(result) }
            return items(result).first
        }
    }

    /// All with one statement.
    func findAll(_ identifiers: [String]) -> Int {
        let list = "{" + identifiers.joined(separator: ",") + "}"
        return list.withCString { text in
            var values: [UnsafePointer<CChar>?] = [text]
            let result = PQexecParams(
                connection, "SELECT \(Self.columns) FROM \(table) WHERE id = ANY($1::text[])", 1, nil, &values, nil,
                nil, 1)
            defer { PQclear(result) }
            return items(result).count
        }
    }

    /// The keys of all rows.
    func keys() -> [Int64] {
        let result = PQexecParams(connection, "SELECT _id FROM \(table)", 0, nil, nil, nil, nil, 1)
        defer { PQclear(result) }
        return (0..<PQntuples(result)).map { row in
            UnsafeRawPointer(PQgetvalue(result, row, 0))?.loadUnaligned(as: Int64.self).bigEndian ?? 0
        }
    }

    /// One attribute of all rows, by arrays of keys and values.
    func change(_ counts: [(key: Int64, count: Int)]) {
        let keys = "{" + counts.map { "\($0.key)" }.joined(separator: ",") + "}"
        let values = "{" + counts.map { "\($0.count)" }.joined(separator: ",") + "}"
        keys.withCString { keys in
            values.withCString { values in
                var list: [UnsafePointer<CChar>?] = [keys, values]
                let result = PQexecParams(
                    connection,
                    "UPDATE \(table) t SET count = u.c, _version = t._version + 1 FROM unnest($1::bigint[], $2::bigint[]) AS u(k, c) WHERE t._id = u.k",
                    2, nil, &list, nil, nil, 1)
                PQclear(result)
            }
        }
    }
}
