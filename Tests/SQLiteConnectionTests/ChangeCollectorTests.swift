import Foundation
import Testing

@testable import SQLiteConnection

@Suite("The collector of changed rows")
struct ChangeCollectorTests {
    private let connection: Connection

    init() throws {
        connection = try Connection(path: "", mode: .memory)
        try connection.execute("CREATE TABLE a (k INTEGER PRIMARY KEY, v); CREATE TABLE b (k INTEGER PRIMARY KEY)")
    }

    @Test("It hands out the keys of each table once, before the commit, and may write then")
    func keys() throws {
        var seen: [[Set<Int64>]] = []
        connection.collectChanges(of: ["A", "b"]) { [unowned connection] keys in
            seen.append(keys)
            try? connection.execute("INSERT INTO b VALUES (100)")
        }
        try connection.transaction {
            try connection.execute("INSERT INTO a VALUES (1, 'x'), (2, 'y'); UPDATE a SET v = 'z' WHERE k = 1")
            try connection.execute("INSERT INTO b VALUES (7); DELETE FROM a WHERE k = 2")
        }
        #expect(seen == [[[1, 2], [7]]])
        #expect(try connection.integer("SELECT count(*) FROM b") == 2)
    }

    @Test("It forgets what was rolled back, and waits for the end of a long transaction")
    func ends() throws {
        var seen: [[Set<Int64>]] = []
        connection.collectChanges(of: ["a"]) { seen.append($0) }
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try connection.transaction {
                try connection.execute("INSERT INTO a VALUES (1, 'x')")
                throw Stop()
            }
        }
        try connection.beginLong(undoesParts: true)
        try connection.transaction { try connection.execute("INSERT INTO a VALUES (2, 'x')") }
        #expect(seen.isEmpty)
        try connection.endLong(commits: true)
        #expect(seen == [[[2]]])
    }

    @Test("It collects nothing once it was ended")
    func ended() throws {
        var seen: [[Set<Int64>]] = []
        connection.collectChanges(of: ["a"]) { seen.append($0) }
        connection.collectChanges(of: []) { seen.append($0) }
        try connection.transaction { try connection.execute("INSERT INTO a VALUES (1, 'x')") }
        #expect(seen.isEmpty)
    }
}
