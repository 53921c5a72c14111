import CPippinSQLite
import Foundation
import TestSupport
import Testing

@testable import SQLiteConnection

@Suite("Connections")
struct ConnectionTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test("A missing file is not made unless asked to")
    func missing() throws {
        let error = #expect(throws: SQLiteError.self) { _ = try Connection(path: folder.store.path, mode: .readWrite) }
        #expect(error?.isCannotOpen == true)
        #expect(!FileManager.default.fileExists(atPath: folder.store.path))
    }

    @Test("A file that is not a database says so with the first statement")
    func notADatabase() throws {
        try Data(repeating: 0x41, count: 8192).write(to: URL(fileURLWithPath: folder.store.path))
        let connection = try Connection(path: folder.store.path, mode: .readOnly)
        let error = #expect(throws: SQLiteError.self) { _ = try connection.tableNames() }
        #expect(error?.isCorrupt == true)
    }

    @Test("A read-only connection refuses to write")
    func readOnly() throws {
        try Connection(path: folder.store.path, mode: .create).execute("CREATE TABLE t (a)")
        let connection = try Connection(path: folder.store.path, mode: .readOnly)
        let error = #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO t VALUES (1)") }
        #expect(error?.isReadOnly == true)
    }

    @Test("An immutable connection leaves nothing beside the file, whatever its name")
    func immutable() throws {
        let name = "a b%c?d#ü.sqlite"
        try Connection(path: folder.file(name).path, mode: .create).execute(
            "CREATE TABLE t (a); PRAGMA journal_mode = WAL")
        let connection = try Connection(path: folder.file(name).path, mode: .immutable)
        #expect(try connection.tableNames() == ["t"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [name])
    }

    @Test("Work without waiting leaves the time to wait as a pragma has set it, also inside of such work")
    func withoutWaiting() throws {
        let connection = try Connection(path: folder.store.path, mode: .create)
        func timeout() throws -> Int64? { try connection.integer("PRAGMA busy_timeout") }
        for milliseconds: Int64 in [700, 300] {
            try connection.execute("PRAGMA busy_timeout = \(milliseconds)")
            try connection.withoutWaiting {
                #expect(try timeout() == 0)
                try connection.withoutWaiting {}
                #expect(try timeout() == 0)
            }
            #expect(try timeout() == milliseconds)
        }
    }

    @Test("A statement that would never end is ended from another thread, and the connection goes on", .ownThread)
    func interruption() throws {
        let connection = try Connection(path: folder.store.path, mode: .create)
        let interrupt = connection.interrupter
        let (hasEnded, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            // It may not have begun.
            while hasEnded.wait(timeout: .now() + 0.01) == .timedOut { interrupt() }
            isOver.signal()
        }
        let error = #expect(throws: SQLiteError.self) {
            _ = try connection.integer(
                "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c")
        }
        #expect(error?.code == SQLITE_INTERRUPT)
        hasEnded.signal()
        isOver.wait()
        #expect(try connection.integer("SELECT 1") == 1)
    }

    @Test("A transaction that throws leaves nothing behind")
    func rollback() throws {
        struct Stop: Error {}
        let connection = try Connection(path: folder.store.path, mode: .create)
        try connection.execute("CREATE TABLE t (a)")
        #expect(throws: Stop.self) {
            try connection.transaction {
                try connection.execute("INSERT INTO t VALUES (1)")
                throw Stop()
            }
        }
        #expect(!connection.isInTransaction)
        #expect(try connection.integer("SELECT count(*) FROM t") == 0)
    }

    @Test("A second writer gets SQLITE_BUSY when its timeout has passed")
    func busy() throws {
        let first = try Connection(path: folder.store.path, mode: .create)
        try first.execute("CREATE TABLE t (a)")
        let second = try Connection(path: folder.store.path, mode: .readWrite, busyTimeout: 0.05)
        try first.begin(.immediate)
        let error = #expect(throws: SQLiteError.self) { try second.begin(.immediate) }
        #expect(error?.isBusy == true)
        try first.commit()
        try second.begin(.immediate)
        try second.rollback()
    }

    @Test("A truncating checkpoint empties the write-ahead log")
    func checkpoint() throws {
        let connection = try Connection(path: folder.store.path, mode: .create)
        try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
        try connection.checkpoint(.truncate)
        let size = try FileManager.default.attributesOfItem(atPath: folder.store.path + "-wal")[.size] as? Int
        #expect(size == 0)
    }

    @Test("A registered function computes inside SQL")
    func function() throws {
        let connection = try Connection(path: folder.store.path, mode: .create)
        try connection.register(function: "twice", argumentCount: 1) { arguments in
            switch arguments.kind(at: 0) {
            case .integer: return .integer(arguments.integer(at: 0) * 2)
            case .double: return .double(arguments.double(at: 0) * 2)
            case .text: return .text((arguments.string(at: 0) ?? "") + (arguments.string(at: 0) ?? ""))
            case .blob: return .failure("twice takes no blob")
            case .null: return .null
            }
        }
        #expect(
            try plainSQL("VALUES (twice(2)), (twice(1.5)), (twice('ab')), (twice(NULL))", in: connection) == [
                "4", "3.0", "abab", "",
            ])
        let error = #expect(throws: SQLiteError.self) { _ = try connection.string("SELECT twice(x'00')") }
        #expect(error?.message == "twice takes no blob")
    }

    @Test("The bytes of a text that a registered function gets are UTF-8, in a database in UTF-16, too")
    func textBytes() throws {
        let connection = try Connection(path: folder.store.path, mode: .create)
        try connection.execute("PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (a); INSERT INTO t VALUES ('ñ')")
        try connection.register(function: "bytes", argumentCount: 1) { arguments in
            .text("\(Array(arguments.data(at: 0) ?? Data()))")
        }
        #expect(try plainSQL("SELECT bytes(a) FROM t", in: connection) == ["[195, 177]"])
    }

    @Test("A registered function gives rows for the arguments of each row beside it")
    func tableFunction() throws {
        let connection = try Connection(path: folder.store.path, mode: .create)
        try connection.register(tableFunction: "upTo", argumentCount: 2) { arguments in
            (0..<arguments.integer(at: 0)).map { .text("\(arguments.string(at: 1) ?? "")\($0)") }
        }
        try connection.execute("CREATE TABLE t (a, b); INSERT INTO t VALUES (2, 'x'), (0, 'y'), (1, NULL)")
        #expect(
            try plainSQL("SELECT e.value FROM t, upTo(t.a, t.b) e ORDER BY 1", in: connection) == ["0", "x0", "x1"])
        #expect(
            try plainSQL(
                "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM upTo(t.a, t.b) e WHERE e.value = 'x1')", in: connection)
                == ["2"])
        #expect(throws: SQLiteError.self) { try connection.execute("SELECT value FROM upTo") }
    }

    @Test("A registered collation sorts")
    func collation() throws {
        let connection = try Connection(path: folder.store.path, mode: .create)
        try connection.register(collation: "shortest") { first, second in first.count - second.count }
        let sorted = try plainSQL(
            "SELECT column1 FROM (VALUES ('ccc'), ('a'), ('bb')) ORDER BY 1 COLLATE shortest", in: connection)
        #expect(sorted == ["a", "bb", "ccc"])
    }

    @Test("A connection closes with its last statement, not before")
    func lifetime() throws {
        var connection: Connection? = try Connection(path: folder.store.path, mode: .create)
        weak let closed = connection
        let statement = try connection?.statement("SELECT 1")
        connection = nil
        #expect(closed == nil)
        #expect(try statement?.step() == true)
    }
}
