import CoreData
import TestSupport
import Testing

/// “é” as one scalar, and as two: equal for Swift, and other bytes.
@Suite("A change to a text that is equivalent, with other bytes, is saved")
struct EquivalentTextTests {
    private let composed = "caf\u{E9}"
    private let decomposed = "cafe\u{301}"

    private func place() -> NSEntityDescription {
        let address = NSCompositeAttributeDescription()
        address.name = "address"
        address.isOptional = true
        address.elements = [Library.attribute("city", .stringAttributeType)]
        let tags = Library.attribute("tags", .transformableAttributeType)
        return Library.entity("Place", [Library.attribute("name", .stringAttributeType), address, tags])
    }

    private func scalars(_ value: Any?) -> Int? { (value as? String)?.unicodeScalars.count }

    /// Saves a place with a value, and then with another one; gives what is stored.
    private func saved(_ key: String, _ first: Any, _ second: Any, _ type: String) throws -> Any? {
        let folder = try TestFolder()
        let model = NSManagedObjectModel()
        model.entities = [place()]
        let description = NSPersistentStoreDescription(url: folder.file("places"))
        description.type = type
        let container = try Library.container(model, description)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let place = context.make("Place", [key: first])
            try context.save()
            place.setValue(second, forKey: key)
            try context.save()
        }
        let fresh = container.newBackgroundContext()
        return try fresh.performAndWait { try fresh.all("Place").first?.value(forKey: key) }
    }

    private static let types = [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType]

    @Test("The text of an attribute is saved", arguments: types)
    func attribute(type: String) throws {
        #expect(scalars(try saved("name", composed, decomposed, type)) == 5)
    }

    @Test("The text of an element of a composite attribute is saved", arguments: types)
    func composite(type: String) throws {
        let value = try saved("address", ["city": composed], ["city": decomposed], type) as? [String: Any]
        #expect(scalars(value?["city"]) == 5)
    }

    @Test("The texts of a transformable list, dictionary or set are saved", arguments: types)
    func transformable(type: String) throws {
        let list = try saved("tags", [composed] as NSArray, [decomposed] as NSArray, type) as? [Any]
        #expect(scalars(list?.first) == 5)
        let nested =
            try saved(
                "tags", ["a": [composed]] as NSDictionary, ["a": [decomposed]] as NSDictionary, type)
            as? [String: [Any]]
        #expect(scalars(nested?["a"]?.first) == 5)
        let keyed =
            try saved("tags", [composed: 1] as NSDictionary, [decomposed: 1] as NSDictionary, type) as? [String: Any]
        #expect(scalars(keyed?.keys.first) == 5)
        let set = try saved("tags", NSSet(object: composed), NSSet(object: decomposed), type) as? NSSet
        #expect(scalars(set?.anyObject()) == 5)
    }
}
