import CPippinSQLite
import Foundation
import TestSupport
import Testing

@testable import SQLiteConnection

@Suite("Statements")
struct StatementTests {
    let folder: TestFolder
    let connection: Connection

    init() throws {
        folder = try TestFolder()
        connection = try Connection(path: folder.store.path, mode: .create)
        try connection.execute("CREATE TABLE t (a)")
    }

    private func insert(_ bind: (Statement) throws -> Void) throws -> Statement {
        try connection.execute("DELETE FROM t")
        let insert = try connection.statement("INSERT INTO t VALUES (?)")
        try bind(insert)
        try insert.run()
        let select = try connection.statement("SELECT a FROM t")
        #expect(try select.step())
        return select
    }

    @Test("Each statement that has run is reported, with its values if they are asked for")
    func trace() throws {
        var texts: [String] = []
        connection.traceStatements(showsValues: false) { texts.append($0.sql) }
        _ = try insert { try $0.bind(Int64(7), at: 1) }
        #expect(texts == ["DELETE FROM t", "INSERT INTO t VALUES (?)"])
        connection.traceStatements(showsValues: true) { texts.append($0.sql) }
        let statement = try connection.statement("INSERT INTO t VALUES (?)")
        try statement.bind(Int64(8), at: 1)
        try statement.run()
        #expect(texts.contains("INSERT INTO t VALUES (8)"))
    }

    @Test("Statements are reported with their rows, also those that are not read to their ends, and with their errors")
    func tracedRows() throws {
        var reports: [String] = []
        try connection.execute("INSERT INTO t VALUES (1), (2), (3)")
        connection.traceStatements(showsValues: false) { reports.append("\($0.sql): \($0.rows) \($0.error ?? "")") }
        let all = try connection.statement("SELECT * FROM t")
        while try all.step() {}
        let first = try connection.statement("SELECT 1 FROM t")
        _ = try first.step()
        first.reset()
        _ = try? connection.statement("SELECT absent FROM t")
        _ = try? connection.execute("INSERT INTO t SELECT abs(-9223372036854775808)")
        let count = Int(try connection.integer("SELECT COUNT(*) FROM t") ?? 0)
        #expect(
            reports == [
                "SELECT * FROM t: \(count) ", "SELECT 1 FROM t: 1 ", "SELECT absent FROM t: 0 no such column: absent",
                "INSERT INTO t SELECT abs(-9223372036854775808): 0 integer overflow", "SELECT COUNT(*) FROM t: 1 ",
            ])
    }

    @Test("An integer comes back whole, up to 64 bits")
    func integers() throws {
        let row = try insert { try $0.bind(Int64.min, at: 1) }
        #expect(row.kind(at: 0) == .integer)
        #expect(row.integer(at: 0) == Int64.min)
    }

    @Test("A floating-point number comes back to the last bit")
    func doubles() throws {
        let row = try insert { try $0.bind(0.1 + 0.2, at: 1) }
        #expect(row.double(at: 0) == 0.1 + 0.2)
    }

    @Test(
        "Texts come back as they went in", arguments: ["", "a", "Über 🚗", "a\0b", String(repeating: "x", count: 9000)])
    func strings(text: String) throws {
        let row = try insert { try $0.bind(text, at: 1) }
        #expect(row.kind(at: 0) == .text)
        #expect(row.string(at: 0) == text)
    }

    @Test("Several texts in one row do not disturb each other, however often the statement runs")
    func manyStrings() throws {
        try connection.execute("CREATE TABLE many (a, b, c)")
        let insert = try connection.statement("INSERT INTO many VALUES (?, ?, ?)")
        for round in 0..<5 {
            try insert.bind(String(repeating: "a", count: 700 + round), at: 1)
            try insert.bind(String(repeating: "b", count: 900), at: 2)
            try insert.bind(String(repeating: "c", count: 800), at: 3)
            try insert.run()
        }
        let lengths = try plainSQL(
            "SELECT DISTINCT rtrim(b, 'b') || rtrim(c, 'c') || length(b) || length(c) FROM many", in: connection)
        #expect(lengths == ["900800"])
        #expect(try plainSQL("SELECT length(a) FROM many", in: connection) == ["700", "701", "702", "703", "704"])
    }

    @Test("Bytes come back, the empty ones as a blob too")
    func blobs() throws {
        #expect(try insert { try $0.bind(Data([0, 1, 255]), at: 1) }.data(at: 0) == Data([0, 1, 255]))
        let empty = try insert { try $0.bind(Data(), at: 1) }
        #expect(empty.kind(at: 0) == .blob)
        #expect(empty.data(at: 0).isEmpty)
    }

    @Test("A UUID is a blob of 16 bytes")
    func uuids() throws {
        let uuid = UUID()
        let row = try insert { try $0.bind(uuid, at: 1) }
        #expect(row.uuid(at: 0) == uuid)
        #expect(row.data(at: 0).count == 16)
    }

    @Test("A reset forgets the bindings")
    func reset() throws {
        let insert = try connection.statement("INSERT INTO t VALUES (?)")
        try insert.bind(Int64(7), at: 1)
        try insert.run()
        try insert.run()
        #expect(try connection.string("SELECT count(*) FROM t WHERE a IS NULL") == "1")
    }

    @Test("A text with two statements is refused, one that ends with a semicolon is not")
    func tail() throws {
        _ = try connection.prepare("SELECT 1 ; ")
        #expect(throws: SQLiteError.self) { _ = try connection.prepare("SELECT 1; SELECT 2") }
        #expect(throws: SQLiteError.self) { _ = try connection.prepare("  ") }
    }

    @Test("The same text gives the same prepared statement, unless that one is being read")
    func cache() throws {
        try connection.execute("INSERT INTO t VALUES (1), (2)")
        let first = try connection.statement("SELECT a FROM t")
        #expect(try connection.statement("SELECT a FROM t") === first)
        #expect(try first.step())
        let second = try connection.statement("SELECT a FROM t")
        #expect(second !== first)
        #expect(try second.step())
        #expect(second.integer(at: 0) == 1)
        #expect(try first.step())
        #expect(first.integer(at: 0) == 2)
    }

    @Test("The cache forgets old statements, and what it forgot can be prepared again")
    func cacheLimit() throws {
        for number in 0..<600 { _ = try connection.statement("SELECT \(number)") }
        let again = try connection.statement("SELECT 0")
        #expect(try again.step())
    }

    @Test("A broken statement says what SQLite says, the statement and the file")
    func syntaxError() throws {
        let error = #expect(throws: SQLiteError.self) { _ = try connection.prepare("SELEKT 1") }
        #expect(error?.code == SQLITE_ERROR)
        #expect(error?.message == "near \"SELEKT\": syntax error")
        #expect(error?.sql == "SELEKT 1")
        #expect(error?.path == folder.store.path)
    }

    @Test("A broken constraint has the extended code and names the column")
    func constraint() throws {
        try connection.execute("CREATE UNIQUE INDEX u ON t (a)")
        let insert = try connection.statement("INSERT INTO t VALUES (?)")
        try insert.bind("same", at: 1)
        try insert.run()
        try insert.bind("same", at: 1)
        let error = #expect(throws: SQLiteError.self) { try insert.run() }
        #expect(error?.extendedCode == 2067)
        #expect(error?.isConstraint == true)
        #expect(error?.isUniqueViolation == true)
        #expect(error?.message == "UNIQUE constraint failed: t.a")
    }

    @Test("A trigger that refuses a change has its own extended code")
    func trigger() throws {
        try connection.execute("CREATE TRIGGER r BEFORE INSERT ON t BEGIN SELECT RAISE(ABORT, 'no'); END")
        let error = #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO t VALUES (1)") }
        #expect(error?.extendedCode == SQLiteError.triggerViolation)
        #expect(error?.isUniqueViolation == false)
    }
}
