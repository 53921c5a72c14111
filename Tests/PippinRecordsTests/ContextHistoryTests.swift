import PippinRecords
import TestSupport
import Testing

/// A record that refuses to be deleted if its identifier is 2.
final class StubbornRecord: NSManagedObject, DataRecord {
    typealias UidType = Int
    struct Refused: Error {}

    override func validateForDelete() throws {
        try super.validateForDelete()
        if value(forKey: "uid") as? Int == 2 { throw Refused() }
    }
}

@Suite("Work in a context with a past")
struct ContextHistoryTests {
    private let shelf: Shelf
    private var manager: PersistenceManager { shelf.manager }
    private let context: NSManagedObjectContext
    struct Refused: Error {}

    init() throws {
        shelf = try Shelf()
        try shelf.save([.ada, .blaise])
        context = shelf.manager.newWorkerContext()
    }

    private func perform(_ work: () throws -> Void) throws { try context.performAndWait(work) }

    private func names(_ uids: String...) throws -> [String?] {
        try uids.map { uid in
            let person = try PersonRecord.first(where: NSPredicate(format: "id == %@", uid), in: context)
            return person?.value(forKey: "name") as? String
        }
    }

    private func expect(_ expected: [String?], of uids: String..., at place: SourceLocation = #_sourceLocation) throws {
        let found = try uids.map { uid in try names(uid)[0] }
        #expect(found == expected, sourceLocation: place)
    }

    private func isRefused(_ work: () throws -> Void) -> Bool {
        do { try work() } catch { return error is Refused }
        return false
    }

    private func rename(_ uid: String, _ name: String) throws {
        try PersonRecord.insertOrUpdate(uid: uid, in: context) { $0.setValue(name, forKey: "name") }
        context.processPendingChanges()
    }

    /// A context whose latest change can be undone.
    private func prepare(isSaved: Bool) throws {
        context.undoManager = UndoManager()
        try context.performAndWait { try rename("a", "Mine") }
        if isSaved { try context.performAndWait { try context.save() } }
    }

    @Test("work that succeeds leaves what can be undone, and can be undone itself", arguments: [true, false])
    func success(isSaved: Bool) throws {
        try prepare(isSaved: isSaved)
        try manager.save(entity: PersonRecord.self, model: Person(uid: "b", name: "Work"), context: context)
        try perform {
            try expect(["Mine", "Work"], of: "a", "b")
            context.undo()
            try expect(["Mine", "Blaise"], of: "a", "b")
            context.undo()
            try expect(["Ada", "Blaise"], of: "a", "b")
        }
    }

    @Test("work that fails leaves what can be undone", arguments: [true, false])
    func failure(isSaved: Bool) throws {
        try prepare(isSaved: isSaved)
        #expect(throws: Refused.self) {
            try manager.writeAndWait(in: context) { _ in
                try rename("a", "Work")
                try rename("z", "New")
                try PersonRecord.deleteAll(where: NSPredicate(format: "id == 'b'"), in: context)
                context.processPendingChanges()
                throw Refused()
            }
        }
        try perform {
            try expect(["Mine", "Blaise", nil], of: "a", "b", "z")
            #expect(context.hasChanges == !isSaved)
            context.undo()
            try expect(["Ada", "Blaise", nil], of: "a", "b", "z")
            #expect(context.undoManager?.canUndo == false)
        }
    }

    @Test("a block may undo", arguments: [true, false])
    func undoing(fails: Bool) throws {
        try prepare(isSaved: false)
        let hasFailed = isRefused {
            try manager.writeAndWait(in: context) { _ in
                context.undo()
                try rename("b", "Work")
                if fails { throw Refused() }
            }
        }
        #expect(hasFailed == fails)
        try perform { try expect(fails ? ["Mine", "Blaise"] : ["Ada", "Work"], of: "a", "b") }
    }

    @Test("work within work that fails takes back its own changes only", arguments: [true, false])
    func nested(outerFails: Bool) throws {
        try context.performAndWait { try rename("a", "Mine") }
        let hasFailed = isRefused {
            try manager.writeAndWait(in: context) { _ in
                try rename("b", "Outer")
                #expect(throws: Refused.self) {
                    try manager.writeAndWait(in: context) { _ in
                        try rename("b", "Inner")
                        throw Refused()
                    }
                }
                try expect(["Outer"], of: "b")
                if outerFails { throw Refused() }
            }
        }
        #expect(hasFailed == outerFails)
        try perform { try expect(["Mine", outerFails ? "Blaise" : "Outer"], of: "a", "b") }
        #expect(try shelf.text("SELECT ZNAME FROM ZPERSONRECORD WHERE ZID = 'a'") == (outerFails ? "Ada" : "Mine"))
    }

    @Test("chunks that were deleted stay deleted, though a later one fails")
    func chunks() throws {
        let model = NSManagedObjectModel()
        model.entities = [StubbornRecord.self, PersonRecord.self].map { type in
            let entity = NSEntityDescription()
            entity.name = "\(type)"
            entity.managedObjectClassName = NSStringFromClass(type)
            entity.properties = [(type as? StubbornRecord.Type == nil ? "id" : "uid")].map { name in
                let attribute = NSAttributeDescription()
                attribute.name = name
                attribute.attributeType = name == "id" ? .stringAttributeType : .integer64AttributeType
                return attribute
            }
            return entity
        }
        let manager = PersistenceManager(model: model, name: "Stubborn", store: .memory)
        try manager.loadAndWait()
        let context = manager.newWorkerContext()
        try context.performAndWait {
            for uid in 1...3 {
                try StubbornRecord.insertOrUpdate(uid: uid, in: context) { _ in }
                try context.save()
            }
            try PersonRecord.insertOrUpdate(uid: "unsaved", in: context) { _ in }
        }
        #expect(throws: PersistenceError.self) {
            try manager.deleteAll(entity: StubbornRecord.self, inChunksOf: 1, context: context)
        }
        try context.performAndWait {
            #expect(!context.hasChanges)
            let uids = try StubbornRecord.all(in: context).compactMap { $0.value(forKey: "uid") as? Int }
            #expect(Set(uids) == [2, 3])
            #expect(try PersonRecord.count(in: context) == 1)
        }
    }
}
