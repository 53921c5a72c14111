import CoreData
import TestSupport
import Testing

/// Transformable and composite attributes, in every kind of store.
@Suite("Transformers") struct TransformerTests {
    static let types = [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType]
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        ValueTransformer.setValueTransformer(PointTransformer(), forName: PointTransformer.name)
        ValueTransformer.setValueTransformer(RouteTransformer(), forName: RouteTransformer.name)
        ValueTransformer.setValueTransformer(NumbersTransformer(), forName: NumbersTransformer.name)
        ValueTransformer.setValueTransformer(
            NSSecureUnarchiveFromDataTransformer(), forName: NSValueTransformerName("PlainArchive"))
    }

    static var model: NSManagedObjectModel {
        func transformable(_ name: String, _ transformer: String?, _ className: String? = nil) -> NSAttributeDescription
        {
            let attribute = Library.attribute(name, .transformableAttributeType)
            attribute.valueTransformerName = transformer
            attribute.attributeValueClassName = className
            return attribute
        }
        let address = NSCompositeAttributeDescription()
        address.name = "address"
        address.elements = [
            Library.attribute("street", .stringAttributeType), Library.attribute("number", .integer32AttributeType),
        ]
        let place = Library.entity(
            "Place",
            [
                Library.attribute("name", .stringAttributeType), transformable("point", PointTransformer.name.rawValue),
                transformable("route", RouteTransformer.name.rawValue),
                transformable("numbers", NumbersTransformer.name.rawValue),
                transformable("tags", "NSSecureUnarchiveFromData"), transformable("anything", nil),
                transformable("words", "NSSecureUnarchiveFromDataTransformerName"),
                transformable("named", "PlainArchive"),
                transformable("leg", nil, NSStringFromClass(Leg.self)), address,
                transformable("unregistered", "NoSuchTransformer"),
            ])
        let model = NSManagedObjectModel()
        model.entities = [place]
        return model
    }

    func open(_ type: String, options: [AnyHashable: Any]? = nil) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model)
        try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: folder.file("places"), options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test(
        "What is in a value is refused by SQL, with its key",
        arguments: [
            "tags CONTAINS 'a'", "ANY tags == 'a'", "ALL tags != 'a'", "NONE tags == 'a'", "'a' IN tags", "tags > 3",
            "tags BETWEEN {1, 3}", "tags BEGINSWITH 'a'", "tags LIKE 'a*'", "tags.@count > 1", "tags.@sum.self > 1",
            "count:(tags) > 1", "sum:(tags) > 1", "average:(tags) > 1", "length:(tags) > 1",
        ])
    func closed(format: String) throws {
        let context = try open(NSSQLiteStoreType)
        context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
            request.predicate = NSPredicate(format: format)
            let error = #expect(throws: (any Error).self) { try context.fetch(request) }
            #expect(error?.localizedDescription.contains("tags") == true)
        }
    }

    @Test("A value that is compared with a constant is refused by SQL, and compared by a store in memory")
    func constants() throws {
        for format in ["tags == 'a'", "tags != 3", "tags IN {'a', 'b'}"] {
            let context = try open(NSSQLiteStoreType)
            context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
                request.predicate = NSPredicate(format: format)
                let error = #expect(throws: (any Error).self) { try context.fetch(request) }
                #expect(error?.localizedDescription.contains("“tags”, which is transformable") == true)
            }
        }
        let context = try Library.inMemory(Self.model).viewContext
        context.make("Place", ["anything": "a" as NSString])
        try context.save()
        context.reset()
        for (format, count) in [("anything == 'a'", 1), ("anything != 'a'", 0), ("anything IN {'a', 'b'}", 1)] {
            #expect(try context.all("Place", NSPredicate(format: format)).count == count, "\(format)")
        }
    }

    @Test("Whether there is a value is said by SQL")
    func presence() throws {
        let context = try open(NSSQLiteStoreType)
        try context.performAndWait {
            context.make("Place", ["name": "both", "tags": ["a", "b"] as NSArray])
            context.make("Place", ["name": "none"])
            try context.save()
            context.reset()
            for (format, expected) in [("tags == nil", "none"), ("tags != nil", "both")] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
                request.predicate = NSPredicate(format: format)
                #expect(try context.fetch(request).map { $0.value(forKey: "name") as? String } == [expected])
            }
        }
    }

    /// What an attribute holds after it was saved and read again by somebody else.
    func roundTrip(_ key: String, _ value: Any, _ type: String, options: [AnyHashable: Any]? = nil) throws -> Any? {
        let context = try open(type)
        try context.performAndWait {
            context.make("Place", [key: value])
            try context.save()
        }
        let other = try open(type, options: options)
        nonisolated(unsafe) var result: Any?  // written before performAndWait returns
        try other.performAndWait { result = try other.all("Place").first?.value(forKey: key) }
        return result
    }

    @Test("A registered transformer makes the bytes of a Codable struct, and the struct of them", arguments: types)
    func codable(type: String) throws {
        let point = try roundTrip("point", Point(x: 1.5, y: -2), type) as? Point
        #expect(point == Point(x: 1.5, y: -2))
    }

    @Test("A subclass of the secure transformer decodes the classes that it allows", arguments: types)
    func subclass(type: String) throws {
        let route = Route([Leg("north", 3), Leg("east", 4)])
        let found = try roundTrip("route", route, type) as? Route
        #expect(found?.legs.map(\.name) == ["north", "east"])
        #expect(found?.legs.map(\.length) == [3, 4])
    }

    @Test("The secure transformer keeps collections of strings and numbers", arguments: types)
    func collections(type: String) throws {
        let tags = try roundTrip("tags", ["a", "b"], type) as? [String]
        #expect(tags == ["a", "b"])
    }

    @Test("So does a model that has the name of Foundation's constant in place of its text", arguments: types)
    func nameOfConstant(type: String) throws {
        let words = try roundTrip("words", ["a", "b"], type) as? [String]
        #expect(words == ["a", "b"])
    }

    @Test("The class of plain archives may be registered under a name of the program's", arguments: types)
    func registeredPlain(type: String) throws {
        #expect(try roundTrip("named", ["a", "b"], type) as? [String] == ["a", "b"])
    }

    @Test("Without a transformer, the class that the model names is decoded", arguments: types)
    func modelClass(type: String) throws {
        let leg = try roundTrip("leg", Leg("south", 5), type) as? Leg
        #expect(leg?.name == "south")
    }

    @Test("An object of a class that nobody named is not made: its bytes stay bytes", arguments: types)
    func unnamedClass(type: String) throws {
        let found = try roundTrip("anything", Leg("hostile", 6), type)
        #expect(found is Data)
        // The bytes survive being saved again.
        let context = try open(type)
        try context.performAndWait {
            let place = try #require(context.all("Place").first)
            place.setValue("renamed", forKey: "name")
            try context.save()
            context.refreshAllObjects()
            #expect(place.value(forKey: "anything") as? Data == found as? Data)
        }
    }

    @Test("A binary store decodes the classes of its option, or all where it is told so") func binaryOptions() throws {
        let classes: [AnyClass] = [Leg.self]
        let named = try roundTrip(
            "anything", Leg("a", 1), NSBinaryStoreType, options: [NSBinaryStoreSecureDecodingClasses: classes])
        #expect((named as? Leg)?.name == "a")
        let all = try open(NSBinaryStoreType, options: [NSBinaryStoreInsecureDecodingCompatibilityOption: true])
        try all.performAndWait {
            let leg = try all.all("Place").first?.value(forKey: "anything") as? Leg
            #expect(leg?.name == "a")
        }
    }

    @Test("A value that cannot be archived is refused when it is saved", arguments: types)
    func unarchivable(type: String) throws {
        let context = try open(type)
        context.performAndWait {
            context.make("Place", ["anything": Point(x: 1, y: 2)])
            #expect(throws: CocoaError.self) { try context.save() }
            #expect(context.hasChanges)
        }
    }

    @Test("The secure transformer gives nothing for classes that it does not allow, and for damaged archives")
    func refused() throws {
        let archive = try NSKeyedArchiver.archivedData(withRootObject: Leg("x", 1), requiringSecureCoding: false)
        let secure = try #require(ValueTransformer(forName: .secureUnarchiveFromDataTransformerName))
        #expect(secure.transformedValue(archive) == nil)
        #expect(secure.transformedValue(Data([1, 2, 3])) == nil)
        #expect(secure.transformedValue("text") == nil)
        let text = secure.reverseTransformedValue("text")
        #expect(secure.transformedValue(text) as? String == "text")
        let inside = try NSKeyedArchiver.archivedData(
            withRootObject: NSArray(array: ["a", Leg("x", 1)]), requiringSecureCoding: false)
        #expect(secure.transformedValue(inside) == nil)
    }

    @Test("Transformers are found by their names until they are taken away") func registry() {
        let name = NSValueTransformerName("Temporary")
        #expect(ValueTransformer(forName: name) == nil)
        let transformer = PointTransformer()
        ValueTransformer.setValueTransformer(transformer, forName: name)
        #expect(ValueTransformer(forName: name) === transformer)
        #expect(ValueTransformer.valueTransformerNames().contains(name))
        ValueTransformer.setValueTransformer(nil, forName: name)
        #expect(ValueTransformer(forName: name) == nil)
    }

    // Source: SyncKit, and transformers in apps that stop the program when they are asked the other way round.
    @Test("One that unarchives does so whatever class it says that it transforms to", arguments: types)
    func unarchivingToData(type: String) throws {
        #expect(try roundTrip("numbers", [1, 2, 3], type) as? [Int] == [1, 2, 3])
    }

    @Test("A store in memory needs no transformer, and no class's name")
    func inMemory() throws {
        let context = try open(NSInMemoryStoreType)
        try context.performAndWait {
            let place = NSEntityDescription.insertNewObject(forEntityName: "Place", into: context)
            place.setValue(Leg("North", 4), forKey: "unregistered")
            place.setValue(Route([Leg("South", 5)]), forKey: "anything")
            try context.save()
            context.refresh(place, mergeChanges: false)
            #expect((place.value(forKey: "unregistered") as? Leg)?.name == "North")
            #expect((place.value(forKey: "anything") as? Route)?.legs.first?.length == 5)
        }
    }

    @Test("Other stores do not save what its transformer would have to write", arguments: types)
    func unregistered(type: String) throws {
        let context = try open(type)
        context.performAndWait {
            let place = NSEntityDescription.insertNewObject(forEntityName: "Place", into: context)
            place.setValue(["a"], forKey: "unregistered")
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.localizedDescription.contains("NoSuchTransformer") == true)
        }
    }

    @Test("A composite attribute comes back with its elements", arguments: types) func composite(type: String) throws {
        let address = try roundTrip("address", ["street": "High Street", "number": 7], type) as? [String: Any]
        #expect(address?["street"] as? String == "High Street")
        #expect(address?["number"] as? Int == 7)
    }
}

struct Point: Codable, Equatable {
    var x: Double
    var y: Double
}

/// Makes bytes of values, as most transformers do.
private final class PointTransformer: ValueTransformer {
    static let name = NSValueTransformerName("PointTransformer")

    override class func transformedValueClass() -> AnyClass { NSData.self }

    override func transformedValue(_ value: Any?) -> Any? {
        (value as? Point).flatMap { try? JSONEncoder().encode($0) }
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).flatMap { try? JSONDecoder().decode(Point.self, from: $0) }
    }
}

/// Allows one class more than its superclass.
private final class RouteTransformer: NSSecureUnarchiveFromDataTransformer {
    static let name = NSValueTransformerName(rawValue: "RouteTransformer")

    override class var allowedTopLevelClasses: [AnyClass] { super.allowedTopLevelClasses + [Route.self] }
}

/// Says that it makes bytes, and makes values of bytes, as its superclass does.
private final class NumbersTransformer: NSSecureUnarchiveFromDataTransformer {
    static let name = NSValueTransformerName(rawValue: "NumbersTransformer")

    override class func transformedValueClass() -> AnyClass { NSData.self }

    override func transformedValue(_ value: Any?) -> Any? {
        (value as? Data).flatMap { super.transformedValue($0) }
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? [Int]).flatMap { super.reverseTransformedValue($0) }
    }
}

final class Leg: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let name: String
    let length: Int

    init(_ name: String, _ length: Int) {
        self.name = name
        self.length = length
    }

    func encode(with coder: NSCoder) {
        coder.encode(name as NSString, forKey: "name")
        coder.encode(length, forKey: "length")
    }

    init?(coder: NSCoder) {
        guard let name = coder.decodeObject(of: NSString.self, forKey: "name") else { return nil }
        self.name = name.description
        length = coder.decodeInteger(forKey: "length")
    }
}

/// An object with objects of another class inside.
final class Route: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let legs: [Leg]

    init(_ legs: [Leg]) { self.legs = legs }

    func encode(with coder: NSCoder) { coder.encode(NSArray(array: legs), forKey: "legs") }

    init?(coder: NSCoder) {
        legs =
            (coder.decodeObject(of: [NSArray.self, Leg.self], forKey: "legs") as? NSArray)?.compactMap { $0 as? Leg }
            ?? []
    }
}
