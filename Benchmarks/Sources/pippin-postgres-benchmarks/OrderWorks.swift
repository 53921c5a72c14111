import CPQBaseline
import Foundation
import PippinPostgres

/// 3,884 orders with 120,000 lines, read and saved again.
func orderWorks(_ uri: String) throws {
    let names = [
        "read 3884 orders with 120,000 lines", "save them again, unchanged", "save them with one line changed in each",
    ]
    guard CommandLine.arguments.count < 4 || names.contains(where: { $0.contains(CommandLine.arguments[3]) }) else {
        return
    }
    let orders = (0..<3884).map(Order.make)
    let manager = PersistenceManager(models: Order.self, store: .postgres(uri, schema: "orders"))
    try manager.readAndWait { _ in }
    try manager.writeAndWait { try $0.save(orders) }
    let hand = try OrdersByHand(uri)
    try compare(names[0], atMost: 1.5) {
        Measure.of { precondition(hand.all() == orders) }
    } ours: {
        try Measure.of {
            let found = try manager.readAndWait { try $0.fetch(Order.self) }
            precondition(found == orders)
        }
    }
    try compare(names[1], atMost: 1.5) {
        Measure.of { precondition(hand.differing(from: orders) == 0) }
    } ours: {
        try Measure.of { try manager.writeAndWait { try $0.save(orders) } }
    }
    var changed = orders
    var turn = 0
    try compare(names[2], atMost: 1.5) {
        turn += 1
        for index in changed.indices { changed[index].lines[index % 30].quantity += turn }
        return Measure.of { precondition(hand.save(changed) == orders.count) }
    } ours: {
        turn += 1
        for index in changed.indices { changed[index].lines[index % 30].quantity += turn }
        return try Measure.of { try manager.writeAndWait { try $0.save(changed) } }
    }
}

/// The same with `libpq`: a statement for the orders and one for the lines, which are in order.
private final class OrdersByHand {
    private let database: ByHand
    private let owner: String
    private let place: String
    private static let epoch: Double = 366 * 86_400

    init(_ uri: String) throws {
        let database = ByHand(uri, schema: "orders")
        self.database = database
        func column(_ condition: String) -> String {
            let result = PQexec(
                database.connection,
                "SELECT column_name FROM information_schema.columns WHERE table_schema = 'orders' AND table_name = 'order_line' AND \(condition)"
            )
            defer { PQclear(result) }
            return PQgetvalue(result, 0, 0).map { String(cString: $0) } ?? ""
        }
        owner = column("column_name LIKE '%order_id'")
        place = column("column_name LIKE '\\_%\\_order'")
        precondition(!owner.isEmpty && !place.isEmpty)
    }

    private func run(_ sql: String) -> OpaquePointer? {
        let result = PQexecParams(database.connection, sql, 0, nil, nil, nil, nil, 1)
        precondition(PQresultStatus(result) == PGRES_TUPLES_OK, String(cString: PQerrorMessage(database.connection)))
        return result
    }

    func all() -> [Order] {
        let heads = run("SELECT _id, id, customer, order_date, freight FROM orders.\"order\" ORDER BY _id")
        let lines = run(
            """
            SELECT \(owner), id, product, unit_price, quantity, discount FROM orders.order_line ORDER BY \(owner), \(place) NULLS FIRST
            """)
        defer {
            PQclear(heads)
            PQclear(lines)
        }
        func bits(_ result: OpaquePointer?, _ row: Int32, _ column: Int32) -> UInt64 {
            UnsafeRawPointer(PQgetvalue(result, row, column))?.loadUnaligned(as: UInt64.self).bigEndian ?? 0
        }
        func text(_ result: OpaquePointer?, _ row: Int32, _ column: Int32) -> String {
            let bytes = UnsafeRawBufferPointer(
                start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
            return String(decoding: bytes, as: UTF8.self)
        }
        var orders: [Order] = []
        var line: Int32 = 0
        let lineCount = PQntuples(lines)
        for row in 0..<PQntuples(heads) {
            let key = bits(heads, row, 0)
            var own: [OrderLine] = []
            while line < lineCount, bits(lines, line, 0) == key {
                own.append(
                    OrderLine(
                        id: Int(Int64(bitPattern: bits(lines, line, 1))), product: text(lines, line, 2),
                        unitPrice: Double(bitPattern: bits(lines, line, 3)),
                        quantity: Int(Int64(bitPattern: bits(lines, line, 4))),
                        discount: Double(bitPattern: bits(lines, line, 5))))
                line += 1
            }
            let date = Double(Int64(bitPattern: bits(heads, row, 3))) / 1_000_000 - Self.epoch
            orders.append(
                Order(
                    id: Int(Int64(bitPattern: bits(heads, row, 1))), customer: text(heads, row, 2),
                    orderDate: Date(timeIntervalSinceReferenceDate: date),
                    freight: Double(bitPattern: bits(heads, row, 4)), lines: own))
        }
        return orders
    }

    /// How many orders differ from those that are there, which are in the same order.
    func differing(from orders: [Order]) -> Int {
        database.run("BEGIN")
        defer { database.run("COMMIT") }
        return zip(all(), orders).count { $0 != $1 }
    }

    /// Writes the lines that differ.
    func save(_ orders: [Order]) -> Int {
        database.run("BEGIN")
        defer { database.run("COMMIT") }
        var lines: [OrderLine] = []
        for (stored, order) in zip(all(), orders) where stored != order {
            for (old, new) in zip(stored.lines, order.lines) where old != new { lines.append(new) }
        }
        let lists = [
            lines.map { "\($0.id)" }, lines.map { "\"\($0.product)\"" }, lines.map { "\($0.unitPrice)" },
            lines.map { "\($0.quantity)" }, lines.map { "\($0.discount)" },
        ].map { Array(("{" + $0.joined(separator: ",") + "}").utf8CString) }
        let flat = lists.flatMap { $0 }
        flat.withUnsafeBufferPointer { buffer in
            var values: [UnsafePointer<CChar>?] = []
            var offset = 0
            for list in lists {
                values.append(buffer.baseAddress.map { $0 + offset })
                offset += list.count
            }
            PQclear(
                PQexecParams(
                    database.connection,
                    """
                    UPDATE orders.order_line t SET product = u.p, unit_price = u.u, quantity = u.q, discount = u.d, \
                    _version = t._version + 1 FROM unnest($1::bigint[], $2::text[], $3::float8[], $4::bigint[], $5::float8[]) \
                    AS u(i, p, u, q, d) WHERE t.id = u.i
                    """, 5, nil, &values, nil, nil, 1))
        }
        return lines.count
    }
}
