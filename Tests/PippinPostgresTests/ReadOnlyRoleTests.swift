import CoreDataPostgres
import Foundation
import PippinPostgres
import PippinRecords
import PostgresServer
import Testing

@Suite("A role whose transactions only read unless they say otherwise", .needsPostgres)
struct ReadOnlyRoleTests {
    /// The same store, for a role that may write to it, but has `default_transaction_read_only`. A program that took
    /// this for a standby would look for another server for a minute.
    private func reader(of database: TestDatabase) throws -> PersistenceManager {
        let role = "frozen_\(database.name)"
        try database.connect().execute(
            "CREATE ROLE \(role) LOGIN SUPERUSER; ALTER ROLE \(role) SET default_transaction_read_only = on")
        let description = NSPersistentStoreDescription(postgreSQLConnection: database.uri(user: role))
        description.setOption(60 as NSNumber, forKey: NSPostgreSQLFailoverTimeoutOption)
        return PersistenceManager(models: Author.self, Book.self, store: .description(description))
    }

    @Test("reads a store that others have made")
    func reading() async throws {
        let shop = try Shop()
        try await shop.manager.save(Book(id: "1", title: "Emma"))
        #expect(try await reader(of: shop.database).count(Book.self) == 1)
    }

    @Test("is refused at once when it saves, with the name of the setting, and writes nothing")
    func saving() async throws {
        let shop = try Shop()
        try await shop.manager.save(Book(id: "1", title: "Emma"))
        let reader = try reader(of: shop.database)
        try await reader.load()
        // A machine with much else to do may take as long once.
        var (shortest, error) = (Duration.seconds(60), PersistenceError?.none)
        for _ in 0..<5 where shortest > .seconds(4) {
            let start = ContinuousClock.now
            error = await #expect(throws: PersistenceError.self) {
                try await reader.save(Book(id: "2", title: "Persuasion"))
            }
            shortest = min(shortest, ContinuousClock.now - start)
        }
        #expect(shortest < .seconds(4))
        #expect("\(try #require(error))".contains("default_transaction_read_only"))
        #expect(try await shop.manager.fetch(Book.self).map(\.id) == ["1"])
    }

    @Test("makes no table of a store that is not there")
    func making() async throws {
        let database = try TestDatabase()
        let reader = try reader(of: database)
        let error = await #expect(throws: PersistenceError.self) { try await reader.load() }
        #expect("\(try #require(error))".contains("default_transaction_read_only"))
        #expect(try database.rows("SELECT nspname FROM pg_namespace WHERE nspname = 'pippin'").isEmpty)
    }
}
