import CoreDataModel
import FaultProxy
import Foundation
import PostgresEngine
import StoreEngine
import Testing

/// The message that asks the server to commit.
private let commit = "COMMIT\0"

@Suite("A batch whose connection is lost", .needsPostgres)
struct BatchFailoverTests {
    /// Where the connection ends: while the server works, before it has the COMMIT, and after.
    private static let ambushes: [FaultProxy.Ambush] = [.before("_version"), .before(commit), .after(commit)]

    private let store: Behind

    init() throws {
        store = try Behind([NSPersistentHistoryTrackingKey: true])
        _ = try store.engine.save(Notes.changes(store.engine, ["a", "b", "c"]))
    }

    /// How many transactions are in the history.
    private func transactions() throws -> Int { try store.engine.historyTransactions(after: nil).count }

    @Test("changes its rows once only", arguments: ambushes)
    func update(_ ambush: FaultProxy.Ambush) throws {
        var plan = BatchUpdatePlan(rows: try Notes.plan("text IN {'a', 'b'}"))
        plan.changes = [(1, .expression(NSExpression(format: "stars + 10")))]
        let before = try store.database.rows("SELECT sum(stars) FROM note")[0][0]
        store.proxy.set(ambush)
        #expect(try store.engine.updateBatch(plan).count == 2)
        #expect(!store.proxy.isAmbushSet)
        #expect(try store.database.rows("SELECT sum(stars) - \(before) FROM note") == [["20"]])
        #expect(try transactions() == 2)
    }

    @Test(
        "deletes rows, and says how many",
        arguments: [FaultProxy.Ambush.before(" pg_temp."), .before(commit), .after(commit)])
    func delete(_ ambush: FaultProxy.Ambush) throws {
        store.proxy.set(ambush)
        #expect(try store.engine.deleteBatch(BatchDeletePlan(rows: Notes.plan("text == 'a'"))).count == 1)
        #expect(!store.proxy.isAmbushSet)
        #expect(try store.texts() == ["b", "c"])
        #expect(try transactions() == 2)
    }

    private func insertion(of count: Int, canRewind: Bool) throws -> (BatchInsertPlan, (inout BatchRow) -> Bool) {
        final class Position { var value = 0 }
        let position = Position()
        var plan = BatchInsertPlan(entity: try Notes.entity("Note"))
        if canRewind { plan.rewind = { position.value = 0 } }
        return (
            plan,
            { row in
                guard position.value < count else { return false }
                row.values[0] = .string("new \(position.value)")
                position.value += 1
                return true
            }
        )
    }

    @Test(
        "inserts rows once, where they can be had again",
        arguments: [FaultProxy.Ambush.before("COPY"), .before(commit), .after(commit)])
    func insert(_ ambush: FaultProxy.Ambush) throws {
        let (plan, next) = try insertion(of: 100, canRewind: true)
        store.proxy.set(ambush)
        #expect(try store.engine.insertBatch(plan, next: next).count == 100)
        #expect(!store.proxy.isAmbushSet)
        #expect(try store.texts().filter { $0.hasPrefix("new") }.count == 100)
        #expect(Set(try store.texts()).count == 103)
    }

    @Test(
        "says that nothing was saved, where rows cannot be had again",
        arguments: [FaultProxy.Ambush.before("COPY"), .before(commit)])
    func insertOnce(_ ambush: FaultProxy.Ambush) throws {
        let (plan, next) = try insertion(of: 100, canRewind: false)
        store.proxy.set(ambush)
        let error = #expect(throws: NSError.self) { _ = try store.engine.insertBatch(plan, next: next) }
        #expect(error?.localizedDescription.contains("Nothing was saved") == true, "\(String(describing: error))")
        #expect(try store.texts() == ["a", "b", "c"])
    }

    @Test("is undecided when nobody can be asked, and says so")
    func undecided() throws {
        let store = try Behind([NSPostgreSQLFailoverTimeoutOption: 0.3])
        _ = try store.engine.save(Notes.changes(store.engine, ["a"]))
        store.proxy.set(.after(commit), thenRefuses: true)
        let error = #expect(throws: NSError.self) {
            _ = try store.engine.deleteBatch(BatchDeletePlan(rows: Notes.plan()))
        }
        store.proxy.set(.passes)
        let save = try #require(error.flatMap { NSPostgreSQLUndecidedSave(of: $0) })
        #expect(try save.wasSaved(at: store.url))
        #expect(try store.texts().isEmpty)
    }
}
