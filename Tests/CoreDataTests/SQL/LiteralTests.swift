import CoreData
import Foundation
import SQLiteConnection
import Testing

@testable import CoreData
@testable import SQLGeneration
@testable import SQLiteEngine

@Suite("Values as SQL literals")
struct LiteralTests {
    private static let values: [SQLValue] = [
        .null, .integer(.min), .integer(.max), .double(0.1), .double(-1e300), .double(.infinity), .double(-.infinity),
        .text(""), .text("it's"), .text("x\u{0}y"), .text("\u{0}'"), .text("Größe\n"), .text("a'\u{301} b"),
        .blob(Data()),
        .blob(Data([0, 39, 255])),
    ]

    @Test("are the values to SQLite, of the same types", arguments: values)
    func roundTrip(_ value: SQLValue) throws {
        let connection = try Connection(path: "", mode: .memory)
        let statement = try connection.prepare("SELECT \(literal(value)), typeof(\(literal(value)))")
        #expect(try statement.step())
        #expect(statement.value(at: 0) == value)
    }

    @Test("stand under any name")
    func names() throws {
        let connection = try Connection(path: "", mode: .memory)
        for name in ["a\"b", "a\"\u{301} b", "größe"] {
            let statement = try connection.prepare("SELECT 1 AS \(quoted(name))")
            #expect(statement.columnName(at: 0) == name)
        }
    }

    @Test("are spelled so that a reader knows them")
    func spelling() {
        #expect(literal("it's") == "'it''s'")
        #expect(literal("x\u{0}") == "CAST(X'7800' AS TEXT)")
        #expect(literal(.double(-.infinity)) == "-9e999")
        #expect(literal(.double(.nan)) == "NULL")
    }
}
