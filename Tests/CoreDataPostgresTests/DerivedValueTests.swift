import CoreDataPostgres
import Foundation
import PostgresServer
import Testing

@Suite("Derived attributes in PostgreSQL", .needsPostgres)
struct DerivedValueTests {
    private let database: TestDatabase

    init() throws { database = try TestDatabase() }

    /// Shelves that count their books, which do not know their shelf.
    private func context() throws -> NSManagedObjectContext {
        let (shelf, book) = (NSEntityDescription(), NSEntityDescription())
        let (books, count) = (NSRelationshipDescription(), NSDerivedAttributeDescription())
        (books.name, books.maxCount, books.isOptional, books.destinationEntity) = ("books", 0, true, book)
        (count.name, count.attributeType, count.isOptional) = ("count", .integer64AttributeType, true)
        count.derivationExpression = NSExpression(forKeyPath: "books.@count")
        (shelf.name, shelf.properties, book.name) = ("Shelf", [books, count], "Book")
        let model = NSManagedObjectModel()
        model.entities = [shelf, book]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url())
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test("follow a member without an inverse from one owner to another")
    func movedMember() throws {
        let context = try context()
        try context.performAndWait {
            let made = ["Shelf", "Shelf", "Book"].map {
                NSEntityDescription.insertNewObject(forEntityName: $0, into: context)
            }
            made[0].setValue(NSSet(object: made[2]), forKey: "books")
            try context.save()
            made[1].setValue(NSSet(object: made[2]), forKey: "books")
            try context.save()
            context.refreshAllObjects()
            #expect(made[0].value(forKey: "count") as? Int == 0)
            #expect(made[1].value(forKey: "count") as? Int == 1)
        }
    }
}
