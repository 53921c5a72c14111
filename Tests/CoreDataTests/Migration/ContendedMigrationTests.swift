import Foundation
import SQLiteConnection
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("Stores in which others write while they are migrated, or have tables of their own")
struct ContendedMigrationTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try Town.makeStore(at: folder.store)
    }

    /// A model with an entity that comes before all others, so that these get other numbers.
    private func grown() -> NSManagedObjectModel {
        let model = Town.model()
        model.entities.append(makeEntity("Aardvark", makeAttribute("name", .stringAttributeType)))
        return model
    }

    private func migrator(to model: NSManagedObjectModel) throws -> InPlaceMigrator {
        try InPlaceMigrator(
            .open(folder.store, mode: .readWrite), from: Town.model(), to: model,
            plan: MappingInference.plan(from: Town.model(), to: model), configuration: nil)
    }

    private func migrate(to model: NSManagedObjectModel) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store,
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        try coordinator.remove(store)
    }

    @Test("Metadata that somebody wrote since the migration was planned are there afterwards")
    func metadata() throws {
        let migrator = try migrator(to: grown())
        try NSPersistentStoreCoordinator.setMetadata(
            ["Colour": "green"], type: .sqlite, at: folder.store)
        try migrator.run()
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: folder.store)
        #expect(metadata["Colour"] as? String == "green")
        #expect((metadata[NSStoreModelVersionHashesKey] as? [String: Any])?["Aardvark"] != nil)
    }

    @Test("A history that somebody began since the migration was planned gets the new numbers of its entities")
    func history() throws {
        let migrator = try migrator(to: grown())
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Town.model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store,
            options: [NSPersistentHistoryTrackingKey: true])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            context.make("House", ["street": "Ash"])
            try context.save()
        }
        try coordinator.remove(store)
        try migrator.run()
        let names = "SELECT p.Z_NAME FROM ACHANGE c JOIN Z_PRIMARYKEY p ON p.Z_ENT = c.ZENTITY"
        #expect(try plainSQL(names, in: folder.store) == ["House"])
    }

    @Test("Metadata that are written during somebody's migration leave the new version's hashes", .ownThread)
    func writtenMetadata() throws {
        let migration = try StoreFile.open(folder.store, mode: .readWrite)
        try migration.connection.begin(.exclusive)
        let done = DispatchSemaphore(value: 0)
        let url = folder.store
        Thread.detachNewThread {
            try? NSPersistentStoreCoordinator.setMetadata(["a": 1], type: .sqlite, at: url)
            done.signal()
        }
        usleep(500_000)
        var metadata = try migration.metadata()
        metadata[NSStoreModelVersionHashesKey] = ["New": Data([1])]
        let update = try migration.connection.prepare("UPDATE Z_METADATA SET Z_PLIST = ?")
        try update.bind(StoreMetadata.data(of: metadata, url: url), at: 1)
        try update.run()
        try migration.connection.commit()
        done.wait()
        let now = try migration.metadata()
        #expect((now[NSStoreModelVersionHashesKey] as? [String: Any])?.keys.sorted() == ["New"])
        #expect(now["a"] as? Int == 1)
    }

    @Test("Metadata are written within the time that the options give for others' locks")
    func timeout() throws {
        let writer = try Connection(path: folder.store.path, mode: .readWrite)
        try writer.begin(.exclusive)
        let start = Date()
        let error = #expect(throws: NSError.self) {
            try NSPersistentStoreCoordinator.setMetadata(
                ["a": 1], type: .sqlite, at: folder.store, options: [NSPersistentStoreTimeoutOption: 1])
        }
        #expect(error?.code == 134090)
        #expect(Date().timeIntervalSince(start) < 8)
        try writer.rollback()
    }

    @Test("A virtual table whose module is missing is no obstacle to a migration")
    func virtualTable() throws {
        try execute(
            "PRAGMA writable_schema = ON; INSERT INTO sqlite_master "
                + "VALUES ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING nosuch(x)')", in: folder.store)
        let model = Town.model()
        model.removeProperty("nick", of: "Person")
        model.add(makeAttribute("email", .stringAttributeType), to: "Person")
        try migrate(to: model)
        #expect(try plainSQL("SELECT COUNT(ZNAME), COUNT(ZEMAIL) FROM ZPERSON", in: folder.store) == ["3|0"])
        #expect(try plainSQL("SELECT name FROM sqlite_master WHERE name = 'v'", in: folder.store) == ["v"])
    }

    @Test("A number that 64 bits cannot hold stops the migration, and stays", arguments: ["1e19", "-1e19", "9e999"])
    func numbers(_ number: String) throws {
        try execute("UPDATE ZPERSON SET ZSALARY = \(number) WHERE ZNAME = 'Cid'", in: folder.store)
        let model = Town.model()
        model.attribute("Employee", "salary").attributeType = .integer64AttributeType
        let error = #expect(throws: NSError.self) { try migrate(to: model) }
        #expect(error?.code == 134110)
        #expect(
            try plainSQL("SELECT ZSALARY = \(number) FROM ZPERSON WHERE ZNAME = 'Cid'", in: folder.store) == ["1"])
        try execute("UPDATE ZPERSON SET ZSALARY = 9e18 WHERE ZNAME = 'Cid'", in: folder.store)
        try migrate(to: model)
        #expect(
            try plainSQL("SELECT ZSALARY FROM ZPERSON WHERE ZNAME = 'Cid'", in: folder.store)
                == ["9000000000000000000"])
    }

    @Test("Triggers and indexes of somebody else's on a table of pairs are made again")
    func pairs() throws {
        try execute(
            "CREATE TABLE NOTES (TEXT VARCHAR); CREATE INDEX MINE_INDEX ON Z_4TAGS (Z_7TAGS); "
                + "CREATE TRIGGER MINE AFTER INSERT ON Z_4TAGS BEGIN INSERT INTO NOTES VALUES (NEW.Z_7TAGS); END",
            in: folder.store)
        let model = Town.model()
        model.relationship("Person", "tags").isOrdered = true
        try migrate(to: model)
        #expect(try plainSQL("SELECT COUNT(*) FROM Z_4TAGS", in: folder.store) == ["3"])
        #expect(try plainSQL("SELECT COUNT(*) FROM NOTES", in: folder.store) == ["0"])
        #expect(
            try plainSQL(
                "SELECT name, tbl_name FROM sqlite_master WHERE name LIKE 'MINE%' ORDER BY name", in: folder.store)
                == ["MINE|Z_4TAGS", "MINE_INDEX|Z_4TAGS"])
    }
}
