import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine

@Suite("Lightweight migration whose cleaning up waits")
struct DeferredMigrationTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try Town.makeStore(at: folder.store)
    }

    /// The town without logs and nicknames.
    private func smaller() -> NSManagedObjectModel {
        let model = Town.model()
        model.entities = model.entities.filter { !["Log", "Alarm"].contains($0.name) }
        model.removeProperty("nick", of: "Person")
        return model
    }

    private func add(_ model: NSManagedObjectModel, defers: Bool = true) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                NSPersistentStoreDeferredLightweightMigrationOptionKey: defers,
            ])
        return coordinator
    }

    private func close(_ coordinator: NSPersistentStoreCoordinator) throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private func isPending(_ coordinator: NSPersistentStoreCoordinator) -> Bool {
        coordinator.persistentStores.contains {
            coordinator.metadata(for: $0)[NSPersistentStoreDeferredLightweightMigrationOptionKey] as? Bool == true
        }
    }

    private func tables() throws -> [String] {
        try plainSQL(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%LOG' ORDER BY 1", in: folder.store)
    }

    private func columns() throws -> [String] {
        try plainSQL("SELECT name FROM pragma_table_info('ZPERSON') WHERE name = 'ZNICK'", in: folder.store)
    }

    @Test("Tables and columns stay until they are asked for; the metadata say that there are some, and the store works")
    func defers() throws {
        let coordinator = try add(smaller())
        #expect(isPending(coordinator))
        #expect(try tables() == ["_T_ZLOG"])
        #expect(try columns() == ["ZNICK"])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            person.setValue("Dot", forKey: "name")
            try context.save()
        }
        try coordinator.finishDeferredLightweightMigration()
        #expect(!isPending(coordinator))
        try close(coordinator)
        #expect(try tables() == [])
        #expect(try columns() == [])
        #expect(try plainSQL("SELECT ZNAME FROM ZPERSON ORDER BY 1", in: folder.store) == ["Ann", "Bob", "Cid", "Dot"])
        let new = folder.url.appendingPathComponent("new.sqlite")
        let other = NSPersistentStoreCoordinator(managedObjectModel: smaller())
        try other.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: new)
        #expect(try MigrationOracle.structure(of: folder.store) == MigrationOracle.structure(of: new))
        try close(add(smaller()))
    }

    @Test("One task at a time is finished, also in another process")
    func tasks() throws {
        try close(add(smaller()))
        let coordinator = try add(smaller())
        #expect(isPending(coordinator))
        let metadata = try SQLiteFormat.metadata(at: folder.store)
        let tasks = DeferredCleanup(metadata).tasks
        #expect(
            tasks.map(\.sql) == [
                "DROP TABLE IF EXISTS _T_ZLOG", "DROP TABLE IF EXISTS _T_Z_4TAGS",
                "ALTER TABLE ZPERSON DROP COLUMN ZNICK", "ALTER TABLE ZPET DROP COLUMN Z4_OWNER",
            ])
        for left in tasks.indices.reversed() {
            #expect(isPending(coordinator))
            try coordinator.finishDeferredLightweightMigrationTask()
            let now = try SQLiteFormat.metadata(at: folder.store)
            #expect(DeferredCleanup(now).tasks.count == left)
        }
        #expect(!isPending(coordinator))
        try coordinator.finishDeferredLightweightMigrationTask()
    }

    @Test("Nothing waits unless the option says so")
    func immediate() throws {
        let coordinator = try add(smaller(), defers: false)
        #expect(!isPending(coordinator))
        #expect(try tables() + columns() == [])
    }

    @Test("The next migration first removes what is left: a name that comes back is new")
    func next() throws {
        try close(add(smaller()))
        let coordinator = try add(Town.model())
        try coordinator.finishDeferredLightweightMigration()
        try close(coordinator)
        #expect(try plainSQL("SELECT ZNICK FROM ZPERSON", in: folder.store) == ["", "", ""])
        #expect(try plainSQL("SELECT COUNT(*) FROM ZLOG", in: folder.store) == ["0"])
        #expect(try tables() == ["ZLOG"])
    }

    @Test(
        "Every kind of change keeps all rows and relationships, and once finished the store is like a new one",
        arguments: ModelChange.all.indices)
    func matrix(_ index: Int) throws {
        let before = folder.url.appendingPathComponent("before.sqlite")
        try StoreFiles.replace(at: before, from: folder.store, options: nil)
        let model = Town.model()
        ModelChange.all[index].apply(model)
        let coordinator = try add(model)
        try close(coordinator)
        let oracle = try MigrationOracle(from: Town.model(), at: before, to: model, at: folder.store)
        #expect(try oracle.differences() == [])
        let again = try add(model)
        try again.finishDeferredLightweightMigration()
        try close(again)
        #expect(try oracle.differences() == [])
        let new = folder.url.appendingPathComponent("new.sqlite")
        let other = NSPersistentStoreCoordinator(managedObjectModel: model)
        try other.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: new)
        try close(other)
        #expect(try MigrationOracle.structure(of: folder.store) == MigrationOracle.structure(of: new))
    }
}
