import CoreData
import Testing

// As in AppPredicateRulesTests: what the test suite of Trio, which passes on Apple's framework, asks stores for.
@Suite("Texts that spell UUIDs")
struct UUIDTextTests {
    private let id = UUID()

    private static let model: NSManagedObjectModel = {
        let (meal, entry) = (NSEntityDescription(), NSEntityDescription())
        (meal.name, entry.name) = ("Meal", "Entry")
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let (entries, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
        (entries.name, entries.destinationEntity, entries.inverseRelationship) = ("entries", entry, owner)
        (owner.name, owner.destinationEntity, owner.inverseRelationship, owner.maxCount) = ("meal", meal, entries, 1)
        (entries.isOptional, owner.isOptional) = (true, true)
        meal.properties = [attribute("name", .stringAttributeType), entries]
        entry.properties = [
            attribute("id", .UUIDAttributeType), attribute("note", .stringAttributeType), owner,
        ]
        let model = NSManagedObjectModel()
        model.entities = [meal, entry]
        return model
    }()

    /// Two entries of one meal: one is saved, the other is only where `isSaved` says so.
    private func context(isSaved: Bool) throws -> NSManagedObjectContext {
        let container = NSPersistentContainer(name: "Meals", managedObjectModel: Self.model)
        container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let context = container.viewContext
        let meal = NSEntityDescription.insertNewObject(forEntityName: "Meal", into: context)
        meal.setValue("Lunch", forKey: "name")
        for (id, note) in [(UUID(), "other"), (id, id.uuidString)] {
            try context.save()
            let entry = NSEntityDescription.insertNewObject(forEntityName: "Entry", into: context)
            entry.setValue(id, forKey: "id")
            entry.setValue(note, forKey: "note")
            entry.setValue(meal, forKey: "meal")
        }
        if isSaved {
            try context.save()
            context.reset()
        }
        return context
    }

    private func count(
        _ predicate: NSPredicate, _ context: NSManagedObjectContext, of entity: String = "Entry"
    ) throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = predicate
        let count = try context.count(for: request)
        #expect(try context.fetch(request).count == count)
        return count
    }

    @Test(
        "A text that spells a UUID is compared as a UUID beside an attribute that holds UUIDs (Trio)",
        arguments: [true, false])
    func spelled(isSaved: Bool) throws {
        let context = try context(isSaved: isSaved)
        let text = id.uuidString
        #expect(try count(NSPredicate(format: "id == %@", text), context) == 1)
        #expect(try count(NSPredicate(format: "id == '\(text.lowercased())'"), context) == 1)
        #expect(try count(NSPredicate(format: "%@ == id", text), context) == 1)
        #expect(try count(NSPredicate(format: "id != %@", text), context) == 1)
        #expect(try count(NSPredicate(format: "id IN %@", [text, UUID().uuidString]), context) == 1)
        #expect(try count(NSPredicate(format: "NOT (id == %@ OR id == nil)", text), context) == 1)
        #expect(try count(NSPredicate(format: "ANY entries.id == %@", text), context, of: "Meal") == 1)
        let parts = [NSPredicate(format: "meal != nil"), NSPredicate(format: "id == %@", text)]
        #expect(try count(NSCompoundPredicate(andPredicateWithSubpredicates: parts), context) == 1)
        // Beside a text it stays one.
        #expect(try count(NSPredicate(format: "note == %@", text), context) == 1)
    }

    @Test("A batch reads such texts, too")
    func batch() throws {
        let context = try context(isSaved: true)
        let update = NSBatchUpdateRequest(entityName: "Entry")
        update.predicate = NSPredicate(format: "id == %@", id.uuidString)
        update.propertiesToUpdate = ["note": "changed"]
        update.resultType = .updatedObjectsCountResultType
        #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 1)
        let entries = NSFetchRequest<any NSFetchRequestResult>(entityName: "Entry")
        entries.predicate = NSPredicate(format: "id == %@", id.uuidString)
        let deletion = NSBatchDeleteRequest(fetchRequest: entries)
        deletion.resultType = .resultTypeCount
        #expect((try context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int == 1)
    }

    @Test("A results controller hears of objects that such a text asks for")
    func results() throws {
        let context = try context(isSaved: true)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Entry")
        let wanted = UUID()
        request.predicate = NSPredicate(format: "id == %@", wanted.uuidString)
        request.sortDescriptors = [NSSortDescriptor(key: "note", ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        let delegate = Delegate()
        controller.delegate = delegate
        try controller.performFetch()
        #expect(controller.fetchedObjects?.isEmpty == true)
        NSEntityDescription.insertNewObject(forEntityName: "Entry", into: context).setValue(wanted, forKey: "id")
        context.processPendingChanges()
        #expect(controller.fetchedObjects?.count == 1)
    }

    /// With one, the controller follows changes.
    private final class Delegate: NSObject, NSFetchedResultsControllerDelegate {}

    @Test("A text that spells none is refused with the attribute's name")
    func other() throws {
        let context = try context(isSaved: true)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Entry")
        request.predicate = NSPredicate(format: "id == 'none'")
        let error = #expect(throws: NSError.self) { try context.fetch(request) }
        #expect(error?.localizedDescription.contains("“id” holds UUIDs") == true)
    }
}
