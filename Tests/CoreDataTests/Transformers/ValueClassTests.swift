import CoreData
import TestSupport
import Testing

// SwiftGen and Threema name a class in the model, and no transformer.
@Suite("The class of a transformable attribute's values")
struct ValueClassTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func open(_ className: String?, _ type: String) throws -> NSManagedObjectContext {
        let attribute = Library.attribute("leg", .transformableAttributeType)
        attribute.attributeValueClassName = className
        let model = NSManagedObjectModel()
        model.entities = [Library.entity("Place", [attribute])]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: folder.file("places\(type)"), options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private static let names = [
        "Leg", ".Leg", "CoreDataTests.Leg", "[Leg]", "[String: CoreDataTests.Leg]", "Set<Leg>?", "Former.Leg",
    ]

    @Test("It is found as the model has it: without its module, and in a collection", arguments: names)
    func found(name: String) throws {
        for type in TransformerTests.types {
            let context = try open(name, type)
            try context.performAndWait {
                context.make("Place", ["leg": [Leg("North", 4)]])
                try context.save()
            }
            let other = try open(name, type)
            try other.performAndWait {
                let legs = try #require(try other.all("Place").first?.value(forKey: "leg") as? [Leg])
                #expect(legs.map(\.name) == ["North"])
            }
        }
    }

    @Test("A class that it does not name is not made: the value is the archive", arguments: [nil, "Point", "[Route]"])
    func others(name: String?) throws {
        let context = try open(name, NSBinaryStoreType)
        try context.performAndWait {
            context.make("Place", ["leg": Leg("North", 4)])
            try context.save()
        }
        let other = try open(name, NSBinaryStoreType)
        try other.performAndWait {
            let place = try #require(try other.all("Place").first)
            #expect(place.value(forKey: "leg") is Data)
        }
    }

    @Test("A source's custom class is the attribute's, if it has no transformer, and no part of the version hash")
    func source() throws {
        func model(_ custom: String, type: String = "Transformable") throws -> NSManagedObjectModel {
            try ModelAssembler.model(
                SourceReaderTests.read(
                    "<entity name=\"Place\"><attribute name=\"leg\" attributeType=\"\(type)\" \(custom)/></entity>"))
        }
        func name(_ model: NSManagedObjectModel) -> String? {
            model.entitiesByName["Place"]?.attributesByName["leg"]?.attributeValueClassName
        }
        let (with, without) = (try model("customClassName=\"[Leg]\""), try model(""))
        #expect(name(with) == "[Leg]")
        #expect(name(try model("customClassName=\"[Leg]\" attributeValueClassName=\"Leg\"")) == "Leg")
        #expect(name(try model("customClassName=\"Leg\"", type: "String")) == "NSString")
        #expect(name(try model("customClassName=\"Leg\" valueTransformerName=\"LegTransformer\"")) == nil)
        #expect(with.entityVersionHashesByName == without.entityVersionHashesByName)
    }
}
