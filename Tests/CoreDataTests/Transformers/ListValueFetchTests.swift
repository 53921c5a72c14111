import CoreData
import TestSupport
import Testing

@Suite("A fetch that compares a transformable value with one value")
struct ListValueFetchTests {
    private func context(_ type: String, in folder: TestFolder) throws -> NSManagedObjectContext {
        let model = NSManagedObjectModel()
        model.entities = [Library.entity("Place", [Library.attribute("tags", .transformableAttributeType)])]
        let description = NSPersistentStoreDescription(url: folder.file("places"))
        description.type = type
        return try Library.container(model, description).newBackgroundContext()
    }

    @Test(
        "throws where the value is a collection, as Core Data raises an exception",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType, NSXMLStoreType, NSBinaryStoreType], [false, true])
    func collection(type: String, isSaved: Bool) throws {
        let folder = try TestFolder()
        let context = try context(type, in: folder)
        try context.performAndWait {
            context.make("Place", ["tags": ["a"] as NSArray])
            if isSaved { try context.save() }
            for predicate in [NSPredicate(format: "tags <= %@", Data([1])), NSPredicate(format: "tags > 5")] {
                // A store in SQL that has saved it compares the archive's bytes.
                if isSaved, formatString(of: predicate).hasPrefix("tags <="), type == NSSQLiteStoreType { continue }
                if isSaved, formatString(of: predicate).hasPrefix("tags <="), type == NSInMemoryStoreType { continue }
                #expect(throws: (any Error).self, "\(predicate)") { try context.all("Place", predicate) }
                let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
                request.predicate = predicate
                #expect(throws: (any Error).self, "\(predicate)") { try context.count(for: request) }
            }
        }
    }
}
