import Foundation

/// The entities of history requests. They belong to no model: each caller gets its own.
enum HistoryEntities {
    static let transactionName = "TRANSACTION"
    static let changeName = "CHANGE"

    static func transaction() -> NSEntityDescription {
        entity(
            transactionName,
            [
                ("author", .stringAttributeType), ("bundleID", .stringAttributeType),
                ("contextName", .stringAttributeType), ("processID", .stringAttributeType),
                ("storeID", .stringAttributeType), ("timestamp", .dateAttributeType),
                ("token", .integer64AttributeType), ("transactionNumber", .integer64AttributeType),
            ])
    }

    static func change() -> NSEntityDescription {
        entity(
            changeName,
            [
                ("changeID", .integer64AttributeType), ("changeType", .integer64AttributeType),
                ("changedEntity", .integer64AttributeType), ("changedID", .integer64AttributeType),
                ("changedObjectID", .objectIDAttributeType),
            ])
    }

    private static func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = attributes.map { name, type in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            return attribute
        }
        return entity
    }

    static func request(_ entity: NSEntityDescription?) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = entity
        return request
    }
}
