import CoreDataModel
import Foundation
import PostgresEngine
import StoreEngine
import Testing

@Suite("A history that another program turns on", .needsPostgres)
struct HistoryTurnedOnTests {
    private let stores: PostgresStores
    private let url: URL

    init() throws {
        stores = try PostgresStores()
        url = stores.nextURL()
    }

    private func tracking() throws -> PostgresEngine {
        try stores.open(url, Notes.model, options: [NSPersistentHistoryTrackingKey: true])
    }

    @Test("has what programs change that had the store open before")
    func openBefore() throws {
        let old = try stores.open(url, Notes.model)
        _ = try old.save(Notes.changes(old, ["before"]))
        let history = try #require(tracking().history)
        #expect(try history.latestTransaction() == 0)
        _ = try old.save(Notes.changes(old, ["a"]))
        #expect(try history.latestTransaction() == 1)
        _ = try old.batches?.deleteBatch(BatchDeletePlan(rows: Notes.plan("text == 'a'")))
        #expect(try history.historyChanges(after: nil).map(\.kind) == [.insert, .delete])
    }

    @Test("is turned on once")
    func once() throws {
        let generation = "SELECT generation FROM pippin.stores"
        _ = try tracking()
        let first = try stores.database.rows(generation)
        let second = try tracking()
        #expect(try stores.database.rows(generation) == first)
        _ = try second.save(Notes.changes(second, ["a"]))
        #expect(try second.history?.latestTransaction() == 1)
    }

    @Test("keeps what is after a date that the server has no number for")
    func earlyDate() throws {
        let engine = try tracking()
        _ = try engine.save(Notes.changes(engine, ["a"]))
        for seconds in [-1e18, .nan] { try engine.history?.deleteHistory(before: .date(seconds)) }
        #expect(try engine.history?.historyTransactions(after: nil).count == 1)
        #expect(try engine.history?.historyTransactions(after: .date(-1e18)).count == 1)
    }
}
