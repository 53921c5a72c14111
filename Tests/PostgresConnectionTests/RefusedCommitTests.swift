import PostgresConnection
import PostgresServer
import Testing

@Suite("The end of a transaction", .needsPostgres)
struct RefusedCommitTests {
    @Test("is not a commit where the server has rolled it back", arguments: [false, true])
    func rolledBack(isWhole: Bool) throws {
        let database = try TestDatabase()
        let connection = try database.connect()
        #expect(throws: PostgresError.self) {
            if isWhole {
                try connection.wholeTransaction { _ = try? connection.execute("SELECT 1 / 0") }
            } else {
                try connection.transaction { _ = try? connection.execute("SELECT 1 / 0") }
            }
        }
        #expect(!connection.isInTransaction)
        // There is none to commit.
        #expect(throws: PostgresError.self) { try connection.commit() }
    }
}
