import CoreDataPostgres
import Foundation
import PostgresServer
import Testing

@Suite("Elements of composite attributes in PostgreSQL", .needsPostgres)
struct KeptElementTests {
    private let database: TestDatabase

    init() throws { database = try TestDatabase() }

    /// Notes with a style of a colour and a name, inside a composite of its own.
    private func context(transformer: String? = nil) throws -> NSManagedObjectContext {
        let (note, look, style) = (
            NSEntityDescription(), NSCompositeAttributeDescription(), NSCompositeAttributeDescription()
        )
        let (colour, name) = (NSAttributeDescription(), NSAttributeDescription())
        (colour.name, colour.attributeType, colour.isOptional) = ("colour", .transformableAttributeType, true)
        (name.name, name.attributeType, name.isOptional) = ("name", .stringAttributeType, true)
        colour.valueTransformerName = transformer
        (style.name, style.isOptional, style.elements) = ("style", true, [colour, name])
        (look.name, look.isOptional, look.elements) = ("look", true, [style])
        (note.name, note.properties) = ("Note", [look])
        let model = NSManagedObjectModel()
        model.entities = [note]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url())
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func note(_ context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).first)
    }

    @Test("keep the bytes that cannot be read here when another element is changed")
    func unknownTransformer() throws {
        let first = try context()
        try first.performAndWait {
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: first)
            note.setValue(["style": ["colour": ["red"], "name": "red"]], forKey: "look")
            try first.save()
        }
        let other = try context(transformer: "OfAnotherProgram")
        try other.performAndWait {
            try note(other).setValue("crimson", forKeyPath: "look.style.name")
            try other.save()
        }
        let last = try context()
        try last.performAndWait {
            let look = try note(last).value(forKey: "look") as? [String: Any]
            let style = try #require(look?["style"] as? [String: Any])
            #expect(style["colour"] as? [String] == ["red"])
            #expect(style["name"] as? String == "crimson")
        }
    }
}
