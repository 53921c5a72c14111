import Foundation
import SQLiteConnection
import TestSupport
import Testing

@testable import PippinCommand

@Suite("Stores that another program is writing to", .ownThread)
struct LockedStoreTests {
    /// Imports a book into a store on which another process has run a statement.
    private func importing(
        journal: String, while statement: String
    ) throws -> (status: Int32, output: String, errors: String) {
        let store = try SmallStore()
        let file = store.folder.url.appendingPathComponent("books.csv")
        try Data("title\nLady Susan\n".utf8).write(to: file)
        let connection = try Connection(path: store.path, mode: .readWrite)
        try connection.execute("PRAGMA journal_mode = \(journal)")
        try connection.execute(statement)
        // The lock is kept for longer than the import is let run.
        return try withExtendedLifetime(connection) {
            try shell(
                "timeout -s KILL 4 \"$PIPPIN\" import '\(store.path)' Book '\(file.path)'",
                temporary: store.folder.url)
        }
    }

    @Test("An import says after a second that it waits for them", arguments: ["WAL", "DELETE"])
    func waiting(journal: String) throws {
        let run = try importing(journal: journal, while: "BEGIN IMMEDIATE")
        #expect(run.status != 0)
        let notice = "store.sqlite” is being written to by another program; waiting until it has finished\n"
        #expect(run.errors.contains(notice), "\(run.errors)")
    }

    @Test("An import says nothing of those who only read")
    func reading() throws {
        let run = try importing(journal: "WAL", while: "BEGIN; SELECT * FROM Z_METADATA")
        #expect(run.status == 0)
        #expect(run.errors.isEmpty, "\(run.errors)")
    }
}
