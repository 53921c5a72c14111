import CoreDataPostgres
import Foundation
import PostgresServer
import Testing

@Suite("Derived attributes in PostgreSQL", .needsPostgres)
struct DerivedValueTests {
    private let database: TestDatabase

    init() throws { database = try TestDatabase() }

    /// Shelves that count their books, which do not know their shelf, and repeat their label.
    private func context() throws -> NSManagedObjectContext {
        let (shelf, book) = (NSEntityDescription(), NSEntityDescription())
        let (books, count) = (NSRelationshipDescription(), NSDerivedAttributeDescription())
        (books.name, books.maxCount, books.isOptional, books.destinationEntity) = ("books", 0, true, book)
        (count.name, count.attributeType, count.isOptional) = ("count", .integer64AttributeType, true)
        count.derivationExpression = NSExpression(forKeyPath: "books.@count")
        let (label, sign) = (NSAttributeDescription(), NSDerivedAttributeDescription())
        (label.name, label.attributeType, label.isOptional) = ("label", .stringAttributeType, true)
        (sign.name, sign.attributeType, sign.isOptional) = ("sign", .stringAttributeType, true)
        sign.derivationExpression = NSExpression(forKeyPath: "label")
        (shelf.name, shelf.properties, book.name) = ("Shelf", [books, count, label, sign], "Book")
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

    @Test("have no former value where an object is inserted again, and none is computed")
    func insertedAgain() throws {
        let (first, other) = (try context(), try context())
        first.mergePolicy = NSMergePolicy.overwrite
        try first.performAndWait {
            let shelf = NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: first)
            shelf.setValue("Poetry", forKey: "label")
            try first.save()
            #expect(shelf.value(forKey: "sign") as? String == "Poetry")
            try other.performAndWait {
                try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf")).forEach(other.delete)
                try other.save()
            }
            shelf.setValue(nil, forKey: "label")
            try first.save()
            #expect(shelf.value(forKey: "sign") == nil)
            first.refreshAllObjects()
            #expect(shelf.value(forKey: "sign") == nil)
        }
    }

    @Test("are those of the store after a save, where others have changed them before")
    func changedByOthers() throws {
        let (first, other) = (try context(), try context())
        try first.performAndWait {
            let shelf = NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: first)
            try first.save()
            #expect(shelf.value(forKey: "count") as? Int == 0)
            try other.performAndWait {
                let same = try #require(try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf")).first)
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: other)
                same.setValue(NSSet(object: book), forKey: "books")
                try other.save()
            }
            first.mergePolicy = NSMergePolicy.overwrite
            shelf.setValue("Poetry", forKey: "label")
            try first.save()
            #expect(shelf.value(forKey: "count") as? Int == 1)
        }
    }
}
