import CoreDataModel
import Foundation
import PostgresEngine
import StoreEngine
import Testing

@Suite("How long to wait for locks of a server", .needsPostgres)
struct LockTimeoutOptionTests {
    @Test("is without a limit where the option is no time", arguments: [Double.nan, -5, .infinity, -.infinity])
    func timeout(seconds: Double) throws {
        let stores = try PostgresStores()
        let engine = try stores.open(
            stores.nextURL(), Notes.model, options: [NSPersistentStoreTimeoutOption: seconds])
        _ = try engine.save(Notes.changes(engine, ["a"]))
        #expect(try engine.fetchCount(Notes.plan()) == 1)
    }

    @Test("An option that is no time lets statements take as long as they need", arguments: [0, Double.nan, -5])
    func statementTimeout(seconds: Double) throws {
        let stores = try PostgresStores()
        let engine = try stores.open(
            stores.nextURL(), Notes.model, options: [NSPostgreSQLStatementTimeoutOption: seconds as NSNumber])
        // Longer than a millisecond.
        _ = try engine.save(Notes.changes(engine, (0..<2000).map { "\($0)" }))
        #expect(try engine.fetchCount(Notes.plan()) == 2000)
    }
}
