import CoreData

/// What is saved, fetched and changed: a record class as anyone would write it.
final class Item: NSManagedObject {
    @NSManaged var uid: String?
    @NSManaged var title: String?
    @NSManaged var count: Int64
    @NSManaged var price: Double
    @NSManaged var createdAt: Date?
    @NSManaged var isFlagged: Bool
}

/// The entity that everything is measured with, built in code: six attributes, one of them the unique key.
enum ItemModel {
    static func make() -> NSManagedObjectModel {
        let item = NSEntityDescription()
        item.name = "Item"
        item.managedObjectClassName = NSStringFromClass(Item.self)
        item.properties = [
            attribute("uid", .stringAttributeType),
            attribute("title", .stringAttributeType),
            attribute("count", .integer64AttributeType),
            attribute("price", .doubleAttributeType),
            attribute("createdAt", .dateAttributeType),
            attribute("isFlagged", .booleanAttributeType),
        ]
        item.uniquenessConstraints = [["uid"]]
        let model = NSManagedObjectModel()
        model.entities = [item]
        return model
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        return attribute
    }
}
