import CoreDataModel
import Foundation
import PostgresEngine
import StoreEngine
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

    @Test("read a table on after somebody has given a column another type")
    func otherType() throws {
        let stores = try PostgresStores()
        let engine = try stores.open(stores.nextURL(), Notes.model)
        _ = try engine.save(Notes.changes(engine, ["a"]))
        func count() throws -> Int {
            engine.readGeneration = try engine.pinning?.pinGeneration()
            defer { engine.readGeneration = nil }
            return try engine.fetchRows(Notes.plan("stars == 0")).count
        }
        #expect(try count() == 1)
        try stores.database.connect().execute("ALTER TABLE store_1.note ALTER stars TYPE integer")
        // The server refuses what it has planned before.
        _ = try? count()
        #expect(try count() == 1)
    }

    @Test("and many rows are fetched with a new one when the old one is lost")
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
        try long.beginLongTransaction(makesIndexesLater: false, copies: false)
        _ = try store.engine.save(Notes.changes(store.engine, ["a"]))
        store.proxy.set(.refuses)
        store.proxy.set(.passes)
        #expect(throws: NSError.self) { _ = try store.engine.fetchCount(Notes.plan()) }
        #expect(throws: NSError.self) { try long.endLongTransaction(commits: true) }
        #expect(try store.texts().isEmpty)
        _ = try store.engine.save(Notes.changes(store.engine, ["b"]))
        #expect(try store.texts() == ["b"])
    }
}
