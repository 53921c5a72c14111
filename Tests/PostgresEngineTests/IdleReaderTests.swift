import CoreDataModel
import Foundation
import PostgresEngine
import StoreEngine
import StoreEngineContract
import Testing

@Suite("Connections that wait for the next reader", .needsPostgres)
struct IdleReaderTests {
    @Test("are not used again when the server has ended them")
    func lost() throws {
        let store = try Behind()
        _ = try store.engine.save(Notes.changes(store.engine, ["a"]))
        // Two that are let go of at once.
        do {
            let first = try store.engine.pinning?.pinGeneration()
            _ = try store.engine.save(Notes.changes(store.engine, ["b"]))
            let second = try store.engine.pinning?.pinGeneration()
            withExtendedLifetime((first, second)) {}
        }
        store.proxy.set(.refuses)
        store.proxy.set(.passes)
        // Whether the first work after it is that of a generation or another one.
        #expect(try store.engine.pinning?.pinGeneration() != nil)
        store.proxy.set(.refuses)
        store.proxy.set(.passes)
        #expect(try store.engine.fetchCount(Notes.plan()) == 2)
        #expect(try store.engine.pinning?.pinGeneration() != nil)
        #expect(try store.engine.portions(Notes.plan()).next(10).count == 2)
    }

    @Test(
        "read a table on after somebody has given a column another type", arguments: ["stars == 0", "stars + 1 == 1"])
    func otherType(format: String) throws {
        let stores = try PostgresStores()
        let engine = try stores.open(stores.nextURL(), Notes.model)
        _ = try engine.save(Notes.changes(engine, ["a"]))
        func count() throws -> Int {
            engine.readGeneration = try engine.pinning?.pinGeneration()
            defer { engine.readGeneration = nil }
            return try engine.fetchRows(Notes.plan(format)).count
        }
        #expect(try count() == 1)
        try stores.database.connect().execute("ALTER TABLE store_1.note ALTER stars TYPE integer")
        // The server refuses what it has planned before.
        _ = try? count()
        #expect(try count() == 1)
    }

    @Test("fetch many rows with a new one when the old one is lost")
    func manyRows() throws {
        let store = try Behind()
        _ = try store.engine.save(Notes.changes(store.engine, (0..<60_000).map { "note \($0)" }))
        func count() throws -> Int {
            var count = 0
            try store.engine.forEachRow(Notes.plan("text BEGINSWITH 'note'")) { _ in
                count += 1
                return true
            }
            return count
        }
        #expect(try count() == 60_000)
        store.proxy.set(.refuses)
        store.proxy.set(.passes)
        #expect(try count() == 60_000)
    }

    @Test("A transaction over many saves whose connection is lost is not taken for saved")
    func longTransaction() throws {
        let store = try Behind()
        let long = try #require(store.engine.longTransactions)
        try long.beginLongTransaction(makesIndexesLater: false)
        _ = try store.engine.save(Notes.changes(store.engine, ["a"]))
        store.proxy.set(.refuses)
        store.proxy.set(.passes)
        #expect(throws: NSError.self) { _ = try store.engine.fetchCount(Notes.plan()) }
        #expect(throws: NSError.self) { try long.endLongTransaction(commits: true) }
        #expect(try store.texts().isEmpty)
        _ = try store.engine.save(Notes.changes(store.engine, ["b"]))
        #expect(try store.texts() == ["b"])
    }

    @Test("A transaction over many saves that cannot begin leaves a store that reads and saves")
    func longTransactionThatCannotBegin() throws {
        let stores = try PostgresStores()
        let model = ContractModel.shop.model
        let tag = try #require(model.compiledLayout().entityByName["Tag"])
        let engine = try stores.open(
            stores.nextURL(), model, options: [NSPersistentStoreTimeoutOption: 0.2])
        let long = try #require(engine.longTransactions)
        let reader = try stores.database.connect()
        try reader.execute("BEGIN; SELECT count(*) FROM store_1.tag")
        #expect(throws: NSError.self) { try long.beginLongTransaction(makesIndexesLater: true) }
        #expect(try engine.fetchCount(FetchPlan(entity: tag)) == 0)
        try reader.execute("ROLLBACK")
        try long.beginLongTransaction(makesIndexesLater: true)
        try long.endLongTransaction(commits: true)
    }

    @Test("Rows in portions keep nobody from destroying their store once its generations are ended")
    func portions() throws {
        let stores = try PostgresStores()
        let url = stores.nextURL()
        let engine = try stores.open(url, Notes.model)
        _ = try engine.save(Notes.changes(engine, ["a", "b"]))
        let portions = try engine.portions(Notes.plan())
        #expect(try portions.next(1).count == 1)
        engine.endGenerations()
        try PostgresFormat.destroy(at: url, options: [NSPersistentStoreTimeoutOption: 1])
        #expect(throws: NSError.self) { try portions.next(1) }
    }
}
