import PippinRecords
import CoreData
import TestSupport
import Testing

@Suite("A save that fails")
struct FailedSaveTests {
    private struct Badge: CoreModel, Equatable {
        let id: String
        var number: Int
        static var schema: Schema<Badge> { Schema(.unique(\.number)) }
    }

    private let folder: TestFolder
    private let manager: PersistenceManager

    init() throws {
        folder = try TestFolder()
        manager = PersistenceManager(
            models: Badge.self, store: .file(folder.file("badges.sqlite")))
        try manager.loadAndWait()
        try manager.writeAndWait { try $0.save(Badge(id: "a", number: 1)) }
    }

    @Test("says which model failed, at which property, and has Core Data's code")
    func naming() async throws {
        let error = try #require(
            await #expect(throws: PersistenceError.self) {
                try await manager.save([Badge(id: "b", number: 2), Badge(id: "c", number: 1)])
            })
        #expect(error.failures.map(\.entity) == ["Badge"])
        #expect(error.failures.map(\.identifier) == ["c"])
        #expect(error.failures.map(\.property) == ["number"])
        #expect(error.localizedDescription.contains("Badge 'c', number"))
        #expect((error as NSError).domain == NSCocoaErrorDomain)
        #expect((error as NSError).code == NSManagedObjectConstraintMergeError)
        #expect(try await manager.fetch(Badge.self) == [Badge(id: "a", number: 1)])
    }

    @Test("names the record and the attribute that is not valid")
    func validation() throws {
        let shelf = StrictShelf()
        try shelf.manager.loadAndWait()
        let error = try #require(
            #expect(throws: PersistenceError.self) {
                try shelf.manager.save(
                    entity: LabelRecord.self, models: [Label(id: 1, text: "x"), Label(id: 2, text: nil)],
                    shouldOverwrite: false)
            })
        #expect(error.failures.map(\.identifier) == ["2"])
        #expect(error.failures.map(\.property) == ["text"])
        #expect(try shelf.manager.fetchModels(entity: LabelRecord.self).isEmpty)
    }

    @Test("names the model whose deletion takes what another one requires")
    func deletionOfWhatIsRequired() async throws {
        let manager = PersistenceManager(models: Holder.self, Card.self, store: .memory)
        try await manager.save([Holder(id: "h"), Holder(id: "other")])
        try await manager.save(Card(id: "c", holder: Reference(id: "h")))
        let error = try #require(
            await #expect(throws: PersistenceError.self) { try await manager.delete(Holder.self, id: "h") })
        #expect(error.failures.map(\.identifier) == ["c"])
        #expect(error.failures.map(\.property) == ["holder"])
        #expect(
            error.localizedDescription
                == "Nothing was saved. Card 'c', holder: It is required, and the Holder 'h' would be deleted. "
                + "Delete the Card as well, or save it with another Holder first.")
        #expect((error as NSError).code == NSValidationMissingMandatoryPropertyError)
        #expect(try await manager.count(Holder.self) == 2)
        // Both ways that it names.
        try await manager.save(Card(id: "c", holder: Reference(id: "other")))
        try await manager.delete(Holder.self, id: "h")
        try await manager.write {
            try $0.delete(Card.self, id: "c")
            try $0.delete(Holder.self, id: "other")
        }
        #expect(try await manager.count(Holder.self) == 0)
    }

    @Test("is one of the end of a block: a rule may be broken before, whatever is asked meanwhile")
    func brokenMeanwhile() async throws {
        let manager = PersistenceManager(models: Holder.self, Card.self, store: .memory)
        try await manager.save(Holder(id: "h"))
        try await manager.save(Card(id: "c", holder: Reference(id: "h")))
        try await manager.write { store in
            try store.delete(Holder.self, id: "h")
            #expect(try store.count(Holder.self) == 0)
            try store.delete(Card.self, id: "c")
        }
        #expect(try await manager.count(Card.self) == 0)
    }

    @Test("leaves a context without changes as it was")
    func clean() async throws {
        let context = manager.newWorkerContext()
        await #expect(throws: PersistenceError.self) {
            try await manager.write(in: context) { try $0.save(Badge(id: "c", number: 1)) }
        }
        let isClean = await context.perform { !context.hasChanges }
        #expect(isClean)
    }

    @Test("takes its own changes back, and leaves those that were in the context before")
    func pending() async throws {
        let context = manager.newWorkerContext()
        let manager = manager
        try await context.perform {
            let access = DataAccess(manager: manager, context: context)
            try access.save([Badge(id: "mine", number: 9), Badge(id: "a", number: 5)])
        }
        await #expect(throws: PersistenceError.self) {
            try await manager.write(in: context) {
                try $0.save([Badge(id: "b", number: 9), Badge(id: "a", number: 6)])
            }
        }
        let unsaved = try await manager.read(in: context) { try $0.fetch(Badge.self, sortedBy: .ascending(\.id)) }
        #expect(unsaved == [Badge(id: "a", number: 5), Badge(id: "mine", number: 9)])
        try await manager.write(in: context) { _ in }
        #expect(try await manager.fetch(Badge.self, sortedBy: .ascending(\.id)) == unsaved)
    }
}

private struct Holder: CoreModel {
    let id: String
}

private struct Card: CoreModel {
    let id: String
    var holder: Reference<Holder>
}

struct Label: CoreModel {
    let id: Int
    let text: String?
}

final class LabelRecord: NSManagedObject, RecordFromModel, RecordToModel {
    static var uidKey: String { "id" }

    func fromModel(_ label: Label) { setValue(label.text, forKey: "text") }
    func toModel() -> Label { Label(id: value(forKey: "id") as? Int ?? 0, text: value(forKey: "text") as? String) }
}

struct StrictShelf {
    let manager: PersistenceManager

    init() {
        let (id, text) = (NSAttributeDescription(), NSAttributeDescription())
        id.name = "id"
        id.attributeType = .integer64AttributeType
        text.name = "text"
        text.attributeType = .stringAttributeType
        text.isOptional = false
        let entity = NSEntityDescription()
        entity.name = "LabelRecord"
        entity.managedObjectClassName = NSStringFromClass(LabelRecord.self)
        entity.properties = [id, text]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        manager = PersistenceManager(model: model, name: "Labels", store: .memory)
    }
}
