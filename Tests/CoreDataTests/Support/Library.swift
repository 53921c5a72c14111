import CoreData

/// A small library: authors with books, books with tags and ordered chapters, and one place for each book.
enum Library {
    static func model() -> NSManagedObjectModel {
        let author = entity(
            "Author",
            [
                attribute("name", .stringAttributeType, optional: false),
                attribute("age", .integer16AttributeType),
                attribute("rating", .doubleAttributeType, defaultValue: 1.5),
                attribute("isLiving", .booleanAttributeType, defaultValue: true),
                attribute("born", .dateAttributeType),
                attribute("token", .UUIDAttributeType),
                attribute("photo", .binaryDataAttributeType),
                attribute("wealth", .decimalAttributeType),
                attribute("homepage", .URIAttributeType),
                attribute("nickname", .stringAttributeType, transient: true),
            ])
        let book = entity(
            "Book",
            [
                attribute("title", .stringAttributeType),
                attribute("isbn", .stringAttributeType),
                attribute("price", .doubleAttributeType),
            ])
        let comic = entity("Comic", [attribute("artist", .stringAttributeType)])
        let tag = entity("Tag", [attribute("name", .stringAttributeType)])
        let chapter = entity("Chapter", [attribute("title", .stringAttributeType)])
        let shelf = entity("Shelf", [attribute("code", .stringAttributeType)])
        book.subentities = [comic]
        connect(author, "books", toMany: true, deleteRule: .cascadeDeleteRule, book, "author")
        connect(book, "tags", toMany: true, tag, "books", inverseToMany: true)
        connect(book, "chapters", toMany: true, ordered: true, deleteRule: .cascadeDeleteRule, chapter, "book")
        connect(book, "shelf", toMany: false, shelf, "book")
        let model = NSManagedObjectModel()
        model.entities = [author, book, comic, tag, chapter, shelf]
        return model
    }

    /// A container with a store in memory, loaded.
    static func inMemory(_ model: NSManagedObjectModel = model()) throws -> NSPersistentContainer {
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        return try container(model, description)
    }

    /// A container with a store in a file, loaded.
    static func stored(at url: URL, _ model: NSManagedObjectModel = model()) throws -> NSPersistentContainer {
        try container(model, NSPersistentStoreDescription(url: url))
    }

    static func container(
        _ model: NSManagedObjectModel, _ description: NSPersistentStoreDescription
    ) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
        container.persistentStoreDescriptions = [description]
        nonisolated(unsafe) var failure: (any Error)?  // written before loadPersistentStores returns
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        return container
    }

    static func entity(_ name: String, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = properties
        return entity
    }

    static func attribute(
        _ name: String, _ type: NSAttributeType, optional: Bool = true, transient: Bool = false,
        defaultValue: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        attribute.isTransient = transient
        attribute.defaultValue = defaultValue
        return attribute
    }

    static func connect(
        _ source: NSEntityDescription, _ name: String, toMany: Bool, ordered: Bool = false,
        deleteRule: NSDeleteRule = .nullifyDeleteRule, _ destination: NSEntityDescription, _ inverseName: String,
        inverseToMany: Bool = false, inverseRule: NSDeleteRule = .nullifyDeleteRule
    ) {
        let forward = NSRelationshipDescription()
        forward.name = name
        forward.maxCount = toMany ? 0 : 1
        forward.isOrdered = ordered
        forward.deleteRule = deleteRule
        forward.destinationEntity = destination
        let back = NSRelationshipDescription()
        back.name = inverseName
        back.maxCount = inverseToMany ? 0 : 1
        back.deleteRule = inverseRule
        back.destinationEntity = source
        source.properties = source.properties + [forward]
        destination.properties = destination.properties + [back]
        forward.inverseRelationship = back
        back.inverseRelationship = forward
    }
}

extension NSManagedObjectContext {
    /// A new object with values.
    @discardableResult
    func make(_ entity: String, _ values: [String: Any?] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    /// All objects of an entity that satisfy a predicate, in order of a key.
    func all(_ entity: String, _ predicate: NSPredicate? = nil, by key: String? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = predicate
        request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return try fetch(request)
    }
}

extension NSManagedObject {
    func string(_ key: String) -> String? { value(forKey: key) as? String }
    func objects(_ key: String) -> Set<NSManagedObject> { value(forKey: key) as? Set<NSManagedObject> ?? [] }
}
