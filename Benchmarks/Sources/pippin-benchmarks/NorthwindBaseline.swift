import CSQLiteBaseline
import Foundation

/// Orders by the C API, into and out of the same structs.
extension Baseline {
    func fetchOrders() throws -> [Order] {
        let statement = try prepare(
            """
            SELECT ZID, ZCUSTOMER, ZEMPLOYEE, ZORDERDATE, ZREQUIREDDATE, ZSHIPPEDDATE, ZSHIPVIA, ZFREIGHT, ZSHIPNAME,
            ZSHIPADDRESS, ZSHIPCITY, ZSHIPREGION, ZSHIPPOSTALCODE, ZSHIPCOUNTRY FROM ZORDER
            """)
        defer { sqlite3_finalize(statement) }
        var orders: [Order] = []
        while try step(statement) { orders.append(Order(statement)) }
        return orders
    }

    /// Two statements, each in the order of the orders; lines are taken to their order as they come.
    func fetchOrdersWithLines(linesInOrder: Bool = true) throws -> [OrderWithLines] {
        let orders = try prepare("SELECT Z_PK, ZID, ZCUSTOMER, ZORDERDATE, ZFREIGHT FROM ZBIGORDER ORDER BY Z_PK")
        defer { sqlite3_finalize(orders) }
        let lines = try prepare(
            """
            SELECT ZLINESOFBIGORDER, ZID, ZPRODUCT, ZUNITPRICE, ZQUANTITY, ZDISCOUNT FROM ZORDERLINE
            ORDER BY ZLINESOFBIGORDER\(linesInOrder ? ", Z_FOK_LINESOFBIGORDER" : "")
            """)
        defer { sqlite3_finalize(lines) }
        var found: [OrderWithLines] = []
        var isLine = try step(lines)
        while try step(orders) {
            let key = sqlite3_column_int64(orders, 0)
            var own: [OrderLine] = []
            while isLine, sqlite3_column_int64(lines, 0) <= key {
                own.append(
                    OrderLine(
                        id: Int(sqlite3_column_int64(lines, 1)), product: text(lines, 2) ?? "",
                        unitPrice: sqlite3_column_double(lines, 3), quantity: Int(sqlite3_column_int64(lines, 4)),
                        discount: sqlite3_column_double(lines, 5)))
                isLine = try step(lines)
            }
            found.append(
                OrderWithLines(
                    id: Int(sqlite3_column_int64(orders, 1)), customer: text(orders, 2), orderDate: date(orders, 3),
                    freight: double(orders, 4), lines: own))
        }
        return found
    }

    func insert(_ orders: [Order]) throws {
        let statement = try prepare(
            """
            INSERT INTO ZORDER (Z_PK, Z_ENT, Z_OPT, ZID, ZCUSTOMER, ZEMPLOYEE, ZORDERDATE, ZREQUIREDDATE, ZSHIPPEDDATE, ZSHIPVIA,
            ZFREIGHT, ZSHIPNAME, ZSHIPADDRESS, ZSHIPCITY, ZSHIPREGION, ZSHIPPOSTALCODE, ZSHIPCOUNTRY)
            VALUES (?, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Order'), 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        defer { sqlite3_finalize(statement) }
        try execute("BEGIN IMMEDIATE")
        for (index, order) in orders.enumerated() {
            sqlite3_bind_int64(statement, 1, Int64(index + 1))
            sqlite3_bind_int64(statement, 2, Int64(order.id))
            bind(order.customer, to: statement, at: 3)
            bind(order.employee.map(Double.init), to: statement, at: 4)
            bind(order.orderDate?.timeIntervalSinceReferenceDate, to: statement, at: 5)
            bind(order.requiredDate?.timeIntervalSinceReferenceDate, to: statement, at: 6)
            bind(order.shippedDate?.timeIntervalSinceReferenceDate, to: statement, at: 7)
            bind(order.shipVia.map(Double.init), to: statement, at: 8)
            bind(order.freight, to: statement, at: 9)
            let texts = [
                order.shipName, order.shipAddress, order.shipCity, order.shipRegion, order.shipPostalCode,
                order.shipCountry,
            ]
            for (place, text) in texts.enumerated() { bind(text, to: statement, at: Int32(10 + place)) }
            try finish(statement)
        }
        try execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(orders.count) WHERE Z_NAME = 'Order'")
        try execute("COMMIT")
    }

    /// New rows, as a save writes them.
    func insert(_ orders: [OrderWithLines]) throws {
        let order = try prepare(
            "INSERT INTO ZBIGORDER (Z_PK, Z_ENT, Z_OPT, ZID, ZCUSTOMER, ZORDERDATE, ZFREIGHT) VALUES (?, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'BigOrder'), 1, ?, ?, ?, ?)"
        )
        defer { sqlite3_finalize(order) }
        let line = try prepare(
            """
            INSERT INTO ZORDERLINE (Z_PK, Z_ENT, Z_OPT, ZID, ZPRODUCT, ZUNITPRICE, ZQUANTITY, ZDISCOUNT, ZLINESOFBIGORDER,
            Z_FOK_LINESOFBIGORDER) VALUES (?, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'OrderLine'), 1, ?, ?, ?, ?, ?, ?, ?)
            """)
        defer { sqlite3_finalize(line) }
        try execute("BEGIN IMMEDIATE")
        var lineKey: Int64 = 0
        for (index, value) in orders.enumerated() {
            sqlite3_bind_int64(order, 1, Int64(index + 1))
            sqlite3_bind_int64(order, 2, Int64(value.id))
            bind(value.customer, to: order, at: 3)
            bind(value.orderDate?.timeIntervalSinceReferenceDate, to: order, at: 4)
            bind(value.freight, to: order, at: 5)
            try finish(order)
            for (place, own) in value.lines.enumerated() {
                lineKey += 1
                sqlite3_bind_int64(line, 1, lineKey)
                bind(own, to: line, from: 2)
                sqlite3_bind_int64(line, 7, Int64(index + 1))
                sqlite3_bind_int64(line, 8, Int64(place + 2) * 1024)
                try finish(line)
            }
        }
        try execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(orders.count) WHERE Z_NAME = 'BigOrder'")
        try execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(lineKey) WHERE Z_NAME = 'OrderLine'")
        try execute("COMMIT")
    }

    /// Known rows are read and compared; what differs is written.
    func saveAgain(_ orders: [OrderWithLines]) throws {
        try execute("BEGIN IMMEDIATE")
        let stored = try fetchOrdersWithLines()
        let update = try prepare(
            """
            UPDATE ZORDERLINE SET Z_OPT = Z_OPT + 1, ZID = ?, ZPRODUCT = ?, ZUNITPRICE = ?, ZQUANTITY = ?, ZDISCOUNT = ?
            WHERE ZID = ?
            """)
        defer { sqlite3_finalize(update) }
        var known: [Int: Int] = [:]
        for (index, order) in stored.enumerated() { known[order.id] = index }
        for order in orders {
            guard let index = known[order.id] else { continue }
            for (old, new) in zip(stored[index].lines, order.lines) where old != new {
                bind(new, to: update, from: 1)
                sqlite3_bind_int64(update, 6, Int64(new.id))
                try finish(update)
            }
        }
        try execute("COMMIT")
    }

    private func bind(_ line: OrderLine, to statement: OpaquePointer, from first: Int32) {
        sqlite3_bind_int64(statement, first, Int64(line.id))
        bind(line.product, to: statement, at: first + 1)
        sqlite3_bind_double(statement, first + 2, line.unitPrice)
        sqlite3_bind_int64(statement, first + 3, Int64(line.quantity))
        sqlite3_bind_double(statement, first + 4, line.discount)
    }

    private func bind(_ text: String?, to statement: OpaquePointer, at index: Int32) {
        if let text { bind(text, to: statement, at: index) } else { sqlite3_bind_null(statement, index) }
    }

    private func bind(_ number: Double?, to statement: OpaquePointer, at index: Int32) {
        if let number { sqlite3_bind_double(statement, index, number) } else { sqlite3_bind_null(statement, index) }
    }

    /// Orders, lines, their values and their places: what a save must have left behind.
    func orderSummary() throws -> [Int64] {
        let statement = try prepare(
            """
            SELECT (SELECT COUNT(*) FROM ZBIGORDER), (SELECT SUM(Z_OPT) FROM ZBIGORDER), COUNT(*), SUM(Z_OPT),
            SUM(ZQUANTITY), SUM(ZID * Z_FOK_LINESOFBIGORDER), COUNT(DISTINCT ZLINESOFBIGORDER) FROM ZORDERLINE
            """)
        defer { sqlite3_finalize(statement) }
        _ = try step(statement)
        return (0..<7).map { sqlite3_column_int64(statement, $0) }
    }
}

private func text(_ statement: OpaquePointer, _ column: Int32) -> String? {
    guard let bytes = sqlite3_column_text(statement, column) else { return nil }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
}

private func double(_ statement: OpaquePointer, _ column: Int32) -> Double? {
    sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : sqlite3_column_double(statement, column)
}

private func integer(_ statement: OpaquePointer, _ column: Int32) -> Int? {
    sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : Int(sqlite3_column_int64(statement, column))
}

private func date(_ statement: OpaquePointer, _ column: Int32) -> Date? {
    double(statement, column).map(Date.init(timeIntervalSinceReferenceDate:))
}

extension Order {
    fileprivate init(_ row: OpaquePointer) {
        id = Int(sqlite3_column_int64(row, 0))
        customer = text(row, 1)
        employee = integer(row, 2)
        orderDate = date(row, 3)
        requiredDate = date(row, 4)
        shippedDate = date(row, 5)
        shipVia = integer(row, 6)
        freight = double(row, 7)
        shipName = text(row, 8)
        shipAddress = text(row, 9)
        shipCity = text(row, 10)
        shipRegion = text(row, 11)
        shipPostalCode = text(row, 12)
        shipCountry = text(row, 13)
    }
}
