import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLiteEngine

@Suite("Migrating Apple-made stores", .enabled(if: fixtures != nil, fixturesAreAbsent))
struct FixtureMigrationTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// A store, and every later version of its model.
    static let steps: [(store: String, package: String, version: String)] =
        [
            ("cars/SampleModel_V1.sqlite", "cars/SampleModel.momd", "SampleModel2"),
            ("cars/SampleModel_V1.sqlite", "cars/SampleModel.momd", "SampleModel3"),
            ("users/SampleModel3_V1.sqlite", "users/SampleModel3.momd", "SampleModel3_v2"),
            ("users/SampleModel3_V1.sqlite", "users/SampleModel3.momd", "SampleModel3_v3"),
        ]
        + (2...6).map {
            ("bookmarks/Bookmarks_V1.sqlite", "bookmarks/BookmarksModel.xcdatamodeld", "BookmarksModel \($0)")
        }
        + (4...6).map {
            ("bookmarks/Bookmarks_V3.sqlite", "bookmarks/BookmarksModel.xcdatamodeld", "BookmarksModel \($0)")
        }

    private func model(_ package: String, _ version: String) throws -> NSManagedObjectModel {
        try ModelPackage(at: try #require(fixtures).appendingPathComponent(package)).model(version: version)
    }

    private func migrate(_ url: URL, to model: NSManagedObjectModel) throws {
        let options = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        try coordinator.remove(store)
    }

    @Test(
        "Every store goes to every later version in place: rows and relationships as the mapping says",
        arguments: steps.indices)
    func inPlace(_ index: Int) throws {
        let step = Self.steps[index]
        let store = try folder.copy(step.store)
        let before = folder.url.appendingPathComponent("before.sqlite")
        try StoreFiles.replace(at: before, from: store, options: nil)
        let source = try SourceModel.find(StoreFile.open(store, mode: .readOnly), near: nil)
        let destination = try model(step.package, step.version)
        try migrate(store, to: destination)
        let oracle = try MigrationOracle(from: source, at: before, to: destination, at: store)
        #expect(try oracle.differences() == [])
        #expect(try plainSQL("PRAGMA integrity_check", in: store) == ["ok"])
        let hashes = try SQLiteFormat.metadata(at: store)[NSStoreModelVersionHashesKey]
        #expect(hashes as? [String: Data] == destination.entityVersionHashesByName)
    }

    @Test(
        "Every store goes to every later version object by object: objects and relationships as the mapping says",
        arguments: steps.indices, [2000, 3])
    func objectByObject(_ index: Int, portion: Int) throws {
        let step = Self.steps[index]
        let store = try folder.copy(step.store)
        let source = try SourceModel.find(StoreFile.open(store, mode: .readOnly), near: nil)
        let target = try model(step.package, step.version)
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: target)
        let destination = folder.url.appendingPathComponent("migrated.sqlite")
        let manager = NSMigrationManager(sourceModel: source, destinationModel: target)
        manager.usesStoreSpecificMigrationManager = false
        manager.portion = portion
        try manager.migrateStore(from: store, type: .sqlite, mapping: mapping, to: destination, type: .sqlite)
        manager.reset()
        let oracle = try MigrationOracle(from: source, at: store, to: target, at: destination)
        #expect(try ObjectOracle(oracle).differences() == [])
        #expect(try plainSQL("PRAGMA integrity_check", in: destination) == ["ok"])
    }

    @Test("The mapping model found beside the versions leads version 1 of the cars over 2 to 3")
    func progressive() throws {
        let store = try folder.copy("cars/SampleModel_V1.sqlite")
        let cars = try #require(fixtures).appendingPathComponent("cars")
        let package = try ModelPackage(at: cars.appendingPathComponent("SampleModel.momd"))
        let known = try KnownVersions(package, mappingFolders: [cars])
        for entity in known.mappings.flatMap({ $0.mapping.entityMappings ?? [] })
        where entity.entityMigrationPolicyClassName != nil {
            entity.entityMigrationPolicyClassName = "CoreDataTests.MakerPolicy"
        }
        let before = try plainSQL("SELECT ZNUMBERPLATE, ZMAKER FROM ZCAR ORDER BY 1", in: store)
        let migration = try ProgressiveMigration(at: store, to: package.model(version: "SampleModel3"), over: known)
        #expect(
            migration.description == """
                1. “SampleModel” to “SampleModel2”, inferred
                2. “SampleModel2” to “SampleModel3”, by the mapping model “V2toV3”
                """)
        try migration.run()
        let makers = "SELECT c.ZNUMBERPLATE, m.ZNAME FROM ZCAR c LEFT JOIN ZMAKER m ON m.Z_PK = c.ZCREATEDBY ORDER BY 1"
        #expect(try plainSQL(makers, in: store) == before)
        #expect(try plainSQL("SELECT COUNT(*) FROM ZPERSON", in: store) == ["20"])
    }

    @Test("A chain of versions ends like the direct way")
    func chain() throws {
        let store = try folder.copy("cars/SampleModel_V1.sqlite")
        for version in ["SampleModel2", "SampleModel3"] {
            try migrate(store, to: try model("cars/SampleModel.momd", version))
        }
        #expect(try plainSQL("SELECT COUNT(*) FROM ZCAR", in: store) == ["125"])
        #expect(try plainSQL("SELECT COUNT(*) FROM ZPERSON", in: store) == ["20"])
        #expect(
            try plainSQL("SELECT Z_NAME FROM Z_PRIMARYKEY ORDER BY Z_ENT", in: store) == [
                "Car", "SportCar", "LuxuryCar", "Maker", "Person",
            ])
    }

    @Test(
        "Xcode's mapping model migrates version 2 of the cars to version 3 object by object", arguments: [2000, 10])
    func mapped(portion: Int) throws {
        let store = try folder.copy("cars/SampleModel_V1.sqlite")
        let (second, third) = (
            try model("cars/SampleModel.momd", "SampleModel2"), try model("cars/SampleModel.momd", "SampleModel3")
        )
        try migrate(store, to: second)
        let url = try #require(fixtures).appendingPathComponent("cars/V2toV3.cdm")
        let mapping = try #require(NSMappingModel(contentsOf: url))
        #expect(MappingFit.holds(mapping.entityMappings, from: second, to: third))
        for entity in mapping.entityMappings where entity.entityMigrationPolicyClassName != nil {
            entity.entityMigrationPolicyClassName = "CoreDataTests.MakerPolicy"
        }
        let destination = folder.url.appendingPathComponent("third.sqlite")
        let manager = NSMigrationManager(sourceModel: second, destinationModel: third)
        manager.portion = portion
        try manager.migrateStore(
            from: store, type: .sqlite, mapping: mapping, to: destination, type: .sqlite)
        let cars =
            "SELECT c.ZNUMBERPLATE, c.ZMODEL, p.ZFIRSTNAME, p.ZLASTNAME FROM ZCAR c LEFT JOIN ZPERSON p ON p.Z_PK = c.ZOWNER ORDER BY 1"
        #expect(try plainSQL(cars, in: destination) == plainSQL(cars, in: store))
        let makers = "SELECT c.ZNUMBERPLATE, m.ZNAME FROM ZCAR c LEFT JOIN ZMAKER m ON m.Z_PK = c.ZCREATEDBY ORDER BY 1"
        #expect(
            try plainSQL(makers, in: destination)
                == plainSQL("SELECT ZNUMBERPLATE, ZMAKER FROM ZCAR ORDER BY 1", in: store))
        #expect(
            try plainSQL("SELECT COUNT(*) FROM ZMAKER", in: destination)
                == plainSQL("SELECT COUNT(DISTINCT ZMAKER) FROM ZCAR", in: store))
    }
}

/// Makes a maker of each name of one, as the mapping model of the fixture wants its policy to.
final class MakerPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard let name = sInstance.value(forKey: "maker") as? String,
            let car = manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance]
            ).first
        else { return }
        let makers = manager.userInfo?["makers"] as? [String: NSManagedObject] ?? [:]
        let known = makers[name]
        let maker =
            known ?? NSEntityDescription.insertNewObject(forEntityName: "Maker", into: manager.destinationContext)
        if known == nil {
            maker.setValue(name, forKey: "name")
            manager.userInfo = ["makers": makers.merging([name: maker]) { $1 }]
        }
        car.setValue(maker, forKey: "createdBy")
    }
}
