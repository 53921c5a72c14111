import CoreData
import Foundation
import TestSupport
import Testing

@Suite("A model that differs only in how the store keeps its values")
struct KeptOtherwiseTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func model(external: Bool = false, derivation: String = "uppercase:(name)") -> NSManagedObjectModel {
        let name = makeAttribute("name", .stringAttributeType)
        let data = makeAttribute("data", .binaryDataAttributeType)
        data.allowsExternalBinaryDataStorage = external
        let derived = NSDerivedAttributeDescription()
        (derived.name, derived.attributeType, derived.isOptional) = ("shown", .stringAttributeType, true)
        derived.derivationExpression = NSExpression(format: derivation)
        return makeModel(makeEntity("Page", name, data, derived))
    }

    private func open(
        _ model: NSManagedObjectModel, migrating: Bool = true, _ body: (NSManagedObjectContext) throws -> Void
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: migrating,
                NSInferMappingModelAutomaticallyOption: migrating,
            ])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try body(context) }
        try coordinator.remove(store)
    }

    private func insert(_ values: [Data], into context: NSManagedObjectContext) throws {
        for (index, data) in values.enumerated() {
            let page = NSEntityDescription.insertNewObject(forEntityName: "Page", into: context)
            page.setValue("Page \(index)", forKey: "name")
            page.setValue(data, forKey: "data")
        }
        try context.save()
    }

    private func values<Value>(_ key: String, in context: NSManagedObjectContext) throws -> [Value?] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Page")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request).map { $0.value(forKey: key) as? Value }
    }

    /// Large and small, and such as begin with what stands before values where they may lie outside.
    private static let data = [
        Data(repeating: 7, count: 300_000), Data([1, 2, 3]), Data([2, 65]), Data(repeating: 2, count: 200_000), Data(),
    ]

    @Test("Values are the same after external storage is switched on, and off again", arguments: [false, true])
    func external(first: Bool) throws {
        try open(model(external: first)) { try insert(Self.data, into: $0) }
        try open(model(external: !first)) { context in
            let found: [Data?] = try values("data", in: context)
            #expect(found == Self.data)
        }
        try open(model(external: first)) { context in
            let found: [Data?] = try values("data", in: context)
            #expect(found == Self.data)
        }
    }

    @Test("Without a migration, a store whose values may lie outside is refused by a model without external storage")
    func refused() throws {
        try open(model(external: true)) { try insert(Self.data, into: $0) }
        let error = #expect(throws: NSError.self) { try open(model(), migrating: false) { _ in } }
        #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    }

    @Test("A store whose hashes an earlier build wrote opens as it is: the copy of its model says what it has")
    func earlierHashes() throws {
        try open(model(external: true)) { try insert(Self.data, into: $0) }
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: folder.store)
        metadata[NSStoreModelVersionHashesKey] = ["Page": Data(repeating: 1, count: 32)]
        try NSPersistentStoreCoordinator.setMetadata(
            metadata, forPersistentStoreOfType: NSSQLiteStoreType, at: folder.store)
        try open(model(external: true), migrating: false) { context in
            let found: [Data?] = try values("data", in: context)
            #expect(found == Self.data)
        }
        let error = #expect(throws: NSError.self) { try open(model(), migrating: false) { _ in } }
        #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    }

    @Test("Derived values are those of the new expression")
    func derived() throws {
        try open(model()) { try insert([Data()], into: $0) }
        try open(model(derivation: "lowercase:(name)")) { context in
            let shown: [String?] = try values("shown", in: context)
            #expect(shown == ["page 0"])
            try insert([], into: context)
            let page = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Page"))[0]
            page.setValue("OTHER", forKey: "name")
            try context.save()
            context.refresh(page, mergeChanges: false)
            #expect(page.value(forKey: "shown") as? String == "other")
        }
    }
}
