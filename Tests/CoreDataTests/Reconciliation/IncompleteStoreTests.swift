import Foundation
import SQLiteConnection
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine

@Suite("Stores that lack something")
struct IncompleteStoreTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func model() -> NSManagedObjectModel {
        makeModel(
            makeEntity(
                "Note", makeAttribute("text", .stringAttributeType), makeAttribute("title", .stringAttributeType),
                makeToMany("tags", "Tag", inverse: "notes"), makeToOne("owner", "User", inverse: "notes")),
            makeEntity(
                "Tag", makeAttribute("name", .stringAttributeType), makeToMany("notes", "Note", inverse: "tags")),
            makeEntity(
                "User", makeAttribute("name", .stringAttributeType), makeToMany("notes", "Note", inverse: "owner")))
    }

    /// A context on a store with a note, its tag and its user, of which something was taken away.
    private func context(without sql: String...) throws -> NSManagedObjectContext {
        do {
            let context = try stack()
            try context.performAndWait {
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
                let user = NSEntityDescription.insertNewObject(forEntityName: "User", into: context)
                note.setValue("Text", forKey: "text")
                note.setValue("Title", forKey: "title")
                note.setValue(Set([tag]), forKey: "tags")
                note.setValue(user, forKey: "owner")
                tag.setValue("red", forKey: "name")
                user.setValue("Ann", forKey: "name")
                try context.save()
            }
        }
        do {
            let connection = try Connection(path: folder.store.path, mode: .readWrite)
            for statement in sql { try connection.execute(statement) }
        }
        return try stack()
    }

    private func stack() throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func first(_ entity: String, _ context: NSManagedObjectContext, _ format: String? = nil) throws
        -> NSManagedObject
    {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0) }
        return try #require(try context.fetch(request).first)
    }

    private func expectError(_ text: String, _ body: () throws -> Void) {
        let error = #expect(throws: NSError.self) { try body() }
        #expect(error?.code == CoreDataErrorCode.persistentStoreIncompatibleSchema)
        #expect(error?.localizedDescription.contains(text) == true, "\(error?.localizedDescription ?? "")")
    }

    @Test("A property without column has no value; the others have theirs")
    func attribute() throws {
        let context = try context(without: "ALTER TABLE ZNOTE DROP COLUMN ZTEXT")
        try context.performAndWait {
            let note = try first("Note", context, "title == 'Title'")
            #expect(note.value(forKey: "title") as? String == "Title")
            #expect(note.value(forKey: "text") == nil)
            #expect((note.value(forKey: "tags") as? Set<NSManagedObject>)?.count == 1)
            expectError("no column ZNOTE.ZTEXT, which “Note.text” needs") {
                _ = try first("Note", context, "text == 'x'")
            }
        }
    }

    @Test("What has a column can be saved; what has none cannot, and nothing is written then")
    func saving() throws {
        let context = try context(without: "ALTER TABLE ZNOTE DROP COLUMN ZTEXT")
        try context.performAndWait {
            let note = try first("Note", context)
            note.setValue("Other", forKey: "title")
            try context.save()
            #expect(try plainSQL("SELECT ZTITLE FROM ZNOTE", in: folder.store) == ["Other"])
            note.setValue("Third", forKey: "title")
            note.setValue("lost", forKey: "text")
            expectError("“Note.text” cannot be saved") { try context.save() }
            #expect(try plainSQL("SELECT ZTITLE FROM ZNOTE", in: folder.store) == ["Other"])
            context.rollback()
            let other = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            other.setValue("New", forKey: "title")
            try context.save()
            #expect(try plainSQL("SELECT ZTITLE FROM ZNOTE ORDER BY Z_PK", in: folder.store) == ["Other", "New"])
        }
    }

    @Test("A relationship without join table has no objects, its own object cannot be deleted, and others can be used")
    func joinTable() throws {
        let context = try context(without: "DROP TABLE Z_1TAGS")
        try context.performAndWait {
            let note = try first("Note", context)
            #expect((note.value(forKey: "owner") as? NSManagedObject)?.value(forKey: "name") as? String == "Ann")
            expectError("no table Z_1TAGS, which “Note.tags” needs") {
                _ = try first("Note", context, "ANY tags.name == 'red'")
            }
            context.delete(note)
            expectError("Note.tags") { try context.save() }
            #expect(try plainSQL("SELECT count(*) FROM ZNOTE", in: folder.store) == ["1"])
        }
    }

    @Test("An entity without table cannot be fetched; others can")
    func table() throws {
        let context = try context(without: "DROP TABLE ZUSER")
        try context.performAndWait {
            let note = try first("Note", context)
            #expect(note.value(forKey: "title") as? String == "Title")
            expectError("no table ZUSER, which “User” needs") { _ = try first("User", context) }
            expectError("“owner.name” cannot be fetched") { _ = try first("Note", context, "owner.name == 'Ann'") }
        }
    }

    @Test("A store that lacks something is not migrated: the values would be lost")
    func migration() throws {
        _ = try context(without: "ALTER TABLE ZNOTE RENAME COLUMN ZTEXT TO SOMETHING")
        let next = model()
        next.entitiesByName["Tag"]?.properties.append(makeAttribute("color", .stringAttributeType))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: next)
        let error = #expect(throws: NSError.self) {
            _ = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store,
                options: [
                    NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                ])
        }
        #expect(error.map { "\($0)" }?.contains("ZNOTE.ZTEXT") == true)
        #expect(try plainSQL("SELECT SOMETHING FROM ZNOTE", in: folder.store) == ["Text"])
    }

    @Test("A store that lacks something is not moved: the values would be lost")
    func moving() throws {
        let context = try context(without: "ALTER TABLE ZNOTE RENAME COLUMN ZTEXT TO SOMETHING")
        let coordinator = try #require(context.persistentStoreCoordinator)
        let store = try #require(coordinator.persistentStores.first)
        let copy = folder.file("copy.sqlite")
        expectError("no column ZNOTE.ZTEXT, which “Note.text” needs") {
            _ = try coordinator.migratePersistentStore(store, to: copy, options: nil, withType: NSSQLiteStoreType)
        }
        #expect(coordinator.persistentStores == [store])
        #expect(throws: (any Error).self) { try plainSQL("SELECT * FROM ZNOTE", in: copy) }
    }
}
