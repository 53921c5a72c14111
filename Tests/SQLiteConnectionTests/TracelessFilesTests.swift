import Foundation
import TestSupport
import Testing

@testable import SQLiteConnection

@Suite("Connections that leave no trace")
struct TracelessFilesTests {
    private let folder: TestFolder
    private var path: String { folder.file("a.db").path }

    init() throws {
        folder = try TestFolder()
        let connection = try Connection(path: path, mode: .create)
        try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE T (X)")
        try connection.execute(
            """
            WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2000)
            INSERT INTO T SELECT printf('%d%.*c', n, 2000, 'x') FROM numbers
            """)
    }

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
    }

    @Test("make no file, and see what a program saves that comes later, and leaves")
    func following() throws {
        let reader = try Connection(path: path, mode: .traceless)
        #expect(try reader.integer("SELECT COUNT(*) FROM T") == 2000)
        #expect(try files == ["a.db"])
        do {
            let writer = try Connection(path: path, mode: .readWrite)
            try writer.execute("INSERT INTO T VALUES (1)")
            #expect(try reader.integer("SELECT COUNT(*) FROM T") == 2001)
            try writer.execute("INSERT INTO T VALUES (2); PRAGMA wal_checkpoint; INSERT INTO T VALUES (3)")
            #expect(try reader.integer("SELECT COUNT(*) FROM T") == 2003)
        }
        #expect(try reader.integer("SELECT COUNT(*) FROM T") == 2003)
        #expect(throws: SQLiteError.self) { try reader.execute("INSERT INTO T VALUES (4)") }
    }

    @Test("fail as busy, rather than to mix two states, if a program comes and writes while they read")
    func interruptedReading() throws {
        let reader = try Connection(path: path, mode: .traceless)
        let statement = try reader.prepare("SELECT X FROM T")
        #expect(try statement.step())
        do {
            let writer = try Connection(path: path, mode: .readWrite)
            try writer.execute("UPDATE T SET X = 0; PRAGMA wal_checkpoint")
        }
        let error = #expect(throws: SQLiteError.self) { while try statement.step() {} }
        #expect(error?.isBusy == true)
        // The next reading is of the new state.
        #expect(try reader.integer("SELECT SUM(X) FROM T") == 0)
    }

    @Test("are not disturbed by a program that writes to its log alone")
    func undisturbedReading() throws {
        let reader = try Connection(path: path, mode: .traceless)
        let statement = try reader.prepare("SELECT X FROM T")
        #expect(try statement.step())
        let writer = try Connection(path: path, mode: .readWrite)
        try writer.execute("INSERT INTO T VALUES (0)")
        var count = 1
        while try statement.step() { count += 1 }
        #expect(count == 2000)
        withExtendedLifetime(writer) {}
    }
}
