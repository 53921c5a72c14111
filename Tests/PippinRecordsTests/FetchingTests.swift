import PippinRecords
import Testing

@Suite("Fetching")
struct FetchingTests {
    let shelf: Shelf
    var manager: PersistenceManager { shelf.manager }

    init() throws {
        shelf = try Shelf()
        try shelf.save([.ada, .blaise, .carl])
    }

    @Test("finds a model by its identifier")
    func model() async throws {
        #expect(try await manager.fetchModel(entity: PersonRecord.self, uid: "b") == .blaise)
        #expect(try await manager.fetchModel(entity: PersonRecord.self, uid: "z") == nil)
    }

    @Test("finds models by identifiers, in their order, each once, without those that are not there")
    func models() async throws {
        let models = try await manager.fetchModels(entity: PersonRecord.self, uids: ["c", "z", "a", "c"])
        #expect(models == [.carl, .ada])
    }

    @Test("finds models by more identifiers than a statement takes")
    func manyIdentifiers() throws {
        let people = (0..<2_000).map { Person(uid: "person-\($0)", name: "P") }
        try shelf.save(people)
        let models = try manager.fetchModels(entity: PersonRecord.self, uids: people.map(\.uid).reversed())
        #expect(models == people.reversed())
    }

    @Test("finds models by a predicate, sorted")
    func predicate() async throws {
        let models = try await manager.fetchModels(
            entity: PersonRecord.self, predicate: NSPredicate(format: "age < %@", 50),
            sortDescriptors: [NSSortDescriptor(key: "name", ascending: false)])
        #expect(models == [.blaise, .ada])
    }

    @Test("finds no more models than the limit")
    func limit() async throws {
        let models = try await manager.fetchModels(
            entity: PersonRecord.self, sortDescriptors: [NSSortDescriptor(key: "age", ascending: false)], limit: 1)
        #expect(models == [.carl])
    }

    @Test("finds the same where the caller waits")
    func synchronous() throws {
        #expect(try manager.fetchModel(entity: PersonRecord.self, uid: "a") == .ada)
        #expect(try manager.fetchModels(entity: PersonRecord.self, uids: ["b"]) == [.blaise])
        let old = try manager.fetchModels(entity: PersonRecord.self, predicate: NSPredicate(format: "age > %@", 50))
        #expect(old == [.carl])
    }

    @Test("finds records, which live in the given context")
    func records() throws {
        let worker = manager.newWorkerContext()
        let record = try manager.fetchRecord(entity: PersonRecord.self, uid: "a", context: worker)
        #expect(record?.managedObjectContext === worker)
        let records = try manager.fetchRecords(entity: PersonRecord.self, uids: ["b", "a"], context: worker)
        #expect(worker.performAndWait { records.map { $0.toModel() } } == [.blaise, .ada])
    }

    @Test("finds what somebody else saved a moment ago, on the same thread")
    func freshValues() throws {
        let held = try manager.fetchRecords(entity: PersonRecord.self)
        var older = Person.ada
        older.age += 1
        try shelf.save([older])
        #expect(try manager.fetchModel(entity: PersonRecord.self, uid: "a")?.age == 37)
        #expect(held.count == 3)
    }

    @Test("fails for an entity that the model does not have, and lists those it has")
    func unknownEntity() {
        let error = #expect(throws: PersistenceError.self) { try manager.fetchRecords(entity: StrangerRecord.self) }
        #expect(error?.description.contains("'StrangerRecord'") == true)
        #expect(error?.description.contains("ChapterRecord, NoteRecord, NovelRecord, PersonRecord") == true)
    }

    @Test("fails for an identifying attribute that the entity does not have")
    func unknownUidKey() {
        let error = #expect(throws: PersistenceError.self) { try manager.fetchRecords(entity: WrongKeyRecord.self) }
        #expect(error?.description.contains("no attribute 'serial'") == true)
    }

    @Test("fails for a record type that the entity's objects are not of")
    func wrongClass() {
        let error = #expect(throws: PersistenceError.self) { try manager.fetchRecords(entity: WrongClassRecord.self) }
        #expect(error?.description.contains("WrongClassRecord") == true)
    }

    @Test("fails for objects of a subentity that are of another class")
    func otherSubclass() throws {
        let model = Library.model()
        let guest = NSEntityDescription()
        guest.name = "Guest"
        model.entitiesByName["PersonRecord"]?.subentities = [guest]
        model.entities.append(guest)
        let manager = PersistenceManager(model: model, name: "Guests", store: .memory)
        try manager.loadAndWait()
        let worker = manager.newWorkerContext()
        try worker.performAndWait {
            _ = NSEntityDescription.insertNewObject(forEntityName: "Guest", into: worker)
            try worker.save()
            let error = #expect(throws: PersistenceError.self) { try PersonRecord.all(in: worker) }
            #expect(error?.code == .wrongRecordClass)
            #expect(error?.entity == "Guest")
        }
    }
}

@Suite("A managed class within a type")
struct NestedRecordTests {
    final class Row: NSManagedObject {}

    @Test("has the verbs that need no conversion")
    func verbs() throws {
        let model = NSManagedObjectModel()
        let entity = NSEntityDescription()
        entity.name = "Line"
        entity.managedObjectClassName = String(reflecting: Row.self)
        let title = NSAttributeDescription()
        (title.name, title.attributeType, title.isOptional) = ("title", .stringAttributeType, true)
        entity.properties = [title]
        model.entities = [entity]
        let manager = PersistenceManager(model: model, name: "Lines", store: .memory)
        try manager.loadAndWait()
        let worker = manager.newWorkerContext()
        try worker.performAndWait {
            let row = Row(context: worker)
            row.setValue("A", forKey: "title")
            let rows = try Row.all(in: worker)
            #expect(rows == [row])
            #expect(try Row.count(in: worker) == 1)
        }
    }
}

private final class StrangerRecord: NSManagedObject, DataRecord {
    typealias UidType = String
}

private final class WrongKeyRecord: NSManagedObject, DataRecord {
    typealias UidType = String
    static var entityName: String { "PersonRecord" }
    static var uidKey: String { "serial" }
}

private final class WrongClassRecord: NSManagedObject, DataRecord {
    typealias UidType = String
    static var entityName: String { "PersonRecord" }
    static var uidKey: String { "id" }
}
