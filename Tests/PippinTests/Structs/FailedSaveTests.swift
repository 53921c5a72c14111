import Pippin
import TestSupport
import Testing

@Suite("A save that fails")
struct FailedSaveTests {
    private struct Badge: CoreModel, Codable, Equatable {
        let uid: String
        var number: Int
        static var schema: Schema<Badge> { Schema(.unique(\.number)) }
    }

    private let folder: TestFolder
    private let manager: PersistenceManager

    init() throws {
        folder = try TestFolder()
        manager = PersistenceManager(
            models: Badge.self, mergePolicy: .error, store: .file(folder.file("badges.sqlite")))
        try manager.load()
        try manager.save(Badge(uid: "a", number: 1))
    }

    @Test("says which model failed, at which property, and has Core Data's code")
    func naming() async throws {
        let error = try #require(
            await #expect(throws: SaveError.self) {
                try await manager.save([Badge(uid: "b", number: 2), Badge(uid: "c", number: 1)])
            })
        #expect(error.failures.map(\.entity) == ["Badge"])
        #expect(error.failures.map(\.uid) == ["c"])
        #expect(error.failures.map(\.key) == ["number"])
        #expect(error.localizedDescription.contains("Badge 'c', number"))
        #expect((error as NSError).domain == NSCocoaErrorDomain)
        #expect((error as NSError).code == NSManagedObjectConstraintMergeError)
        #expect(try await manager.fetch(Badge.self) == [Badge(uid: "a", number: 1)])
    }

    @Test("names the record and the attribute that is not valid")
    func validation() throws {
        let shelf = StrictShelf()
        try shelf.manager.load()
        let error = try #require(
            #expect(throws: SaveError.self) {
                try shelf.manager.save(
                    entity: LabelRecord.self, models: [Label(uid: 1, text: "x"), Label(uid: 2, text: nil)],
                    shouldOverwrite: false)
            })
        #expect(error.failures.map(\.uid) == ["2"])
        #expect(error.failures.map(\.key) == ["text"])
        #expect(try shelf.manager.fetchModels(entity: LabelRecord.self).isEmpty)
    }

    @Test("leaves a context without changes as it was")
    func clean() async throws {
        let context = manager.workerContext
        await #expect(throws: SaveError.self) {
            try await manager.save(Badge(uid: "c", number: 1), context: context)
        }
        let isClean = await context.perform { !context.hasChanges }
        #expect(isClean)
    }

    @Test("takes its own changes back, and leaves those that were in the context before")
    func pending() async throws {
        let context = manager.workerContext
        let manager = manager
        try await context.perform {
            let access = DataAccess(manager: manager, context: context)
            try access.insertOrUpdate([Badge(uid: "mine", number: 9), Badge(uid: "a", number: 5)])
        }
        await #expect(throws: SaveError.self) {
            try await manager.save([Badge(uid: "b", number: 9), Badge(uid: "a", number: 6)], context: context)
        }
        let unsaved = try await manager.fetch(Badge.self, sortedBy: .ascending(\.uid), context: context)
        #expect(unsaved == [Badge(uid: "a", number: 5), Badge(uid: "mine", number: 9)])
        try await manager.write(context: context) { _ in }
        #expect(try await manager.fetch(Badge.self, sortedBy: .ascending(\.uid)) == unsaved)
    }
}

struct Label: CoreModel {
    let uid: Int
    let text: String?
}

final class LabelRecord: NSManagedObject, RecordFromModel, RecordToModel {
    func fromModel(_ label: Label) { setValue(label.text, forKey: "text") }
    func toModel() -> Label { Label(uid: value(forKey: "uid") as? Int ?? 0, text: value(forKey: "text") as? String) }
}

struct StrictShelf {
    let manager: PersistenceManager

    init() {
        let (uid, text) = (NSAttributeDescription(), NSAttributeDescription())
        uid.name = "uid"
        uid.attributeType = .integer64AttributeType
        text.name = "text"
        text.attributeType = .stringAttributeType
        text.isOptional = false
        let entity = NSEntityDescription()
        entity.name = "LabelRecord"
        entity.managedObjectClassName = NSStringFromClass(LabelRecord.self)
        entity.properties = [uid, text]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        manager = PersistenceManager(model: model, name: "Labels", store: .memory)
    }
}
