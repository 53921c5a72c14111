import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine

/// A store with hashes of Apple's, and the versions of its model as they are compiled here, with other hashes.
@Suite("The model of a store that Apple made, among models that were compiled here")
struct AppleStoreModelTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// The library, with a mandatory attribute more in the second version, and a relationship less in the third.
    private func version(_ number: Int) -> NSManagedObjectModel {
        let model = Library.model()
        let author = model.entitiesByName["Author"]
        if number > 1 { author?.attributesByName["age"]?.attributeType = .integer32AttributeType }
        if number > 2 { author?.attributesByName["rating"]?.isOptional = false }
        return model
    }

    /// Makes a store whose version hashes are somebody else's.
    private func makeStore() throws {
        let model = version(1)
        var number: UInt8 = 0
        let hashes = model.entitiesByName.mapValues { _ in
            number += 1
            return Data(repeating: number, count: 32)
        }
        model.recordVersionHashes(hashes)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store, options: nil)
        #expect(store.metadata["PippinVersionHashes"] == nil)
        try coordinator.remove(store)
    }

    private func metadata() throws -> [String: Any] {
        try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: folder.store)
    }

    @Test("Merging for the store's metadata finds the version that is said to be compatible")
    func merging() throws {
        try makeStore()
        let metadata = try metadata()
        let (first, second) = (version(1), version(2))
        #expect(first.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(!second.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        let merged = try #require(NSManagedObjectModel(byMerging: [second, first], forStoreMetadata: metadata))
        #expect(merged.entityVersionHashesByName == first.entityVersionHashesByName)
        #expect(merged.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(NSManagedObjectModel(byMerging: [second], forStoreMetadata: metadata) == nil)
    }

    @Test("The metadata of a store that is open say the same, and are written as they were")
    func open() throws {
        try makeStore()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version(1))
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store, options: nil)
        var metadata = coordinator.metadata(for: store)
        #expect(version(1).isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        let merged = NSManagedObjectModel(byMerging: [version(2), version(1)], forStoreMetadata: metadata)
        #expect(merged?.entityVersionHashesByName == version(1).entityVersionHashesByName)
        metadata["Favourite"] = "Emma"
        coordinator.setMetadata(metadata, for: store)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try context.save() }
        let list = try plainSQL("SELECT Z_PLIST FROM Z_METADATA", in: folder.store)[0]
        #expect(list.contains("Favourite".utf8.map { String(format: "%02X", $0) }.joined()))
        #expect(!list.contains("PippinModelHashes".utf8.map { String(format: "%02X", $0) }.joined()))
    }

    @Test("Two models that each have one configuration of the store merge, and one that is too old does not")
    func configurations() throws {
        let (shelves, books) = (NSManagedObjectModel(), NSManagedObjectModel())
        shelves.entities = [Library.entity("Shelf", [])]
        books.entities = [Library.entity("Book", []), Library.entity("Draft", [])]
        books.setEntityNames(["Book"], forConfigurationName: "Printed")
        let hashes = ["Shelf": Data([1]), "Book": Data([2])]
        let own = [shelves, books].flatMap { $0.ownVersionHashesByName }
        let metadata: [String: Any] = [
            "NSStoreModelVersionHashes": hashes,
            "PippinModelHashes": Dictionary(own, uniquingKeysWith: { first, _ in first }),
        ]
        let merged = try #require(NSManagedObjectModel(byMerging: [books, shelves], forStoreMetadata: metadata))
        #expect(merged.entitiesByName.keys.sorted() == ["Book", "Shelf"])
    }

    @Test("Without a copy of its model a store is opened by a model of other tables only if versions are ignored")
    func withoutCopy() throws {
        try makeStore()
        try execute("DROP TABLE Z_MODELCACHE", in: folder.store)
        let model = version(1)
        model.entitiesByName["Author"]?.properties.removeAll { $0.name == "photo" }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let error = #expect(throws: NSError.self) {
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store)
        }
        #expect(error?.code == 134_100)
        #expect(error?.localizedDescription.contains("cannot be told") == true)
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store,
            options: [NSIgnorePersistentStoreVersioningOption: true])
    }

    // MARK: Stages

    /// A reference as programs make one for a model that they have at hand.
    private func reference(_ number: Int) -> NSManagedObjectModelReference {
        NSManagedObjectModelReference(model: version(number), versionChecksum: version(number).versionChecksum)
    }

    private func migrate(_ stages: [NSMigrationStage], to number: Int) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version(number))
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager(stages),
            ])
    }

    @Test("Stages find the store's version by their models, whose checksums are others than the store's")
    func stages() throws {
        try makeStore()
        var calls: [String] = []
        let custom = NSCustomMigrationStage(migratingFrom: reference(1), to: reference(2))
        custom.willMigrateHandler = { _, _ in calls.append("will") }
        custom.didMigrateHandler = { _, _ in calls.append("did") }
        try migrate([custom, NSLightweightMigrationStage([version(3).versionChecksum])], to: 3)
        #expect(calls == ["will", "did"])
        #expect(try version(3).isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata()))
    }

    @Test("A stage may name the store's version by the checksum that Apple's tools print")
    func printedChecksum() throws {
        try makeStore()
        let checksum = VersionHash.checksum(of: StoreMetadata.hashes(in: try metadata()))
        let stages = [NSLightweightMigrationStage([checksum, version(2).versionChecksum])]
        try migrate(stages, to: 2)
        #expect(try version(2).isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata()))
    }

    @Test("A version that no stage has is an error all the same")
    func unknown() throws {
        try makeStore()
        let stages = [NSLightweightMigrationStage([version(2).versionChecksum, version(3).versionChecksum])]
        let error = #expect(throws: NSError.self) { try migrate(stages, to: 3) }
        #expect(error?.code == 134_504)
    }

    @Test(
        "So do the stores and models of CoreDataPlus' staged migrations",
        .enabled(if: Fixtures.areThere, ModelFixtures.skipped))
    func fixture() throws {
        let store = try folder.copy("users/SampleModel3_V1.sqlite")
        let bundleURL = folder.url.appendingPathComponent("Users.resources")
        let remarks = try SourceModelCompiler.compileModel(
            at: Fixtures.url("users/SampleModel3.xcdatamodeld"),
            to: bundleURL.appendingPathComponent("SampleModel3.momd"))
        #expect(remarks.isEmpty)
        let bundle = try #require(Bundle(url: bundleURL))
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: store)
        let merged = try #require(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata))
        let package = try ModelPackage(at: bundleURL.appendingPathComponent("SampleModel3.momd"))
        let models = try package.versions.map { try package.model(version: $0.name) }
        #expect(models.filter { $0 == merged }.count == 1)
        for model in models {
            #expect(
                (model == merged)
                    == model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        }
        // From the first version to the second by a custom stage, and on to the third.
        let names = ["SampleModel3", "SampleModel3_v2", "SampleModel3_v3"]
        let references = try names.map { name in
            let model = try package.model(version: name)
            return NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
        }
        let custom = NSCustomMigrationStage(migratingFrom: references[0], to: references[1])
        var users = 0
        custom.didMigrateHandler = { manager, _ in
            guard let context = manager.container?.newBackgroundContext() else { return }
            users = try context.performAndWait {
                try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "User"))
            }
        }
        let latest = try package.model(version: names[2])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: latest)
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: store,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager([
                    custom, NSLightweightMigrationStage([references[2].versionChecksum]),
                ]),
            ])
        #expect(users == 12)
    }
}
