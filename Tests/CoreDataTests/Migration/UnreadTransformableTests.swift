import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans

@Suite("Transformable values whose transformer or class is not known here")
struct UnreadTransformableTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static func model(transformer: String?, renamed: Bool = false) -> NSManagedObjectModel {
        let value = makeAttribute(renamed ? "content" : "value", .transformableAttributeType)
        value.valueTransformerName = transformer
        if renamed { value.renamingIdentifier = "value" }
        return makeModel(makeEntity("Thing", makeAttribute("name", .stringAttributeType), value))
    }

    /// Makes a store with a thing whose value are bytes that nothing here reads.
    private func makeStore(transformer: String?) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(transformer: transformer))
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            context.make("Thing", ["name": "A"])
            try context.save()
        }
        try coordinator.remove(store)
        try execute("UPDATE ZTHING SET ZVALUE = X'0102FF'", in: folder.store)
    }

    @Test("A migration object by object takes the bytes along as they are", arguments: [nil, "NoSuchTransformer"])
    func migrated(transformer: String?) throws {
        try makeStore(transformer: transformer)
        let source = Self.model(transformer: transformer)
        let target = Self.model(transformer: transformer, renamed: true)
        let manager = NSMigrationManager(sourceModel: source, destinationModel: target)
        manager.usesStoreSpecificMigrationManager = false
        let new = folder.file("new.sqlite")
        try manager.migrateStore(
            from: folder.store, sourceType: NSSQLiteStoreType, options: nil,
            with: .inferredMappingModel(forSourceModel: source, destinationModel: target), toDestinationURL: new,
            destinationType: NSSQLiteStoreType, destinationOptions: nil)
        #expect(try plainSQL("SELECT ZNAME, hex(ZCONTENT) FROM ZTHING", in: new) == ["A|0102FF"])
    }

    @Test(
        "A migration object by object takes them along as elements of a composite, beside the other elements",
        arguments: [nil, "NoSuchTransformer"])
    func element(transformer: String?) throws {
        func model(renamed: Bool) -> NSManagedObjectModel {
            let colour = makeAttribute("colour", .transformableAttributeType)
            colour.valueTransformerName = transformer
            let name = makeAttribute(renamed ? "title" : "name", .stringAttributeType)
            if renamed { name.renamingIdentifier = "name" }
            let style = NSCompositeAttributeDescription()
            (style.name, style.isOptional, style.elements) = ("style", true, [colour, name])
            return makeModel(makeEntity("Note", style))
        }
        let (source, target) = (model(renamed: false), model(renamed: true))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: source)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            context.make("Note", ["style": ["name": "red"]])
            try context.save()
        }
        try coordinator.remove(store)
        let columns = try plainSQL(
            "SELECT name FROM pragma_table_info('ZNOTE') WHERE name LIKE '%COLOUR'", in: folder.store)
        try execute("UPDATE ZNOTE SET \(columns[0]) = X'0102FF'", in: folder.store)
        let manager = NSMigrationManager(sourceModel: source, destinationModel: target)
        manager.usesStoreSpecificMigrationManager = false
        let new = folder.file("new.sqlite")
        try manager.migrateStore(
            from: folder.store, sourceType: NSSQLiteStoreType, options: nil,
            with: .inferredMappingModel(forSourceModel: source, destinationModel: target), toDestinationURL: new,
            destinationType: NSSQLiteStoreType, destinationOptions: nil)
        let title = try plainSQL("SELECT name FROM pragma_table_info('ZNOTE') WHERE name LIKE '%TITLE'", in: new)
        #expect(try plainSQL("SELECT \(title[0]), hex(\(columns[0])) FROM ZNOTE", in: new) == ["red|0102FF"])
    }

    @Test("They stay as they are when a program sets what it has read", arguments: [nil, "NoSuchTransformer"])
    func setAgain(transformer: String?) throws {
        try makeStore(transformer: transformer)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(transformer: transformer))
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let thing = try #require(try context.all("Thing").first)
            let read = thing.value(forKey: "value")
            #expect(read as? Data == Data([1, 2, 255]))
            thing.setValue(read, forKey: "value")
            thing.setValue("B", forKey: "name")
            try context.save()
        }
        try coordinator.remove(store)
        #expect(try plainSQL("SELECT ZNAME, hex(ZVALUE) FROM ZTHING", in: folder.store) == ["B|0102FF"])
    }
}
