import Foundation
import Pippin
import TestSupport
import Testing

private enum Kind: String, Codable, Sendable { case retail, trade }

private struct Buyer: CoreModel {
    let id: Int
    var name: String
    var mail: Address
}

private struct Address: Codable, Sendable { var street: String }

private struct Order: CoreModel {
    let id: UUID
    var placed: Date
    var total: Decimal
    var paid = false
    var kind = Kind.retail
    var buyer: Reference<Buyer>?
    var link: URL?
    var bytes: Data?
}

private struct Sales: Decodable, Equatable, Sendable {
    let month: String
    let total: Decimal
}

private struct OrderRow: Decodable, Sendable {
    let id: UUID
    let placed: Date
    let total: Decimal
    let paid: Bool
    let kind: Kind
    let link: URL?
    let bytes: Data?
    let missing: Int?
}

@CoreModel
private struct Total: Equatable {
    let id: String
    var count: Int
    var sum: Double
    var least: Decimal?
    var latest: Date?
    var paid: Bool
    var note: String?
}

@Suite("Typed SQL")
struct TypedSQLTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }
    private let day = Date(timeIntervalSince1970: 1_780_000_000)

    init() async throws {
        counter = try Counter(Order.self, Buyer.self)
        try await manager.save(Buyer(id: 1, name: "Robert'); DROP TABLE ZORDER;--", mail: Address(street: "Main")))
        try await manager.save([
            Order(
                id: UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)), placed: day, total: 10.5, paid: true,
                kind: .trade, buyer: Reference(id: 1), link: URL(string: "https://swift.org"), bytes: Data([1, 2])),
            Order(id: UUID(), placed: day.addingTimeInterval(86_400), total: 4),
            Order(id: UUID(), placed: day.addingTimeInterval(86_400 * 40), total: 1),
        ])
    }

    @Test("Rows are read into a type by the names of their columns, with values bound in the store's form")
    func rows() async throws {
        let start = day
        let sales = try await manager.rows(
            Sales.self,
            """
            SELECT strftime('%Y-%m', \(date: \Order.placed)) AS month, sum(\(\Order.total)) AS total
            FROM \(Order.self) WHERE \(\Order.placed) >= \(start) GROUP BY 1 ORDER BY 1
            """)
        #expect(sales == [Sales(month: "2026-05", total: 14.5), Sales(month: "2026-07", total: 1)])
    }

    @Test("Columns have the values of their properties, and values are found by what they are")
    func values() async throws {
        let id = UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
        let found = try await manager.rows(
            OrderRow.self,
            """
            SELECT \(\Order.id) AS id, \(\Order.placed) AS placed, \(\Order.total) AS total, \(\Order.paid) AS paid,
            \(\Order.kind) AS kind, \(\Order.link) AS link, \(\Order.bytes) AS bytes, NULL AS missing
            FROM \(Order.self) WHERE \(\Order.id) = \(id) AND \(\Order.paid) = \(true) AND \(\Order.kind) = \(Kind.trade)
            AND \(\Order.total) = \(Decimal(10.5)) AND \(\Order.placed) = \(day) AND \(\Order.bytes) = \(Data([1, 2]))
            """)
        let row = try #require(found.first)
        #expect(row.id == id && row.placed == day && row.total == 10.5 && row.paid && row.kind == .trade)
        #expect(row.link == URL(string: "https://swift.org") && row.bytes == Data([1, 2]) && row.missing == nil)
    }

    @Test("Single values need no struct, lists are spelled out, pieces are put together, tables are joined")
    func pieces() async throws {
        #expect(try await manager.rows(Int.self, "SELECT count(*) FROM \(Order.self)") == [3])
        #expect(try await manager.rows(Date.self, "SELECT max(\(\Order.placed)) FROM \(Order.self)").count == 1)
        #expect(try await manager.rows(Int?.self, "SELECT NULL") == [nil])
        let cheap: SQLText = "\(\Order.total) < \(5)"
        #expect(try await manager.rows(Int.self, "SELECT count(*) FROM \(Order.self) WHERE \(cheap)") == [2])
        let list = try await manager.rows(
            Int.self, "SELECT count(*) FROM \(Order.self) WHERE \(\Order.total) IN (\(list: [1, 4]))")
        #expect(list == [2])
        let names = try await manager.rows(
            String.self,
            """
            SELECT b.\(\Buyer.name) FROM \(Order.self) o JOIN \(Buyer.self) b ON o.\(\Order.buyer) = b.\(key: Buyer.self)
            WHERE b.\(\Buyer.mail.street) = \("Main")
            """)
        #expect(names == ["Robert'); DROP TABLE ZORDER;--"])
    }

    @Test("A text that is made while the program runs is a value, whatever is in it")
    func injections() async throws {
        let texts = [
            "'); DROP TABLE ZORDER;--", "\" OR 1=1 --", "1; DELETE FROM ZORDER", "x' UNION SELECT * FROM ZBUYER --",
            "\0", "\\'; VACUUM", "${jndi}", "%' --", "]]>", "/* */", "?1", ":name", "@x", "$1", "NULL", "''", "\"\"",
            "`",
        ]
        for text in texts {
            #expect(
                try await manager.rows(String.self, "SELECT \(text)") == [text.split(separator: "\0").joined()]
                    || text == "\0")
            let found = try await manager.rows(
                Int.self, "SELECT count(*) FROM \(Order.self) WHERE \(\Order.kind) = \(text)")
            #expect(found == [0])
        }
        #expect(try await manager.count(Order.self) == 3)
    }

    @Test("Whatever is more than one SELECT is refused, and changes nothing")
    func refusals() async throws {
        let statements: [SQLText] = [
            "DELETE FROM \(Order.self)", "UPDATE \(Order.self) SET \(\Order.total) = 0", "DROP TABLE \(Order.self)",
            "INSERT INTO \(Order.self) DEFAULT VALUES", "REPLACE INTO \(Order.self) (Z_PK) VALUES (1)",
            "SELECT 1; DELETE FROM \(Order.self)", "SELECT 1; SELECT 2", "PRAGMA user_version = 7",
            "PRAGMA table_info(ZORDER)",
            "ATTACH 'x.sqlite' AS x", "DETACH main", "VACUUM", "VACUUM INTO 'x.sqlite'", "BEGIN", "BEGIN IMMEDIATE",
            "COMMIT",
            "ROLLBACK", "SAVEPOINT a", "CREATE TABLE a (b)", "CREATE TEMP TABLE a (b)", "CREATE VIEW a AS SELECT 1",
            "CREATE TRIGGER t AFTER DELETE ON ZORDER BEGIN SELECT 1; END", "ALTER TABLE ZORDER ADD COLUMN x", "ANALYZE",
            "REINDEX", "SELECT load_extension('x')", "", "-- nothing",
            "WITH a AS (SELECT 1) DELETE FROM ZORDER", "EXPLAIN DELETE FROM ZORDER",
            "CREATE INDEX i ON ZORDER (ZTOTAL)",
            "SELECT fts3_tokenizer('simple')", "DROP TRIGGER t", "CREATE VIRTUAL TABLE v USING fts5(a)",
        ]
        for statement in statements {
            let error = await #expect(throws: PersistenceError.self) {
                _ = try await manager.rows(Int.self, statement)
            }
            #expect(error?.code == .readFailed)
        }
        #expect(try await manager.count(Order.self) == 3)
        #expect(try counter.number("PRAGMA user_version") == 0)
    }

    @Test("A mistake names the place in the statement, the column, or the property")
    func mistakes() async throws {
        let syntax = await #expect(throws: PersistenceError.self) {
            _ = try await manager.rows(Int.self, "SELECT count(*) FORM \(Order.self)")
        }
        #expect(syntax?.description.contains("ZORDER") == true && syntax?.description.contains("syntax error") == true)
        let name = await #expect(throws: PersistenceError.self) {
            _ = try await manager.rows(Int.self, "SELECT 'é', nowhere FROM \(Order.self)")
        }
        #expect(name?.description.contains("at “nowhere FROM") == true, "\(name?.description ?? "")")
        let missing = await #expect(throws: PersistenceError.self) {
            _ = try await manager.rows(Sales.self, "SELECT 1 AS month")
        }
        #expect(missing?.code == .unreadable && missing?.property == "month")
        let column = await #expect(throws: PersistenceError.self) {
            _ = try await manager.rows(Sales.self, "SELECT 'x' AS month, 1 AS amount")
        }
        #expect(column?.property == "total" && column?.description.contains("month, amount") == true)
    }

    @Test("Rows are models by the macro's code, and are read like other types where that does not read them")
    func models() async throws {
        let counter = try Counter(Order.self, Buyer.self, Total.self)
        try await counter.manager.save(Order(id: UUID(), placed: day, total: 2, paid: true))
        let totals = try await counter.manager.rows(
            Total.self,
            """
            SELECT 'all' AS ID, count(*) AS count, sum(\(\Order.total)) AS sum, min(\(\Order.total)) AS least, \
            max(\(\Order.placed)) AS latest, max(\(\Order.paid)) AS paid FROM \(Order.self)
            UNION ALL SELECT 'none', 0, 1.5, NULL, '2001-01-02', 0
            """)
        let wanted = [
            Total(id: "all", count: 1, sum: 2, least: 2, latest: day, paid: true, note: nil),
            Total(
                id: "none", count: 0, sum: 1.5, least: nil, latest: Date(timeIntervalSinceReferenceDate: 86_400),
                paid: false, note: nil),
        ]
        #expect(totals == wanted)
        let error = await #expect(throws: PersistenceError.self) {
            _ = try await counter.manager.rows(Total.self, "SELECT 'x' AS id, 'y' AS count, 1 AS sum, 0 AS paid")
        }
        #expect(error?.code == .unreadable && error?.property == "count")
    }

    @Test("A block that reads answers from its state, and a live query follows it")
    func states() async throws {
        let counts = try await manager.read { store in
            let before = try store.rows(Int.self, "SELECT count(*) FROM \(Order.self)")
            return (before, try store.count(Order.self))
        }
        #expect(counts.0 == [3] && counts.1 == 3)
        var seen: [[Int]] = []
        for try await state in manager.observe({ try $0.rows(Int.self, "SELECT count(*) FROM \(Order.self)") }) {
            seen.append(state)
            if seen.count == 2 { break }
            try await manager.delete(Order.self, where: \.total == 1)
        }
        #expect(seen == [[3], [2]])
    }
}
