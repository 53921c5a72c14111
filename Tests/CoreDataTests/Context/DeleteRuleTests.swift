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
}
