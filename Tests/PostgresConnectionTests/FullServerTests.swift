import Foundation
import PostgresConnection
import PostgresServer
import Testing

@Suite("A server without a free connection", .needsPostgres)
struct FullServerTests {
    @Test("is there: a statement that takes long on it goes on")
    func slow() throws {
        let database = try TestDatabase()
        let role = "narrow_\(database.name)"
        try database.connect().execute("CREATE ROLE \(role) LOGIN CONNECTION LIMIT 1")
        let connection = try database.connect(user: role)
        connection.watchAnswers(seconds: 0.3)
        try connection.execute("SELECT pg_sleep(1.5)")
        let error = #expect(throws: PostgresError.self) { _ = try database.connect(user: role) }
        #expect(error?.state == "53300")
    }
}
