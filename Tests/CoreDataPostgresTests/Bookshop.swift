import CoreDataPostgres
import Foundation
import PostgresServer
import Testing

/// Authors and their books, which have tags.
enum Bookshop {
    static let model = make(hasTags: true)

    static func make(hasTags: Bool) -> NSManagedObjectModel {
        let (author, book, tag) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        (author.name, book.name, tag.name) = ("Author", "Book", "Tag")
        author.properties = [attribute("name", .stringAttributeType), attribute("born", .dateAttributeType)]
        book.properties = [
            attribute("title", .stringAttributeType), attribute("isbn", .stringAttributeType),
            attribute("price", .decimalAttributeType), attribute("isInPrint", .booleanAttributeType),
            attribute("coverImage", .binaryDataAttributeType), attribute("id", .UUIDAttributeType),
            attribute("pageCount", .integer16AttributeType),
        ]
        tag.properties = [attribute("name", .stringAttributeType)]
        book.uniquenessConstraints = [["isbn"]]
        relate(author, "books", many: true, .cascadeDeleteRule, book, "author", many: false)
        if hasTags { relate(book, "tags", many: true, .nullifyDeleteRule, tag, "books", many: true) }
        let model = NSManagedObjectModel()
        model.entities = hasTags ? [author, book, tag] : [author, book]
        return model
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
        return attribute
    }

    private static func relate(
        _ source: NSEntityDescription, _ name: String, many: Bool, _ rule: NSDeleteRule,
        _ destination: NSEntityDescription, _ inverse: String, many isInverseMany: Bool
    ) {
        let (there, back) = (NSRelationshipDescription(), NSRelationshipDescription())
        (there.name, there.maxCount, there.deleteRule) = (name, many ? 0 : 1, rule)
        (back.name, back.maxCount, back.deleteRule) = (inverse, isInverseMany ? 0 : 1, .nullifyDeleteRule)
        (there.destinationEntity, back.destinationEntity) = (destination, source)
        (there.isOptional, back.isOptional) = (true, true)
        source.properties.append(there)
        destination.properties.append(back)
        (there.inverseRelationship, back.inverseRelationship) = (back, there)
    }

    /// A container on a database.
    static func container(_ database: TestDatabase, user: String = "postgres") throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Bookshop", managedObjectModel: model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(postgreSQL: database.url(user: user))]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        return container
    }
}

extension NSManagedObjectContext {
    /// A new object with values.
    func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    func fetch(_ entity: String, _ format: String? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0) }
        return try fetch(request)
    }
}
