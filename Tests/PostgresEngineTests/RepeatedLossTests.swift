import CoreDataModel
import Foundation
import PostgresConnection
import PostgresEngine
import PostgresServer
import StoreEngine
import Testing

@Suite("Work that fails on each connection", .needsPostgres)
struct RepeatedLossTests {
    @Test("is given up in time when the server takes no writes, though it can be connected to")
    func readOnlyServer() throws {
        let store = try Behind([NSPostgreSQLFailoverTimeoutOption: 0.5])
        _ = try store.engine.save(Notes.changes(store.engine, ["a", "b"]))
        let rows = try store.engine.fetchRows(Notes.plan())
        // What a standby says.
        let connection = try store.database.connect()
        try connection.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                + "RAISE EXCEPTION 'this server only reads' USING ERRCODE = '25006'; END $$; "
                + "CREATE TRIGGER refuse BEFORE UPDATE ON note EXECUTE FUNCTION refuse()")
        let error = #expect(throws: NSError.self) { _ = try store.engine.save(Notes.update(rows, to: "c")) }
        #expect(error?.userInfo[NSPostgreSQLStateErrorKey] as? String == "25006")
        var plan = BatchUpdatePlan(rows: try Notes.plan())
        plan.changes = [(0, .value(.string("c")))]
        #expect(throws: NSError.self) { _ = try store.engine.updateBatch(plan) }
        #expect(try store.texts() == ["a", "b"])
    }

    @Test("A batch with more values than a statement takes finds its rows otherwise")
    func manyValues() throws {
        let store = try Behind()
        _ = try store.engine.save(Notes.changes(store.engine, ["a", "b"]))
        var plan = try Notes.plan()
        plan.predicate = NSPredicate(format: "stars IN %@", Array(1..<70_000))
        #expect(try store.engine.deleteBatch(BatchDeletePlan(rows: plan)).count == 1)
        #expect(try store.texts() == ["a"])
    }
}
