import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans

@Suite("What a migration manager refuses, before anything is lost")
struct MigrationRefusalTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private var destination: URL { folder.file("new.sqlite") }

    private func model(_ change: (NSManagedObjectModel) -> Void = { _ in }) -> NSManagedObjectModel {
        let child = makeEntity("Child", makeAttribute("age", .integer16AttributeType))
        let person = makeEntity("Person", makeAttribute("name", .stringAttributeType)).with(sub: child)
        let model = makeModel(person, child, makeEntity("Town", makeAttribute("name", .stringAttributeType)))
        change(model)
        return model
    }

    private func makeStore(_ entity: String) throws {
        let container = try Library.stored(at: folder.store, model())
        let context = container.newBackgroundContext()
        try context.performAndWait {
            context.make(entity, ["name": "Ann"])
            try context.save()
        }
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
    }

    private func migrate(
        from source: NSManagedObjectModel, to target: NSManagedObjectModel, usesSQL: Bool
    ) throws {
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: target)
        let manager = NSMigrationManager(sourceModel: source, destinationModel: target)
        manager.usesStoreSpecificMigrationManager = usesSQL
        try manager.migrateStore(
            from: folder.store, sourceType: NSSQLiteStoreType, options: nil, with: mapping,
            toDestinationURL: destination, destinationType: NSSQLiteStoreType, destinationOptions: nil)
    }

    @Test("An object whose entity becomes abstract is an error that names both entities")
    func abstractDestination() throws {
        try makeStore("Person")
        let error = #expect(throws: NSError.self) {
            try migrate(from: model(), to: model { $0.entity("Person").isAbstract = true }, usesSQL: false)
        }
        #expect(error?.code == 134110)
        let text = error?.localizedDescription ?? ""
        #expect(text.contains("objects of “Person” would become objects of “Person”, which is abstract"), "\(text)")
        #expect(!FileManager.default.fileExists(atPath: destination.path))
    }

    @Test("An entity without objects of its own may become abstract")
    func abstractDestinationWithoutObjects() throws {
        try makeStore("Child")
        try migrate(from: model(), to: model { $0.entity("Person").isAbstract = true }, usesSQL: false)
        #expect(try plainSQL("SELECT ZNAME FROM ZPERSON", in: destination) == ["Ann"])
    }

    @Test("A source model that is not the store's is an error that names the entities which differ")
    func wrongSourceModel() throws {
        try makeStore("Person")
        let wrong = model { $0.add(makeAttribute("mayor", .stringAttributeType), to: "Town") }
        let target = model { $0.add(makeAttribute("zip", .stringAttributeType), to: "Town") }
        let error = #expect(throws: NSError.self) { try migrate(from: wrong, to: target, usesSQL: true) }
        #expect(error?.code == 134100)
        #expect(error?.userInfo["entities"] as? [String] == ["Town"])
        #expect(!FileManager.default.fileExists(atPath: destination.path))
    }
}
