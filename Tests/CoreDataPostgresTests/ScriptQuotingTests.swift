import CoreDataPostgres
import MigrationPlans
import PostgresConnection
import PostgresEngine
import PostgresServer
import Testing

@Suite("The script of a migration", .needsPostgres)
struct ScriptQuotingTests {
    @Test("checks what it says, whatever the names in it")
    func checks() throws {
        let database = try TestDatabase()
        func run(_ sql: String) throws {
            let violation = MigrationViolation(entity: "Thing", reason: "It's $check$ a \\ reason")
            try database.connect().execute(
                MigrationScript.text([.expectNone(sql, violation)], of: StorePlace(database.url(), nil)))
        }
        try run("SELECT 1 WHERE 'a$check$b\\''' = 'c'")
        let error = #expect(throws: PostgresError.self) { try run("SELECT 1 WHERE 'a$check$b\\''' <> 'c'") }
        #expect(error?.message == "It's $check$ a \\ reason")
    }
}
