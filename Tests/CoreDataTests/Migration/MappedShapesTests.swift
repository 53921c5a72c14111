import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine

@Suite("Migrations object by object of what has no column of its own name: ends without inverse, composite attributes")
struct MappedShapesTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Drinks with ingredients (ordered, or not; without inverse) and a place that has a point in it.
    private func model(ordered: Bool, _ change: (NSManagedObjectModel) -> Void = { _ in }) -> NSManagedObjectModel {
        let point = NSCompositeAttributeDescription()
        point.name = "point"
        point.elements = [makeAttribute("x", .doubleAttributeType), makeAttribute("y", .doubleAttributeType)]
        let place = NSCompositeAttributeDescription()
        place.name = "place"
        place.elements = [makeAttribute("city", .stringAttributeType), point]
        let model = makeModel(
            makeEntity(
                "Drink", makeAttribute("name", .stringAttributeType), place,
                makeToMany("spec", "Ingredient", inverse: nil, ordered: ordered)),
            makeEntity("Ingredient", makeAttribute("name", .stringAttributeType)))
        change(model)
        return model
    }

    private func makeStore(_ model: NSManagedObjectModel) throws {
        let container = try Library.stored(at: folder.store, model)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let ingredients = ["gin", "lime", "ice"].map { context.make("Ingredient", ["name": $0]) }
            let ordered = model.relationship("Drink", "spec").isOrdered
            let spec: Any =
                ordered ? NSOrderedSet(array: [2, 0, 1].map { ingredients[$0] }) : NSSet(array: ingredients)
            context.make(
                "Drink", ["name": "Mule", "spec": spec, "place": ["city": "Bath", "point": ["x": 1.5, "y": 2.5]]])
            context.make("Drink", ["name": "Water"])
            try context.save()
        }
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
    }

    @Test("All of it is there afterwards, under its new name", arguments: [false, true])
    func migration(ordered: Bool) throws {
        let source = model(ordered: ordered)
        try makeStore(source)
        let destination = model(ordered: ordered) {
            $0.attribute("Ingredient", "name").renamingIdentifier = "name"
            $0.attribute("Ingredient", "name").name = "title"
            $0.relationship("Drink", "spec").renamingIdentifier = "spec"
            $0.relationship("Drink", "spec").name = "parts"
            $0.add(makeAttribute("note", .stringAttributeType), to: "Drink")
        }
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
        try MappedMigration(
            format: SQLiteFormat.self, url: folder.store, source: source, destination: destination, mapping: mapping,
            configuration: nil,
            options: nil
        ).run()
        let context = try Library.stored(at: folder.store, destination).newBackgroundContext()
        try context.performAndWait {
            let drinks = try context.all("Drink", by: "name")
            #expect(drinks.map { $0.string("name") } == ["Mule", "Water"])
            let place = drinks[0].value(forKey: "place") as? [String: Any]
            #expect(place?["city"] as? String == "Bath")
            #expect(place?["point"] as? [String: Double] == ["x": 1.5, "y": 2.5])
            #expect(drinks[1].value(forKey: "place") == nil)
            let parts = drinks[0].value(forKey: "parts")
            let names = ((parts as? NSOrderedSet)?.array ?? (parts as? NSSet)?.allObjects ?? []).compactMap {
                ($0 as? NSManagedObject)?.string("title")
            }
            #expect(ordered ? names == ["ice", "gin", "lime"] : Set(names) == ["ice", "gin", "lime"])
        }
    }

    @Test("In place it comes to the same", arguments: [false, true])
    func inPlace(ordered: Bool) throws {
        let source = model(ordered: ordered)
        try makeStore(source)
        let destination = model(ordered: ordered) {
            $0.relationship("Drink", "spec").renamingIdentifier = "spec"
            $0.relationship("Drink", "spec").name = "parts"
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: destination)
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ])
        #expect(
            try plainSQL("SELECT ZCITY, ZX, ZY FROM ZDRINK ORDER BY ZNAME", in: folder.store) == ["Bath|1.5|2.5", "||"])
        #expect(
            try plainSQL("SELECT ZNAME FROM ZINGREDIENT WHERE Z1PARTS = 1 ORDER BY ZNAME", in: folder.store)
                == ["gin", "ice", "lime"])
    }
}
