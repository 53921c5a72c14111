import CoreData
import Testing

@Suite("Parts that an object owns, where a policy joins it with another one")
struct OwnedDestinationTests {
    @Test(
        "stay where another relationship of the winning object has them", arguments: ["a", "b", "c"], ["a", "b", "c"])
    func moved(from: String, to: String) throws {
        let (folder, part) = (
            Library.entity("Folder", [Library.attribute("name", .stringAttributeType)]),
            Library.entity("Part", [Library.attribute("name", .stringAttributeType)])
        )
        for key in ["a", "b", "c"] { Library.connect(folder, key, toMany: false, part, "of\(key)") }
        let model = NSManagedObjectModel()
        model.entities = [folder, part]
        let context = try Library.inMemory(model).newBackgroundContext()
        try context.performAndWait {
            let (stored, kept) = (context.make("Folder", ["name": "F"]), context.make("Part", ["name": "kept"]))
            stored.setValue(kept, forKey: from)
            try context.save()
            let new = context.make("Folder", ["name": "F"])
            new.setValue(kept, forKey: to)
            if from != to { #expect(stored.value(forKey: from) != nil) }
            let conflict = NSConstraintConflict(
                constraint: ["name"], database: stored, databaseSnapshot: nil, conflicting: [new],
                conflictingSnapshots: [])
            conflict.resolve(
                .mergeByPropertyObjectTrumpMergePolicyType, own: ["a": true, "b": true, "c": true])
            try context.save()
            #expect(!kept.isDeleted && kept.managedObjectContext != nil)
            #expect(stored.value(forKey: to) as? NSManagedObject === kept)
            if from != to { #expect(stored.value(forKey: from) == nil) }
            #expect(try context.all("Folder") == [stored])
        }
    }
}
