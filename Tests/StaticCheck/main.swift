import CoreData

// What a server ships is linked with a static Swift runtime and Foundation, which lack some of what the shared ones can
// do. This program creates a store of each kind, with history, saves values of every kind, opens it again, and migrates
// it.

/// An object that archives itself.
final class Place: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let name: String
    let neighbours: [String]
    let height: Double

    init(name: String, neighbours: [String], height: Double) {
        self.name = name
        self.neighbours = neighbours
        self.height = height
    }

    init?(coder: NSCoder) {
        name = coder.decodeObject(forKey: "name") as? String ?? ""
        neighbours = coder.decodeObject(forKey: "neighbours") as? [String] ?? []
        height = coder.decodeDouble(forKey: "height")
    }

    func encode(with coder: NSCoder) {
        coder.encode(name as NSString, forKey: "name")
        coder.encode(neighbours as NSArray, forKey: "neighbours")
        coder.encode(height, forKey: "height")
    }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? Place else { return false }
        return name == other.name && neighbours == other.neighbours && height == other.height
    }

    override var hash: Int { name.hashValue }
}

final class PlaceTransformer: NSSecureUnarchiveFromDataTransformer, @unchecked Sendable {
    // @unchecked Sendable: no state of its own.
    override class var allowedTopLevelClasses: [AnyClass] { [Place.self, NSArray.self, NSString.self] }
}

/// Values of every kind that a store keeps.
func values() -> [(name: String, type: NSAttributeType, value: NSObject)] {
    [
        ("boolean", .booleanAttributeType, NSNumber(value: true)),
        ("bytes", .binaryDataAttributeType, NSData(data: Data([1, 2, 3]))),
        ("count", .integer64AttributeType, NSNumber(value: 4_000_000_000)),
        ("date", .dateAttributeType, NSDate(timeIntervalSinceReferenceDate: 1000.5)),
        ("identifier", .UUIDAttributeType, NSUUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F") ?? NSUUID()),
        ("list", .transformableAttributeType, NSArray(array: ["a", "b", NSNumber(value: 3)])),
        ("number", .doubleAttributeType, NSNumber(value: 1.5)),
        ("place", .transformableAttributeType, Place(name: "Ulm", neighbours: ["Neu-Ulm"], height: 478)),
        ("price", .decimalAttributeType, NSDecimalNumber(string: "9.99")),
        ("text", .stringAttributeType, NSString(string: "Ümläute <&>")),
        ("url", .URIAttributeType, NSURL(fileURLWithPath: "/tmp/a")),
    ]
}

func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    if name == "place" { attribute.valueTransformerName = "PlaceTransformer" }
    return attribute
}

func makeModel(adding added: [String] = []) -> NSManagedObjectModel {
    let entity = NSEntityDescription()
    entity.name = "Thing"
    entity.properties =
        values().map { attribute($0.name, $0.type) } + added.map { attribute($0, .stringAttributeType) }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    model.versionIdentifiers = ["1"]
    return model
}

func fail(_ what: String) -> Never {
    print("static check: \(what)")
    exit(1)
}

func open(_ type: String, _ url: URL, _ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    var options: [AnyHashable: Any] = [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
    ]
    if type == NSSQLiteStoreType { options[NSPersistentHistoryTrackingKey] = true }
    try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
}

func check(_ type: String, in folder: URL) throws {
    let url = folder.appendingPathComponent("\(type).store")
    let context = try open(type, url, makeModel())
    try context.performAndWait {
        let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
        for (name, _, value) in values() { thing.setValue(value, forKey: name) }
        try context.save()
    }
    // Only an SQLite store has the copy of its model that a migration without the former model needs.
    for added in type == NSSQLiteStoreType ? [[], ["note"]] : [[]] {
        let again = try open(type, url, makeModel(adding: added))
        try again.performAndWait {
            let found = try again.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing"))
            guard found.count == 1 else { fail("\(type): \(found.count) objects instead of 1") }
            for (name, _, value) in values() {
                let stored = found[0].value(forKey: name)
                guard let stored, value.isEqual(stored) else {
                    fail("\(type): \(name) is \(stored ?? "nil") instead of \(value)")
                }
            }
            guard type == NSSQLiteStoreType else { return }
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try again.execute(request) as? NSPersistentHistoryResult
            guard (result?.result as? [NSPersistentHistoryTransaction])?.isEmpty == false else {
                fail("there is no history")
            }
        }
    }
}

ValueTransformer.setValueTransformer(PlaceTransformer(), forName: NSValueTransformerName("PlaceTransformer"))
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pippin-static-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
for type in [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType] {
    do { try check(type, in: folder) } catch { fail("\(type): \(error)") }
}
print("stores of a program that is linked statically: all is well")
