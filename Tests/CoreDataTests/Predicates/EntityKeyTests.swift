import CoreData
import TestSupport
import Testing

/// Predicates may ask for an object's entity, and for what only objects of a subentity have.
@MainActor @Suite("The key “entity” and keys of subentities")
struct EntityKeyTests {
    private func model() -> NSManagedObjectModel {
        let employee = Library.entity("Employee", [Library.attribute("name", .stringAttributeType)])
        let manager = Library.entity("Manager", [Library.attribute("budget", .integer64AttributeType)])
        let executive = Library.entity("Executive", [Library.attribute("bonus", .integer64AttributeType)])
        let department = Library.entity("Department", [Library.attribute("name", .stringAttributeType)])
        manager.subentities = [executive]
        employee.subentities = [manager]
        Library.connect(department, "staff", toMany: true, employee, "department")
        Library.connect(department, "head", toMany: false, employee, "heads")
        let model = NSManagedObjectModel()
        model.entities = [employee, manager, executive, department]
        return model
    }

    private func fill(_ context: NSManagedObjectContext) {
        let (first, second) = (context.make("Department", ["name": "D"]), context.make("Department", ["name": "D2"]))
        let employee = context.make("Employee", ["name": "e", "department": first])
        let manager = context.make("Manager", ["name": "m", "budget": 10, "department": first])
        context.make("Executive", ["name": "x", "budget": 20, "department": second])
        first.setValue(manager, forKey: "head")
        second.setValue(employee, forKey: "head")
    }

    @Test(
        "find objects by their kind in every store, saved or not",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType, NSXMLStoreType])
    func kinds(type: String) throws {
        let folder = try TestFolder()
        let model = model()
        let description = NSPersistentStoreDescription(url: folder.file("staff"))
        description.type = type
        let context = try Library.container(model, description).viewContext
        fill(context)
        let manager = try #require(model.entitiesByName["Manager"])
        let executive = try #require(model.entitiesByName["Executive"])
        let both = [manager, executive]
        for isSaved in [false, true] {
            if isSaved { try context.save() }
            func names(_ entity: String, _ predicate: NSPredicate) throws -> [String] {
                try context.all(entity, predicate, by: "name").compactMap { $0.string("name") }
            }
            #expect(try names("Employee", NSPredicate(format: "entity == %@", manager)) == ["m"])
            #expect(try names("Employee", NSPredicate(format: "entity != %@", manager)) == ["e", "x"])
            #expect(try names("Employee", NSPredicate(format: "entity IN %@", both)) == ["m", "x"])
            let rich = NSPredicate(format: "name == 'e' OR (entity IN %@ AND budget > 15)", both)
            #expect(try names("Employee", rich) == ["e", "x"])
            #expect(try names("Employee", NSPredicate(format: "budget == nil")) == ["e"])
            #expect(try names("Department", NSPredicate(format: "head.entity IN %@", both)) == ["D"])
            #expect(try names("Department", NSPredicate(format: "head.budget > 5")) == ["D"])
            let staffed = NSPredicate(format: "SUBQUERY(staff, $s, $s.entity == %@).@count > 0", executive)
            #expect(try names("Department", staffed) == ["D2"])
            #expect(try names("Department", NSPredicate(format: "ANY staff.budget > 15")) == ["D2"])
        }
    }
}
