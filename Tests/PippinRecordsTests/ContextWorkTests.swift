import PippinRecords
import Testing

@Suite("Child contexts, caches and sync states")
struct ContextWorkTests {
    let shelf: Shelf
    var manager: PersistenceManager { shelf.manager }

    init() throws {
        shelf = try Shelf()
        try shelf.save([.ada, .blaise])
    }

    @Test("a child's save travels up to the store")
    func travelling() async throws {
        let parent = manager.backgroundContext()
        let child = manager.childContext(of: parent)
        try await child.perform {
            try PersonRecord.first(where: NSPredicate(format: "id == 'a'"), in: child)?.setValue(
                "Lovelace", forKey: "name")
            try child.save()
        }
        #expect(try shelf.strings("SELECT ZNAME FROM ZPERSONRECORD ORDER BY ZID") == ["Ada", "Blaise"])
        try await manager.saveToStore(child)
        #expect(try shelf.strings("SELECT ZNAME FROM ZPERSONRECORD ORDER BY ZID") == ["Lovelace", "Blaise"])
    }

    @Test("a cache finds each record once, and inserts what is missing")
    func cache() throws {
        let context = manager.newWorkerContext()
        try context.performAndWait {
            let cache = RecordCache<PersonRecord>(context: context)
            try cache.load(["a", "b", "z"])
            let ada = try #require(try cache.record(with: "a"))
            #expect(try cache.record(with: "a") === ada)
            #expect(try cache.record(with: "z") == nil)
            let new = try cache.findOrInsert("z")
            #expect(try cache.findOrInsert("z") === new)
            #expect(try PersonRecord.count(in: context) == 3)
        }
    }

    @Test("a cache hands out no record whose deletion was saved")
    func deletedInCache() throws {
        let context = manager.newWorkerContext()
        try context.performAndWait {
            let cache = RecordCache<PersonRecord>(context: context)
            let ada = try #require(try cache.record(with: "a"))
            context.delete(ada)
            #expect(try cache.record(with: "a") == nil)
            try context.save()
            #expect(try cache.record(with: "a") == nil)
            try cache.findOrInsert("a").setValue("New", forKey: "name")
            try context.save()
        }
        #expect(try shelf.strings("SELECT ZNAME FROM ZPERSONRECORD ORDER BY ZID") == ["New", "Blaise"])
    }

    @Test("a cache finds the record that somebody else has inserted after a deletion")
    func replacedInCache() async throws {
        let context = manager.newWorkerContext()
        let cache = UncheckedCache(RecordCache<PersonRecord>(context: context))
        try await context.perform {
            let ada = try #require(try cache.records.record(with: "a"))
            context.delete(ada)
            try context.save()
        }
        try shelf.save([.ada])
        try await context.perform {
            try cache.records.load(["a"])
            #expect(try cache.records.record(with: "a")?.value(forKey: "age") as? Int == 36)
        }
    }

    @Test("a limit of zero finds no records")
    func noRecords() throws {
        let context = manager.newWorkerContext()
        try context.performAndWait {
            let counts = try [0, 1, nil].map { try PersonRecord.all(limit: $0, in: context).count }
            #expect(counts == [0, 1, 2])
        }
    }

    @Test("records wait for their upload and their deletion")
    func syncing() async throws {
        let shelf = SyncShelf()
        try await shelf.manager.load()
        let manager = shelf.manager
        try await manager.save(
            entity: TaskRecord.self, models: [TaskModel(uid: 1), TaskModel(uid: 2), TaskModel(uid: 3)],
            shouldOverwrite: false)
        try await manager.markAsUploaded(entity: TaskRecord.self, uids: [1, 2])
        #expect(try await manager.fetchModelsToUpload(entity: TaskRecord.self).map(\.uid) == [3])
        try await manager.markForUpload(entity: TaskRecord.self, uids: [2])
        try await manager.markForDeletion(entity: TaskRecord.self, uids: [3])
        #expect(try await manager.fetchModelsToUpload(entity: TaskRecord.self).map(\.uid) == [2])
        #expect(try await manager.fetchUidsToDelete(entity: TaskRecord.self) == [3])
        #expect(try await manager.markAsDeleted(entity: TaskRecord.self, uids: [1, 3]) == 1)
        #expect(try await manager.fetchModels(entity: TaskRecord.self, uids: [1, 2, 3]).map(\.uid) == [1, 2])
    }

    @Test("a record that is changed while it is uploaded waits for its next upload")
    func changedMeanwhile() async throws {
        let shelf = SyncShelf()
        let manager = shelf.manager
        try await manager.load()
        try await manager.save(
            entity: TaskRecord.self, models: [TaskModel(uid: 1), TaskModel(uid: 2)], shouldOverwrite: false)
        let uploading = try await manager.fetchModelsToUpload(entity: TaskRecord.self)
        try await manager.save(entity: TaskRecord.self, model: TaskModel(uid: 1, text: "changed"))
        #expect(try await manager.markAsUploaded(entity: TaskRecord.self, models: uploading) == 1)
        #expect(try await manager.fetchModelsToUpload(entity: TaskRecord.self) == [TaskModel(uid: 1, text: "changed")])
    }
}

/// A cache that is used on its context's queue only.
private struct UncheckedCache: @unchecked Sendable {
    let records: RecordCache<PersonRecord>
    init(_ records: RecordCache<PersonRecord>) { self.records = records }
}

struct TaskModel: CoreModel, Equatable {
    let uid: Int
    var text = ""
}

final class TaskRecord: NSManagedObject, RecordFromModel, RecordToModel, SyncRecord {
    func fromModel(_ model: TaskModel) { setValue(model.text, forKey: "text") }

    func toModel() -> TaskModel {
        TaskModel(uid: value(forKey: "uid") as? Int ?? 0, text: value(forKey: "text") as? String ?? "")
    }
}

struct SyncShelf {
    let manager: PersistenceManager

    init() {
        let entity = NSEntityDescription()
        entity.name = "TaskRecord"
        entity.managedObjectClassName = NSStringFromClass(TaskRecord.self)
        entity.properties = [
            ("uid", NSAttributeType.integer64AttributeType), ("isUploaded", .booleanAttributeType),
            ("wasDeleted", .booleanAttributeType), ("text", .stringAttributeType),
        ].map { name, type in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        manager = PersistenceManager(model: model, name: "Sync", store: .memory)
    }
}
