import Foundation
import PredicateFormat
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("A long transaction that cannot begin")
struct LongTransactionBeginTests {
    @Test("is rolled back: nobody waits for it, and the store is as before")
    func rolledBack() throws {
        try inTestFolder { folder in
            let file = folder.appendingPathComponent("notes.sqlite")
            let title = makeAttribute("title", .stringAttributeType)
            let shout = makeDerived("shout", .stringAttributeType, NSExpression(format: "uppercase:(title)"))
            let model = makeModel(makeEntity("Note", title, shout).with(index: "byTitle", "title"))
            let engine = SQLiteEngine(StoreFacts(url: file))
            try engine.open(model)
            defer { engine.close() }
            let schema = "SELECT name FROM sqlite_master ORDER BY name"
            let before = try plainSQL(schema, in: file)
            // SQLite drops no index while its connection reads.
            let reading = try engine.current().connection.prepare("SELECT 1 FROM Z_METADATA")
            #expect(try reading.step())
            #expect(throws: NSError.self) {
                try engine.beginLongTransaction(makesIndexesLater: true, copying: engine)
            }
            reading.reset()
            try execute("UPDATE Z_METADATA SET Z_VERSION = Z_VERSION", in: file)
            #expect(try plainSQL(schema, in: file) == before)
            #expect(try engine.current().usualStore == nil)
            try engine.beginLongTransaction(makesIndexesLater: true, copying: engine)
            try engine.makeIndexes()
            try engine.endLongTransaction(commits: true)
            #expect(try plainSQL(schema, in: file) == before)
        }
    }
}
