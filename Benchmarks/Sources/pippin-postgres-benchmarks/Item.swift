import CoreDataPostgres
import PippinPostgres

/// What is saved, fetched and changed.
@CoreModel
struct Item: CoreModel, Equatable {
    let id: String
    var title: String
    var count: Int
    var price: Double
    var createdAt: Date
    var isFlagged: Bool

    static func make(_ number: Int) -> Item {
        Item(
            id: "item-\(number)", title: "The title of item \(number)", count: number, price: Double(number) / 4,
            createdAt: Date(timeIntervalSinceReferenceDate: Double(number)), isFlagged: number % 3 == 0)
    }
}

extension Item {
    var dictionary: [String: Any] {
        [
            "id": id, "title": title, "count": count, "price": price, "createdAt": createdAt, "isFlagged": isFlagged,
        ]
    }
}

/// The same as a managed object.
final class ItemRecord: NSManagedObject {
    @NSManaged var id: String?
    @NSManaged var title: String?
    @NSManaged var count: Int64
    @NSManaged var price: Double
    @NSManaged var createdAt: Date?
    @NSManaged var isFlagged: Bool

    func take(_ item: Item) {
        (id, title, count) = (item.id, item.title, Int64(item.count))
        (price, createdAt, isFlagged) = (item.price, item.createdAt, item.isFlagged)
    }

    static func model() -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = "Item"
        entity.managedObjectClassName = NSStringFromClass(ItemRecord.self)
        let types: [(String, NSAttributeType)] = [
            ("id", .stringAttributeType), ("title", .stringAttributeType), ("count", .integer64AttributeType),
            ("price", .doubleAttributeType), ("createdAt", .dateAttributeType), ("isFlagged", .booleanAttributeType),
        ]
        entity.properties = types.map { name, type in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType) = (name, type)
            return attribute
        }
        entity.uniquenessConstraints = [["id"]]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }
}
