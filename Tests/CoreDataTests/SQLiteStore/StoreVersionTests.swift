import CoreData
import Foundation
import SQLiteConnection
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine

@Suite("A store that others change while it is open")
struct StoreVersionTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func model(_ entities: [String: [String]]) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = entities.sorted { $0.key < $1.key }.map { name, attributes in
            Library.entity(name, attributes.map { Library.attribute($0, .stringAttributeType) })
        }
        return model
    }

    private func opened(
        _ model: NSManagedObjectModel, _ options: [AnyHashable: Any] = [:]
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let wanted: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store,
            options: wanted.merging(options) { $1 })
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func error(of body: () throws -> Void) -> NSError? {
        do {
            try body()
            return nil
        } catch { return error as NSError }
    }

    private func save(_ context: NSManagedObjectContext, _ entity: String, _ values: [String: Any?]) throws {
        try context.performAndWait {
            context.make(entity, values)
            try context.save()
        }
    }

    @Test(
        "After a migration in place, a program that still has the store open can neither read nor write, and is told to open it again"
    )
    func migrated() throws {
        let old = try opened(model(["Book": ["author", "title"]]))
        try save(old, "Book", ["title": "Emma", "author": "Austen"])
        _ = try opened(model(["Book": ["title"]]))
        let before = try plainSQL("SELECT * FROM ZBOOK", in: folder.store)
        old.performAndWait {
            let failures = [
                error { _ = try old.all("Book") },
                error { _ = try old.count(for: NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")) },
                error { _ = try old.all("Book", NSPredicate(format: "author == 'Austen'")) },
                error {
                    old.make("Book", ["title": "Persuasion"])
                    try old.save()
                },
                error {
                    _ = try old.execute(
                        NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Book"))
                    )
                },
            ]
            for failure in failures {
                #expect(failure?.domain == NSCocoaErrorDomain)
                #expect(failure?.code == NSPersistentStoreIncompatibleVersionHashError)
                #expect(failure?.localizedDescription.contains("Book") == true)
                #expect(failure?.localizedRecoverySuggestion?.contains("Open the store again") == true)
            }
        }
        #expect(try plainSQL("SELECT * FROM ZBOOK", in: folder.store) == before)
    }

    @Test("A migration that changes no table is noticed, too") func withoutStatements() throws {
        func version(_ modifier: String?) -> NSManagedObjectModel {
            let model = model(["Book": ["title"]])
            model.entities[0].versionHashModifier = modifier
            return model
        }
        let old = try opened(version(nil))
        try save(old, "Book", ["title": "Emma"])
        let number = try plainSQL("PRAGMA schema_version", in: folder.store)
        _ = try opened(version("2"))
        #expect(try plainSQL("PRAGMA schema_version", in: folder.store) != number)
        #expect(error { _ = try old.performAndWait { try old.all("Book") } }?.code == 134100)
    }

    @Test(
        "A change that touches no table of the model goes unnoticed: an index, a table of somebody's own, ANALYZE, VACUUM"
    )
    func foreignStructure() throws {
        let context = try opened(model(["Book": ["title"]]))
        try save(context, "Book", ["title": "Emma"])
        let other = try Connection(path: folder.store.path, mode: .readWrite)
        for statement in [
            "CREATE INDEX mine ON ZBOOK (ZTITLE)", "CREATE TABLE notes (text)", "ANALYZE", "VACUUM",
            "DROP TABLE notes",
        ] {
            try other.execute(statement)
            try save(context, "Book", ["title": statement])
            #expect(try context.performAndWait { try context.all("Book") }.count > 1)
        }
        #expect(try plainSQL("SELECT COUNT(*) FROM ZBOOK", in: folder.store) == ["6"])
    }

    @Test("When another program adds entities, objects go on under the numbers that their entities have now")
    func addedEntities() throws {
        let history = [NSPersistentHistoryTrackingKey: true]
        let old = try opened(model(["Book": ["title"], "Shelf": ["label"]]), history)
        try save(old, "Book", ["title": "Emma"])
        // Sorts before, and so takes a number that was another entity's.
        let new = try opened(model(["Author": ["name"], "Book": ["title"], "Shelf": ["label"]]), history)
        try save(new, "Author", ["name": "Austen"])
        // What the old model does not name is no difference to it.
        try save(old, "Book", ["title": "Persuasion"])
        try save(old, "Shelf", ["label": "A"])
        #expect(
            try old.performAndWait { try old.all("Book", by: "title") }.map { $0.string("title") } == [
                "Emma", "Persuasion",
            ])
        #expect(try new.performAndWait { try new.all("Book") }.count == 2)
        #expect(try new.performAndWait { try new.all("Shelf") }.count == 1)
        #expect(
            try plainSQL(
                "SELECT DISTINCT Z_NAME FROM ZBOOK JOIN Z_PRIMARYKEY USING (Z_ENT)", in: folder.store) == ["Book"])
        #expect(
            try plainSQL(
                "SELECT Z_NAME FROM ACHANGE JOIN Z_PRIMARYKEY ON ZENTITY = Z_PRIMARYKEY.Z_ENT ORDER BY ACHANGE.Z_PK",
                in: folder.store) == ["Book", "Author", "Book", "Shelf"])
    }

    @Test(
        "A store that was destroyed, or another one that took its place, is an error for those who still have it open")
    func replaced() throws {
        let context = try opened(model(["Book": ["title"]]))
        try save(context, "Book", ["title": "Emma"])
        let other = folder.url.appendingPathComponent("other.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(["Book": ["title"]]))
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: other)
        try coordinator.replacePersistentStore(at: folder.store, withPersistentStoreFrom: other, type: .sqlite)
        #expect(error { try save(context, "Book", ["title": "Persuasion"]) }?.code == NSPersistentStoreOperationError)
        #expect(
            error { _ = try context.performAndWait { try context.all("Book") } }?.code
                == NSPersistentStoreOperationError)
        #expect(try plainSQL("SELECT COUNT(*) FROM ZBOOK", in: folder.store) == ["0"])

        let next = try opened(model(["Book": ["title"]]))
        try coordinator.destroyPersistentStore(at: folder.store, type: .sqlite)
        let failure = error { try save(next, "Book", ["title": "Persuasion"]) }
        #expect(failure?.code == NSPersistentStoreOperationError)
        #expect(failure?.localizedDescription.contains("destroyed") == true)
    }

    @Test("Nothing is written into a file that was removed or replaced while it was open") func moved() throws {
        let context = try opened(model(["Book": ["title"]]))
        try save(context, "Book", ["title": "Emma"])
        try FileManager.default.moveItem(at: folder.store, to: folder.url.appendingPathComponent("away.sqlite"))
        let failure = error { try save(context, "Book", ["title": "Persuasion"]) }
        #expect(failure?.code == NSPersistentStoreOperationError)
        #expect(failure?.localizedDescription.contains("removed, or replaced") == true)
    }

    @Test("A fetch costs no statement more for its rows, and a change of the structure none that lasts")
    func cost() throws {
        let context = try opened(model(["Book": ["title"]]))
        try save(context, "Book", ["title": "Emma"])
        let coordinator = try #require(context.persistentStoreCoordinator)
        let store = try #require(coordinator.persistentStores.first?.engine as? SQLiteEngine)
        let former = try store.current()
        _ = try context.performAndWait { try context.all("Book") }
        #expect(try store.current() === former)
        try Connection(path: folder.store.path, mode: .readWrite).execute("CREATE TABLE notes (text)")
        _ = try context.performAndWait { try context.all("Book") }
        let adapted = try store.current()
        #expect(adapted !== former)
        _ = try context.performAndWait { try context.all("Book") }
        #expect(try store.current() === adapted)
    }
}
