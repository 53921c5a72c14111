import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

/// Stores whose order columns have other numbers than the relationships' own columns: an owner has one kind of objects
/// without an order, and two with one.
@Suite("Order columns of a store")
struct OrderColumnTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func model(next: Bool = false, isCOrdered: Bool = true) -> NSManagedObjectModel {
        let owner = makeEntity(
            "Owner", makeAttribute("name", .stringAttributeType), makeToMany("as", "A", inverse: "owner"),
            makeToMany("bs", "B", inverse: "owner", ordered: true),
            makeToMany("cs", "C", inverse: "owner", ordered: isCOrdered))
        // The next version does not touch the hierarchy.
        if next { owner.properties.append(makeAttribute("note", .stringAttributeType)) }
        let kinds = ["A", "B", "C"].map { name in
            makeEntity(name, makeToOne("owner", "Owner", inverse: name.lowercased() + "s"))
        }
        let base = makeEntity("Base", makeAttribute("name", .stringAttributeType))
        base.subentities = kinds
        let model = NSManagedObjectModel()
        model.entities = [base, owner] + kinds
        return model
    }

    /// A store with the columns of Core Data, or with those of an earlier version of Pippin: three objects of B, and
    /// two of C, whose orders are not those of their keys.
    private func fill(_ model: NSManagedObjectModel, ofEarlierPippin isEarlier: Bool = false) throws {
        do { _ = try openStore(model, at: folder.store) }
        try execute(
            """
            INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT) VALUES (1, 5, 1);
            INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT, ZNAME, ZOWNER1, Z_FOK_OWNER)
                VALUES (11, 3, 1, '11', 1, 3072), (12, 3, 1, '12', 1, 2048), (13, 3, 1, '13', 1, 1024);
            INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT, ZNAME, ZOWNER2) VALUES (21, 4, 1, '21', 1), (22, 4, 1, '22', 1);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 30 WHERE Z_NAME = 'Base';
            UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Owner';
            """, in: folder.store)
        guard model.entitiesByName["Owner"]?.relationshipsByName["cs"]?.isOrdered == true else { return }
        try execute("UPDATE ZBASE SET Z_FOK_OWNER1 = (24 - Z_PK) * 1024 WHERE Z_ENT = 4", in: folder.store)
        guard isEarlier else { return }
        try execute(
            """
            ALTER TABLE ZBASE RENAME COLUMN Z_FOK_OWNER1 TO Z_FOK_OWNER2;
            ALTER TABLE ZBASE RENAME COLUMN Z_FOK_OWNER TO Z_FOK_OWNER1;
            """, in: folder.store)
    }

    private func context(
        _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]? = nil
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func owner(_ context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Owner")).first)
    }

    /// The names of the owner's objects, in their order.
    private func order(_ relationship: String, _ context: NSManagedObjectContext) throws -> [String] {
        try context.performAndWait {
            let objects = try #require(try owner(context).value(forKey: relationship) as? NSOrderedSet)
            return objects.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
        }
    }

    /// Moves the last object of a relationship to its beginning.
    private func turn(_ relationship: String, _ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            let objects = try owner(context).mutableOrderedSetValue(forKey: relationship)
            objects.moveObjects(at: IndexSet(integer: objects.count - 1), to: 0)
            try context.save()
        }
    }

    private func rows(_ columns: String, _ condition: String) throws -> [String] {
        try plainSQL("SELECT Z_PK FROM ZBASE WHERE \(condition) ORDER BY \(columns)", in: folder.store)
    }

    private var orderColumns: [String] {
        get throws {
            try plainSQL(
                "SELECT name FROM pragma_table_info('ZBASE') WHERE name LIKE '%FOK%' ORDER BY 1", in: folder.store)
        }
    }

    private static var migrating: [AnyHashable: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    }

    @Test("A store of Core Data's is read in its order, and a new order goes to the column of its relationship")
    func appleStore() throws {
        try fill(model())
        let context = try context(model())
        #expect(try order("bs", context) == ["13", "12", "11"])
        #expect(try order("cs", context) == ["22", "21"])
        try turn("bs", context)
        try turn("cs", context)
        #expect(try rows("Z_FOK_OWNER", "ZOWNER1 = 1 AND Z_FOK_OWNER1 IS NULL") == ["11", "13", "12"])
        #expect(try rows("Z_FOK_OWNER1", "ZOWNER2 = 1 AND Z_FOK_OWNER IS NULL") == ["21", "22"])
    }

    @Test("A store of an earlier version of Pippin is read in its order, and keeps its columns")
    func earlierStore() throws {
        try fill(model(), ofEarlierPippin: true)
        let context = try context(model())
        #expect(try order("bs", context) == ["13", "12", "11"])
        #expect(try order("cs", context) == ["22", "21"])
        try turn("bs", context)
        try turn("cs", context)
        #expect(try rows("Z_FOK_OWNER1", "ZOWNER1 = 1 AND Z_FOK_OWNER2 IS NULL") == ["11", "13", "12"])
        #expect(try rows("Z_FOK_OWNER2", "ZOWNER2 = 1 AND Z_FOK_OWNER1 IS NULL") == ["21", "22"])
        #expect(try orderColumns == ["Z_FOK_OWNER1", "Z_FOK_OWNER2"])
    }

    @Test("The next migration gives the columns of an earlier version of Pippin the names of Core Data")
    func migration() throws {
        try fill(model(), ofEarlierPippin: true)
        let context = try context(model(next: true), Self.migrating)
        #expect(try orderColumns == ["Z_FOK_OWNER", "Z_FOK_OWNER1"])
        #expect(try rows("Z_FOK_OWNER", "ZOWNER1 = 1 AND Z_FOK_OWNER1 IS NULL") == ["13", "12", "11"])
        #expect(try rows("Z_FOK_OWNER1", "ZOWNER2 = 1 AND Z_FOK_OWNER IS NULL") == ["22", "21"])
        #expect(try order("bs", context) == ["13", "12", "11"])
        #expect(try order("cs", context) == ["22", "21"])
    }

    @Test("A migration to the version of the store does so, too, and the next one finds nothing to do")
    func sameVersion() throws {
        try fill(model(), ofEarlierPippin: true)
        let migration = try StoreMigration(at: folder.store, to: model())
        guard case .inPlace = migration.way else {
            Issue.record("The store is said to have the names of Core Data.")
            return
        }
        try migration.run()
        #expect(try orderColumns == ["Z_FOK_OWNER", "Z_FOK_OWNER1"])
        let context = try context(model())
        #expect(try order("bs", context) == ["13", "12", "11"])
        #expect(try order("cs", context) == ["22", "21"])
        guard case .nothing = try StoreMigration(at: folder.store, to: model()).way else {
            Issue.record("There is something left to do.")
            return
        }
    }

    @Test("A migration that defers its cleanup leaves the old column, which nothing uses")
    func deferredMigration() throws {
        try fill(model(isCOrdered: false))
        try execute("ALTER TABLE ZBASE RENAME COLUMN Z_FOK_OWNER TO Z_FOK_OWNER1", in: folder.store)
        let options = Self.migrating.merging([NSPersistentStoreDeferredLightweightMigrationOptionKey: true]) { $1 }
        let next = model(next: true, isCOrdered: false)
        do { _ = try context(next, options) }
        #expect(try orderColumns == ["Z_FOK_OWNER", "Z_FOK_OWNER1"])
        let context = try context(next)
        #expect(try order("bs", context) == ["13", "12", "11"])
        try turn("bs", context)
        #expect(try rows("Z_FOK_OWNER", "ZOWNER1 = 1") == ["11", "13", "12"])
        try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
        #expect(try orderColumns == ["Z_FOK_OWNER"])
        #expect(try order("bs", self.context(next)) == ["11", "13", "12"])
    }

    @Test("A column that an earlier version of Pippin has left to be removed is nobody's")
    func leftColumn() throws {
        // It kept the order of A, which has none any more.
        let model = model(isCOrdered: false)
        try fill(model)
        try execute(
            """
            ALTER TABLE ZBASE RENAME COLUMN Z_FOK_OWNER TO Z_FOK_OWNER1;
            ALTER TABLE ZBASE ADD COLUMN Z_FOK_OWNER INTEGER;
            """, in: folder.store)
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: folder.store)
        metadata["PippinDeferredMigrationTasks"] = [["ZBASE", "Z_FOK_OWNER"]]
        try NSPersistentStoreCoordinator.setMetadata(
            metadata, forPersistentStoreOfType: NSSQLiteStoreType, at: folder.store)
        let context = try context(model)
        #expect(try order("bs", context) == ["13", "12", "11"])
        try turn("bs", context)
        #expect(try rows("Z_FOK_OWNER1", "ZOWNER1 = 1 AND Z_FOK_OWNER IS NULL") == ["11", "13", "12"])
    }

    @Test("Where one of two order columns is missing, neither order is read or written, and the rest is")
    func missingColumn() throws {
        try fill(model())
        try execute("ALTER TABLE ZBASE DROP COLUMN Z_FOK_OWNER", in: folder.store)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store, options: nil)
        #expect(store.engine.inspection?.findings.map(\.subject) == ["Owner.bs", "Owner.cs"])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let owner = try owner(context)
            owner.setValue("x", forKey: "name")
            try context.save()
            #expect(try plainSQL("SELECT ZNAME FROM ZOWNER", in: folder.store) == ["x"])
            let new = NSEntityDescription.insertNewObject(forEntityName: "C", into: context)
            owner.setValue(NSOrderedSet(object: new), forKey: "cs")
            #expect(throws: NSError.self) { try context.save() }
        }
        #expect(try rows("Z_FOK_OWNER1", "ZOWNER2 = 1") == ["22", "21"])
    }

    @Test("A copy has the columns of Core Data")
    func copy() throws {
        try fill(model(), ofEarlierPippin: true)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store, options: nil)
        let copy = folder.file("copy.sqlite")
        try coordinator.remove(
            coordinator.migratePersistentStore(store, to: copy, options: nil, withType: NSSQLiteStoreType))
        let order = "SELECT Z_PK FROM ZBASE WHERE Z_ENT = 3 ORDER BY Z_FOK_OWNER"
        #expect(try plainSQL(order, in: copy) == ["13", "12", "11"])
        #expect(try plainSQL("SELECT Z_PK FROM ZBASE WHERE Z_ENT = 4 ORDER BY Z_FOK_OWNER1", in: copy) == ["22", "21"])
    }
}
