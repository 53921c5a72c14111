import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

/// Composite attributes in dictionaries, from each type of store.
@Suite("Dictionaries with composite attributes")
struct CompositeDictionaryTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static func composite(_ name: String, _ elements: NSAttributeDescription...) -> NSAttributeDescription {
        let composite = NSCompositeAttributeDescription()
        composite.name = name
        composite.isOptional = true
        composite.elements = elements
        return composite
    }

    /// A shop at a place, one at a place without a zip code, and one that is nowhere.
    private func context(_ type: String) throws -> NSManagedObjectContext {
        let zone = Self.composite(
            "zone", makeAttribute("isFar", .booleanAttributeType), makeAttribute("fee", .decimalAttributeType))
        let place = Self.composite(
            "place", makeAttribute("city", .stringAttributeType), makeAttribute("zip", .integer32AttributeType), zone)
        let model = makeModel(makeEntity("Shop", makeAttribute("name", .stringAttributeType), place))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.store)
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = coordinator
        let places: [String: [String: Any]?] = [
            "a": [
                "city": "Bonn", "zip": 53111,
                "zone": ["isFar": NSNumber(value: true), "fee": NSDecimalNumber(string: "1.5")],
            ],
            "b": ["city": "Ulm"], "c": nil,
        ]
        for (name, place) in places {
            let shop = NSEntityDescription.insertNewObject(forEntityName: "Shop", into: context)
            shop.setValue(name, forKey: "name")
            shop.setValue(place, forKey: "place")
        }
        try context.save()
        return context
    }

    private func dictionaries(
        _ context: NSManagedObjectContext, _ properties: [Any]? = nil, isDistinct: Bool = false
    ) throws -> [NSDictionary] {
        let request = NSFetchRequest<NSDictionary>(entityName: "Shop")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = properties
        request.returnsDistinctResults = isDistinct
        request.sortDescriptors = isDistinct ? nil : [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request)
    }

    private let bonn: NSDictionary = [
        "city": "Bonn", "zip": 53111,
        "zone": ["isFar": NSNumber(value: true), "fee": NSDecimalNumber(string: "1.5")] as NSDictionary,
    ]

    @MainActor
    @Test(
        "A fetch that names no properties has composite attributes as dictionaries, and none where nothing is",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType, NSBinaryStoreType, NSXMLStoreType])
    func all(_ type: String) throws {
        #expect(
            try dictionaries(context(type)) == [
                ["name": "a", "place": bonn], ["name": "b", "place": ["city": "Ulm"] as NSDictionary],
                ["name": "c"],
            ])
    }

    @MainActor
    @Test(
        "A composite attribute, one within another, and a single element can be asked for",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType, NSBinaryStoreType, NSXMLStoreType])
    func named(_ type: String) throws {
        let found = try dictionaries(context(type), ["place", "place.zone", "place.zone.isFar", "place.city"])
        #expect(
            found == [
                [
                    "place": bonn,
                    "place.zone": ["isFar": NSNumber(value: true), "fee": NSDecimalNumber(string: "1.5")]
                        as NSDictionary,
                    "place.zone.isFar": NSNumber(value: true), "place.city": "Bonn",
                ], ["place": ["city": "Ulm"] as NSDictionary, "place.city": "Ulm"], [:],
            ])
    }

    @MainActor
    @Test("An element is of its own type, and equal composites are one where they are to be distinct")
    func types() throws {
        let context = try context(NSSQLiteStoreType)
        let flag = try #require(dictionaries(context, ["place.zone.isFar"]).first?["place.zone.isFar"] as? NSNumber)
        #expect(String(cString: flag.objCType) == String(cString: NSNumber(value: true).objCType))
        let shop = NSEntityDescription.insertNewObject(forEntityName: "Shop", into: context)
        shop.setValue(["city": "Ulm"], forKey: "place")
        try context.save()
        #expect(try dictionaries(context, ["place"], isDistinct: true).count == 3)
    }

    @MainActor
    @Test("A predicate that compares a composite attribute as a whole is refused, by its name")
    func whole() throws {
        let context = try context(NSSQLiteStoreType)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Shop")
        request.predicate = NSPredicate(format: "place == %@", "x")
        let error = #expect(throws: (any Error).self) { try context.fetch(request) }
        #expect(error?.localizedDescription.contains("the composite attribute “place” as a whole") == true)
    }
}
