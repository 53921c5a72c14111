import CoreDataModel
import Foundation
import StoreEngine
import TestSupport
import Testing

@testable import SQLiteEngine

@Suite("The memory that SQLite keeps a store's pages in")
struct PageCacheTests {
    private let folder: TestFolder
    private let note: EntityLayout
    private let model = NSManagedObjectModel()

    init() throws {
        folder = try TestFolder()
        let (entity, text) = (NSEntityDescription(), NSAttributeDescription())
        (entity.name, text.name, text.attributeType, text.isOptional) = ("Note", "text", .stringAttributeType, true)
        entity.properties = [text]
        model.entities = [entity]
        note = try #require(try model.compiledLayout().entityByName["Note"])
    }

    private func engine(pragmas: [String: String] = [:]) throws -> SQLiteEngine {
        let engine = SQLiteEngine(
            StoreFacts(url: folder.file("Notes.sqlite"), options: [NSSQLitePragmasOption: pragmas]))
        try engine.open(model)
        return engine
    }

    private func size(_ engine: SQLiteEngine) throws -> Int64? {
        try engine.current().connection.integer("PRAGMA cache_size")
    }

    private func read(_ engine: SQLiteEngine, times: Int) throws {
        for _ in 0..<times { _ = try engine.fetchCount(FetchPlan(entity: note)) }
    }

    /// The size of the cache while a batch request inserts rows.
    private func sizeWhileInserting(_ engine: SQLiteEngine) throws -> Int64? {
        var during: Int64?
        _ = try engine.insertBatch(BatchInsertPlan(entity: note)) { _ in
            guard during == nil else { return false }
            during = try size(engine)
            return true
        }
        return during
    }

    @Test("is SQLite's own size at first, and larger once the store has been read a thousand times")
    func readings() throws {
        let engine = try engine()
        defer { engine.close() }
        let initial = try size(engine)
        try read(engine, times: 999)
        #expect(try size(engine) == initial)
        try read(engine, times: 1)
        #expect(try size(engine) == -8_000)
    }

    @Test("is larger again for a store that is read often at another place")
    func relocation() throws {
        let engine = try engine()
        defer { engine.close() }
        try read(engine, times: 1_000)
        let place = folder.file("Moved.sqlite")
        engine.close()
        try FileManager.default.moveItem(at: folder.file("Notes.sqlite"), to: place)
        try engine.relocate(to: place)
        #expect(try size(engine) != -8_000)
        try read(engine, times: 1_000)
        #expect(try size(engine) == -8_000)
    }

    @Test("is larger while a batch request writes, and as before afterwards")
    func writing() throws {
        let engine = try engine()
        defer { engine.close() }
        let initial = try size(engine)
        #expect(try sizeWhileInserting(engine) == -16_000)
        #expect(try size(engine) == initial)
        try read(engine, times: 1_000)
        #expect(try sizeWhileInserting(engine) == -16_000)
        #expect(try size(engine) == -8_000)
    }

    @Test("is as before after a batch request that fails")
    func failing() throws {
        struct Stop: Error {}
        let engine = try engine()
        defer { engine.close() }
        let initial = try size(engine)
        #expect(throws: Stop.self) {
            _ = try engine.insertBatch(BatchInsertPlan(entity: note)) { _ in throw Stop() }
        }
        #expect(try size(engine) == initial)
    }

    @Test("stays as it is in a long transaction, as of a migration")
    func longTransaction() throws {
        let engine = try engine()
        defer { engine.close() }
        let initial = try size(engine)
        try engine.beginLongTransaction(makesIndexesLater: false)
        #expect(try sizeWhileInserting(engine) == initial)
        try engine.endLongTransaction(commits: true)
        #expect(try sizeWhileInserting(engine) == -16_000)
    }

    @Test(
        "is the size that the developer gives, whatever is read and written",
        arguments: ["cache_size", "CACHE_SIZE"])
    func given(name: String) throws {
        let engine = try engine(pragmas: [name: "-3000"])
        defer { engine.close() }
        try read(engine, times: 1_000)
        #expect(try size(engine) == -3_000)
        #expect(try sizeWhileInserting(engine) == -3_000)
    }
}
