import CoreData
import Foundation
import SQLGeneration

/// A model in four versions, and a store of the first: what the process migrates that is killed on the way.
package enum Bookshelf {
    /// Version 2 renames the books' price, gives them pages and drops the notes: inferred. Version 3 keeps the authors'
    /// names in capitals: by a mapping model. Version 4 gives shelves a floor: inferred.
    package static func model(_ version: Int) -> NSManagedObjectModel {
        let (book, author, shelf) = (entity("Book"), entity("Author"), entity("Shelf"))
        let cost = attribute(version >= 2 ? "cost" : "price", .doubleAttributeType)
        if version >= 2 { cost.renamingIdentifier = "price" }
        let cover = attribute("cover", .binaryDataAttributeType)
        cover.allowsExternalBinaryDataStorage = true
        let title = attribute("title", .stringAttributeType)
        title.isOptional = false
        let pages = attribute("pages", .integer32AttributeType)
        pages.isOptional = false
        pages.defaultValue = 100
        book.properties = [title, cost, cover] + (version >= 2 ? [pages] : [])
        author.properties = [attribute(version >= 3 ? "capitals" : "name", .stringAttributeType)]
        shelf.properties = [attribute("label", .stringAttributeType)]
        if version >= 4 { shelf.properties.append(attribute("floor", .integer16AttributeType)) }
        relate(book, "authors", author, "books", isToMany: true)
        relate(book, "shelf", shelf, "books", isToMany: false)
        let model = NSManagedObjectModel()
        model.entities = [book, author, shelf]
        if version == 1 {
            let note = entity("Note")
            note.properties = [attribute("text", .stringAttributeType)]
            model.entities.append(note)
        }
        model.versionIdentifiers = ["v\(version)"]
        return model
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

    /// The inverse leads to many; the relationship itself is ordered where it does, too.
    private static func relate(
        _ entity: NSEntityDescription, _ name: String, _ other: NSEntityDescription, _ inverseName: String,
        isToMany: Bool
    ) {
        let (there, back) = (NSRelationshipDescription(), NSRelationshipDescription())
        (there.name, back.name) = (name, inverseName)
        (there.destinationEntity, back.destinationEntity) = (other, entity)
        (there.inverseRelationship, back.inverseRelationship) = (back, there)
        there.maxCount = isToMany ? 0 : 1
        there.isOrdered = isToMany
        (there.isOptional, back.isOptional) = (true, true)
        entity.properties.append(there)
        other.properties.append(back)
    }

    /// The mapping model from one version to the next, with one expression that cannot be inferred.
    package static func mapping(from version: Int) throws -> NSMappingModel {
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: model(version), destinationModel: model(version + 1))
        func set(_ property: String, of entity: String, to format: String) {
            let entity = mapping.entityMappings.first { $0.destinationEntityName == entity }
            entity?.attributeMappings?.first { $0.name == property }?.valueExpression = NSExpression(format: format)
        }
        if version == 2 { set("capitals", of: "Author", to: "FUNCTION($source.name, 'uppercaseString')") }
        if version == 1 { set("pages", of: "Book", to: "$source.price * 100") }
        return mapping
    }

    /// The versions that a progressive migration knows.
    package static func versions() throws -> KnownVersions {
        KnownVersions(
            (1...4).map { KnownVersion(name: "v\($0)", model: model($0)) },
            mappings: [NamedMapping(name: "Capitals", mapping: try mapping(from: 2))])
    }

    package static var options: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: true] }

    /// Makes a store of the first version: books with authors and covers, some of them in files; a history of three
    /// saves.
    package static func makeStore(at url: URL, type: String = NSSQLiteStoreType) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(1))
        try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: url, options: type == NSSQLiteStoreType ? options : nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                for (key, value) in values { object.setValue(value, forKey: key) }
                return object
            }
            let authors = ["Ann", "Bob", "Cid"].map { make("Author", ["name": $0]) }
            let shelf = make("Shelf", ["label": "A"])
            _ = make("Note", ["text": "gone"])
            try context.save()
            var books: [NSManagedObject] = []
            for number in 0..<12 {
                // Only SQLite stores keep large values in files.
                let size = number % 4 == 0 && type == NSSQLiteStoreType ? 150_000 : 50
                let cover = Data(repeating: UInt8(number + 1), count: size)
                let book = make("Book", ["title": "Book \(number)", "price": Double(number) / 2, "cover": cover])
                book.setValue(NSOrderedSet(array: [authors[number % 3], authors[(number + 1) % 3]]), forKey: "authors")
                if number % 2 == 0 { book.setValue(shelf, forKey: "shelf") }
                books.append(book)
            }
            try context.save()
            books[1].setValue(9.5, forKey: "price")
            context.delete(books[5])
            try context.save()
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}
