import CoreDataModel
import StoreEngine
import Testing

@testable import CoreData
@testable import StoreSession

@Suite("The log of the rows that saves wrote")
struct SaveLogTests {
    private let model: NSManagedObjectModel = {
        let model = NSManagedObjectModel()
        let entity = NSEntityDescription()
        entity.name = "Note"
        model.entities = [entity]
        return model
    }()

    private func row(_ key: Int64) throws -> NSManagedObjectID {
        let layout = try #require(try model.compiledLayout().entityByName["Note"])
        return NSManagedObjectID(layout: layout, store: StoreIdentity(uuid: "store"), key: key)
    }

    private func changes(deleting keys: ClosedRange<Int64>) throws -> [ChangeSet] {
        var changes = ChangeSet()
        changes.deleted = try keys.map { RowDeletion(objectID: try row($0), version: 1) }
        return [changes]
    }

    private func noted(_ saves: (generation: UInt32, keys: ClosedRange<Int64>)...) throws -> SaveLog {
        var log = SaveLog()
        _ = log.rows(after: 0, through: 0)
        for save in saves { log.note(try changes(deleting: save.keys), [], save.generation) }
        return log
    }

    @Test("has the rows of the saves between two states")
    func between() throws {
        var log = try noted((4, 1...2), (5, 3...3), (6, 3...4), (7, 9...9))
        #expect(log.rows(after: 4, through: 6)?.others.map(\.key) == [3, 3, 4])
        #expect(log.rows(after: 3, through: 4)?.others.map(\.key) == [1, 2])
        #expect(log.rows(after: 6, through: 6)?.others.isEmpty == true)
    }

    @Test("says nothing of states that it does not have all saves between")
    func gaps() throws {
        var log = try noted((4, 1...2), (6, 3...4))
        #expect(log.rows(after: 4, through: 6) == nil)
        #expect(log.rows(after: 2, through: 4) == nil)
        #expect(log.rows(after: 5, through: 7) == nil)
        #expect(log.rows(after: 6, through: 5) == nil)
    }

    @Test("is not kept before somebody asks, and not past a save of many rows")
    func unasked() throws {
        var log = SaveLog()
        log.note(try changes(deleting: 1...1), [], 2)
        #expect(log.rows(after: 1, through: 2) == nil)
        log.note(try changes(deleting: 1...1), [], 3)
        log.note(try changes(deleting: 1...Int64(SaveLog.mostRowsOfASave + 1)), [], 4)
        log.note(try changes(deleting: 5...5), [], 5)
        #expect(log.rows(after: 2, through: 5) == nil)
        #expect(log.rows(after: 4, through: 5)?.others.map(\.key) == [5])
    }

    @Test("has the rows of which a save computed values, too")
    func computed() throws {
        var log = try noted()
        var result = SaveResult()
        result.computed = [(try row(8), 0, .null)]
        log.note(try changes(deleting: 1...1), [result], 1)
        #expect(log.rows(after: 0, through: 1)?.others.map(\.key) == [1, 8])
    }
}
