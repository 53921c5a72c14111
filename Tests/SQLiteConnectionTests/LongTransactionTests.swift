import Foundation
import TestSupport
import Testing

@testable import SQLiteConnection

@Suite("Long transactions")
struct LongTransactionTests {
    let folder: TestFolder
    let connection: Connection

    init() throws {
        folder = try TestFolder()
        connection = try Connection(path: folder.store.path, mode: .create)
        try connection.execute("CREATE TABLE t (a); PRAGMA journal_mode = WAL")
    }

    private struct Stop: Error {}

    private func insert(_ number: Int) throws {
        try connection.transaction { try connection.execute("INSERT INTO t VALUES (\(number))") }
    }

    private func fail() {
        try? connection.transaction {
            try connection.execute("INSERT INTO t VALUES (99)")
            throw Stop()
        }
    }

    private func rows() throws -> [String] {
        try plainSQL("SELECT a FROM t ORDER BY 1", in: Connection(path: folder.store.path, mode: .readOnly))
    }

    @Test("Nobody else sees its parts before it ends; then all are there", arguments: [true, false])
    func commits(undoesParts: Bool) throws {
        try connection.beginLong(undoesParts: undoesParts)
        try insert(1)
        try insert(2)
        #expect(try rows() == [])
        try connection.endLong(commits: true)
        #expect(try rows() == ["1", "2"])
        try insert(3)
        #expect(try rows() == ["1", "2", "3"])
    }

    @Test("Undone, it leaves nothing of its parts", arguments: [true, false])
    func undone(undoesParts: Bool) throws {
        try connection.beginLong(undoesParts: undoesParts)
        try insert(1)
        try connection.endLong(commits: false)
        #expect(try rows() == [])
        #expect(!connection.isInTransaction)
    }

    @Test("A part that fails is undone by itself where that was asked for")
    func part() throws {
        try connection.beginLong(undoesParts: true)
        try insert(1)
        fail()
        try insert(2)
        try connection.endLong(commits: true)
        #expect(try rows() == ["1", "2"])
    }

    @Test("Otherwise a part that fails undoes the whole, and neither another part nor the end passes that over")
    func whole() throws {
        try connection.beginLong(undoesParts: false)
        try insert(1)
        fail()
        #expect(throws: SQLiteError.self) { try insert(2) }
        #expect(throws: SQLiteError.self) { try connection.endLong(commits: true) }
        #expect(try rows() == [])
        try insert(3)
        #expect(try rows() == ["3"])
    }
}
