import CoreData
import Foundation

/// A model with every kind of property, in two versions, and a store of the first with a few objects.
enum Sample {
    static var options: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: true] }

    /// Version 2 renames a column, gives items another, and drops one.
    static func model(_ version: Int) -> NSManagedObjectModel {
        let (item, comic, part) = (entity("Item"), entity("Comic"), entity("Part"))
        let (tag, owner) = (entity("Tag"), entity("Owner"))
        item.subentities = [comic]
        item.properties = attributes(of: version)
        item.uniquenessConstraints = [["code"]]
        comic.properties = [attribute("artist", .stringAttributeType)]
        part.properties = [attribute("name", .stringAttributeType)]
        tag.properties = [attribute("name", .stringAttributeType)]
        owner.properties = [
            attribute("name", .stringAttributeType),
            derived("itemCount", .integer64AttributeType, "items.@count"),
        ]
        relate(item, "owner", owner, "items", isToMany: false)
        relate(item, "parts", part, "item", isToMany: true, isOrdered: true, inverseIsToMany: false)
        relate(item, "tags", tag, "items", isToMany: true)
        relate(item, "similar", item, "similarTo", isToMany: true, isOrdered: true)
        relate(owner, "favorite", item, "admirers", isToMany: false)
        let model = NSManagedObjectModel()
        model.entities = [item, comic, part, tag, owner]
        return model
    }

    private static func attributes(of version: Int) -> [NSPropertyDescription] {
        let price = attribute(version == 1 ? "price" : "cost", .doubleAttributeType)
        price.renamingIdentifier = "price"
        let cover = attribute("cover", .binaryDataAttributeType)
        cover.allowsExternalBinaryDataStorage = true
        let title = attribute("title", .stringAttributeType)
        let token = attribute("token", .UUIDAttributeType)
        for kept in [title, token] { kept.preservesValueInHistoryOnDeletion = true }
        let place = NSCompositeAttributeDescription()
        place.name = "place"
        place.isOptional = true
        place.elements = [attribute("latitude", .doubleAttributeType), attribute("label", .stringAttributeType)]
        let last = attribute(
            version == 1 ? "note" : "pages", version == 1 ? .stringAttributeType : .integer32AttributeType)
        return [
            title, token, price, cover, place, last, attribute("code", .stringAttributeType),
            attribute("count", .integer16AttributeType), attribute("total", .integer64AttributeType),
            attribute("flag", .booleanAttributeType), attribute("ratio", .floatAttributeType),
            attribute("wealth", .decimalAttributeType), attribute("made", .dateAttributeType),
            attribute("link", .URIAttributeType), attribute("extra", .transformableAttributeType),
            derived("upper", .stringAttributeType, "uppercase:(title)"),
        ]
    }

    private static func entity(_ name: String) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        return entity
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    private static func derived(_ name: String, _ type: NSAttributeType, _ format: String) -> NSAttributeDescription {
        let attribute = NSDerivedAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        attribute.derivationExpression = NSExpression(format: format)
        return attribute
    }

    private static func relate(
        _ entity: NSEntityDescription, _ name: String, _ other: NSEntityDescription, _ inverseName: String,
        isToMany: Bool, isOrdered: Bool = false, inverseIsToMany: Bool = true
    ) {
        let (there, back) = (NSRelationshipDescription(), NSRelationshipDescription())
        (there.name, back.name) = (name, inverseName)
        (there.destinationEntity, back.destinationEntity) = (other, entity)
        (there.inverseRelationship, back.inverseRelationship) = (back, there)
        (there.maxCount, back.maxCount) = (isToMany ? 0 : 1, inverseIsToMany ? 0 : 1)
        there.isOrdered = isOrdered
        (there.isOptional, back.isOptional) = (true, true)
        entity.properties.append(there)
        other.properties.append(back)
    }

    /// Makes a store of the first version: five items, and a history of three saves.
    static func make(at url: URL, type: String, options: [AnyHashable: Any]?) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(1))
        let store = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: url, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try fill(context) }
        try coordinator.remove(store)
    }

    private static func fill(_ context: NSManagedObjectContext) throws {
        func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            for (key, value) in values { object.setValue(value, forKey: key) }
            return object
        }
        let owners = ["Ann", "Bob"].map { make("Owner", ["name": $0]) }
        let tags = ["red", "blue"].map { make("Tag", ["name": $0]) }
        var items: [NSManagedObject] = []
        for number in 0..<5 {
            let item = make(number == 3 ? "Comic" : "Item", values(number))
            item.setValue(owners[number % 2], forKey: "owner")
            item.setValue(NSSet(array: Array(tags.prefix(number % 3))), forKey: "tags")
            let parts = (0..<number).map { make("Part", ["name": "part \($0)"]) }
            item.setValue(NSOrderedSet(array: parts), forKey: "parts")
            item.setValue(NSOrderedSet(array: items), forKey: "similar")
            items.append(item)
        }
        owners[0].setValue(items[3], forKey: "favorite")
        try context.save()
        items[1].setValue("changed", forKey: "title")
        try context.save()
        context.delete(items[0])
        try context.save()
    }

    /// The values of an item.
    static func values(_ number: Int) -> [String: Any] {
        [
            "title": "Title \(number)", "code": "c\(number)", "count": number, "total": number * 1_000_000,
            "flag": number % 2 == 0, "ratio": Float(number) / 4, "price": Double(number) * 1.5,
            "wealth": Decimal(number) / 8, "made": Date(timeIntervalSinceReferenceDate: Double(number) * 1e6),
            "token": UUID(), "link": URL(fileURLWithPath: "/a/\(number)"), "note": "n",
            "cover": Data(repeating: UInt8(number), count: number == 2 ? 140_000 : 20),
            "extra": ["a", "b"] as NSArray, "place": ["latitude": 1.5, "label": "here"],
        ]
    }
}
