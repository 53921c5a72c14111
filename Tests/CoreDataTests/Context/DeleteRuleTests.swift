import CoreData
import Testing

@MainActor @Suite("Delete rules")
struct DeleteRuleTests {
    private func context(rule: NSDeleteRule) throws -> NSManagedObjectContext {
        let parent = Library.entity("Parent", [Library.attribute("name", .stringAttributeType)])
        let child = Library.entity("Child", [Library.attribute("name", .stringAttributeType)])
        Library.connect(parent, "children", toMany: true, deleteRule: rule, child, "parent")
        let model = NSManagedObjectModel()
        model.entities = [parent, child]
        let container = try Library.inMemory(model)
        let context = container.newBackgroundContext()
        context.performAndWait {
            let parent = context.make("Parent")
            context.make("Child", ["parent": parent])
            context.make("Child", ["parent": parent])
        }
        try context.performAndWait { try context.save() }
        return context
    }

    @Test("Cascade deletes the destinations too")
    func cascade() throws {
        let context = try context(rule: .cascadeDeleteRule)
        try context.performAndWait {
            context.delete(try #require(try context.all("Parent").first))
            try context.save()
            #expect(try context.all("Child").isEmpty)
        }
    }

    @Test("Nullify leaves the destinations without their source")
    func nullify() throws {
        let context = try context(rule: .nullifyDeleteRule)
        try context.performAndWait {
            context.delete(try #require(try context.all("Parent").first))
            try context.save()
            let children = try context.all("Child")
            #expect(children.count == 2)
            #expect(children.allSatisfy { $0.value(forKey: "parent") == nil })
        }
    }

    @Test("Deny refuses the save while there are destinations")
    func deny() throws {
        let context = try context(rule: .denyDeleteRule)
        try context.performAndWait {
            context.delete(try #require(try context.all("Parent").first))
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.code == 1600)
            context.rollback()
            #expect(try context.all("Parent").count == 1)
        }
    }

    @Test("No action leaves the destinations alone")
    func noAction() throws {
        let context = try context(rule: .noActionDeleteRule)
        try context.performAndWait {
            context.delete(try #require(try context.all("Parent").first))
            try context.save()
            #expect(try context.all("Child").count == 2)
        }
    }

    @Test("Delete rules reach everything below, also if a program fetches while a deletion is reported")
    func fetchingMeanwhile() throws {
        let container = try Library.inMemory()
        let context = FetchingContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = container.persistentStoreCoordinator
        try context.performAndWait {
            let author = context.make("Author", ["name": "A"])
            let book = context.make("Book", ["title": "T", "author": author, "shelf": context.make("Shelf")])
            context.make("Chapter", ["title": "C", "book": book])
            try context.save()
            context.delete(author)
            try context.save()
            for entity in ["Author", "Book", "Chapter"] { #expect(try context.all(entity).isEmpty, "\(entity)") }
            #expect(try context.all("Shelf").first?.value(forKey: "book") == nil)
        }
    }
}

/// A context that counts objects before it deletes one, as `prepareForDeletion` of a program's class may.
private final class FetchingContext: NSManagedObjectContext, @unchecked Sendable {
    // @unchecked Sendable: confined to its queue, like its superclass.
    override func delete(_ object: NSManagedObject) {
        _ = try? count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag"))
        super.delete(object)
    }
}
