import CoreData
import CoreDataModel
import TestSupport
import Testing

@Suite("Names in a model that is changed")
struct DescriptionNameTests {
    private func copy() throws -> NSManagedObjectModel {
        let model = Library.model()
        model.setEntities([try #require(model.entitiesByName["Author"])], forConfigurationName: "People")
        return try #require(model.copy() as? NSManagedObjectModel)
    }

    @Test("Relationships of a copied model lead where they led when an entity gets another name")
    func entity() throws {
        let copy = try copy()
        let author = try #require(copy.entitiesByName["Author"])
        let books = try #require(author.relationshipsByName["books"])
        author.name = "Writer"
        let inverse = try #require(copy.entitiesByName["Book"]?.relationshipsByName["author"])
        #expect(inverse.destinationEntity === author)
        #expect(inverse.inverseRelationship === books)
        #expect(books.inverseRelationship === inverse)
        #expect(copy.entities(forConfigurationName: "People") == [author])
        let container = try Library.inMemory(copy)
        #expect(container.managedObjectModel.entitiesByName["Writer"] != nil)
    }

    @Test("So they do when a relationship gets another name, and when two entities swap theirs")
    func others() throws {
        let copy = try copy()
        let (author, book) = (
            try #require(copy.entitiesByName["Author"]), try #require(copy.entitiesByName["Book"])
        )
        let (books, inverse) = (
            try #require(author.relationshipsByName["books"]), try #require(book.relationshipsByName["author"])
        )
        books.name = "works"
        #expect(inverse.inverseRelationship === books)
        (author.name, book.name) = ("Spare", "Author")
        author.name = "Book"
        #expect(inverse.destinationEntity === author)
        #expect(books.destinationEntity === book)
        #expect(inverse.inverseRelationship === books)
    }

    @Test("A name with a NUL character in it is an error that names the entity", arguments: [true, false])
    func nul(inEntity: Bool) throws {
        let copy = try copy()
        let tag = try #require(copy.entitiesByName["Tag"])
        if inEntity { tag.name = "Ta\0g" } else { tag.attributesByName["name"]?.name = "na\0me" }
        let error = #expect(throws: NSError.self) { try copy.compiledLayout() }
        let place = inEntity ? "entity “Ta\\0g”" : "property “na\\0me” of entity “Tag”"
        #expect(
            error?.localizedDescription == "The model cannot be used: \(place) has a NUL character in its name.")
    }

    /// A model of books with all that names a property or an entity.
    private func named() -> NSManagedObjectModel {
        let title = Library.attribute("title", .stringAttributeType)
        let element = NSFetchIndexElementDescription(property: title, collationType: .binary)
        title.name = "name"
        let book = Library.entity("Book", [title])
        book.indexes = [NSFetchIndexDescription(name: "byName", elements: [element])]
        book.uniquenessConstraints = [["name"]]
        book.compoundIndexes = [["name"]]
        let similar = NSFetchedPropertyDescription()
        similar.name = "similar"
        similar.fetchRequest = NSFetchRequest(entityName: "Book")
        book.properties.append(similar)
        let model = NSManagedObjectModel()
        model.entities = [book]
        model.setFetchRequestTemplate(NSFetchRequest(entityName: "Book"), forName: "all")
        return model
    }

    @Test("What names a property follows it, also in a copy; two that swap their names keep their indexes")
    func indexes() throws {
        let model = named()
        #expect(model.entitiesByName["Book"]?.indexes.first?.elements.first?.propertyName == "name")
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        let book = try #require(copy.entitiesByName["Book"])
        let name = try #require(book.attributesByName["name"])
        name.name = "heading"
        let element = try #require(book.indexes.first?.elements.first)
        #expect(element.propertyName == "heading")
        #expect(element.property === name)
        #expect(book.uniquenessConstraints as? [[String]] == [["heading"]])
        #expect(book.compoundIndexes as? [[String]] == [["heading"]])
        #expect(model.entitiesByName["Book"]?.indexes.first?.elements.first?.propertyName == "name")

        let other = Library.attribute("other", .stringAttributeType)
        book.properties.append(other)
        (name.name, other.name) = ("spare", "heading")
        name.name = "other"
        #expect(element.propertyName == "other")
    }

    @Test("A store of a model with names that changed keeps a copy of it that a migration can read")
    func migration() throws {
        try inTestFolder { folder in
            let url = folder.appendingPathComponent("books.sqlite")
            func next() throws -> NSManagedObjectModel {
                let copy = try #require(named().copy() as? NSManagedObjectModel)
                let book = try #require(copy.entitiesByName["Book"])
                book.name = "Volume"
                book.attributesByName["name"]?.name = "heading"
                return copy
            }
            try Library.stored(at: url, next()).viewContext.performAndWait {}
            let changed = try next()
            changed.entitiesByName["Volume"]?.properties.append(Library.attribute("pages", .integer32AttributeType))
            #expect(throws: Never.self) { try Library.stored(at: url, changed) }
        }
    }

    @Test("Names that lead nowhere keep no model from a store; the copy that the store keeps leaves them out")
    func leadingNowhere() throws {
        try inTestFolder { folder in
            let url = folder.appendingPathComponent("books.sqlite")
            func incomplete() -> NSManagedObjectModel {
                let model = named()
                let tag = Library.entity("Tag", [Library.attribute("name", .stringAttributeType)])
                model.entities.append(tag)
                model.setEntities(model.entities, forConfigurationName: "All")
                model.entities.removeAll { $0 === tag }
                model.setFetchRequestTemplate(NSFetchRequest(entityName: "Lost"), forName: "lost")
                model.setFetchRequestTemplate(NSFetchRequest(), forName: "any")
                let (similar, book) = (NSFetchedPropertyDescription(), model.entities.first)
                similar.name = "elsewhere"
                similar.fetchRequest = NSFetchRequest(entityName: "Lost")
                book?.properties.append(similar)
                let gone = NSFetchIndexElementDescription(
                    property: Library.attribute("gone", .stringAttributeType), collationType: .binary)
                book?.indexes.append(NSFetchIndexDescription(name: "byGone", elements: [gone]))
                return model
            }
            let model = incomplete()
            #expect(throws: Never.self) { try Library.inMemory(model) }
            let container = try Library.stored(at: url, model)
            let context = container.newBackgroundContext()
            try context.performAndWait {
                context.make("Book", ["name": "T"])
                try context.save()
            }
            #expect(model.fetchRequestTemplatesByName.count == 3)
            #expect(throws: Never.self) { try Library.stored(at: url, incomplete()) }
            let changed = incomplete()
            changed.entitiesByName["Book"]?.properties.append(Library.attribute("pages", .integer32AttributeType))
            let migrated = try Library.stored(at: url, changed).newBackgroundContext()
            #expect(try migrated.performAndWait { try migrated.all("Book").map { $0.string("name") } } == ["T"])
        }
    }

    @Test("An entity goes with its model, though a fetched property's request is for it", arguments: 0..<4)
    func released(how: Int) throws {
        weak var book: NSEntityDescription?
        do {
            let model = named()
            let comic = Library.entity("Comic", [])
            let related = NSFetchedPropertyDescription()
            related.name = "related"
            related.fetchRequest = NSFetchRequest(entityName: "Book")
            comic.properties = [related]
            model.entities.first?.subentities = [comic]
            model.entities.append(comic)
            let copy: NSManagedObjectModel?
            switch how {
            case 0: copy = model.copy() as? NSManagedObjectModel
            case 1: copy = NSManagedObjectModel(byMerging: [model])
            case 2:
                related.fetchRequest?.entity = model.entities.first
                copy = model
            default:
                model.entities.first?.name = "Volume"
                copy = model
            }
            book = copy?.entities.first { $0.superentity == nil }
            let request = (copy?.entitiesByName["Comic"]?.propertiesByName["related"] as? NSFetchedPropertyDescription)?
                .fetchRequest
            #expect(book != nil && request?.entity === book)
            #expect(request?.entityName == (how == 3 ? "Volume" : "Book"))
            #expect((request?.copy() as? NSFetchRequest<any NSFetchRequestResult>)?.entity === book)
        }
        #expect(book == nil)
    }

    @Test(
        "Templates and fetched properties of a copy, of a merged model and of one from a file lead to its own entities")
    func requests() throws {
        let model = named()
        let merged = try #require(NSManagedObjectModel(byMerging: [model]))
        let copy = try #require(merged.copy() as? NSManagedObjectModel)
        for one in [merged, copy] {
            let book = try #require(one.entitiesByName["Book"])
            #expect(one.fetchRequestTemplate(forName: "all")?.entity === book)
            let similar = book.propertiesByName["similar"] as? NSFetchedPropertyDescription
            #expect(similar?.fetchRequest?.entity === book)
            book.name = "Volume"
            #expect(one.fetchRequestTemplate(forName: "all")?.entityName == "Volume")
            #expect(similar?.fetchRequest?.entityName == "Volume")
        }
        let book = try #require(copy.entitiesByName["Volume"])
        copy.fetchRequestTemplate(forName: "all")?.fetchLimit = 7
        #expect(merged.fetchRequestTemplate(forName: "all")?.fetchLimit == 0)
        let context = try Library.inMemory(copy).viewContext
        let entity = try #require(copy.fetchRequestTemplate(forName: "all")?.entity)
        context.performAndWait { #expect(NSManagedObject(entity: entity, insertInto: context).entity === book) }
    }

    @Test("An entity that is taken out of its parent loses what it inherited")
    func formerChild() {
        let (parent, child) = (
            Library.entity("Parent", [Library.attribute("name", .stringAttributeType)]), Library.entity("Child", [])
        )
        parent.subentities = [child]
        #expect(child.propertiesByName["name"] != nil)
        parent.subentities = []
        #expect(child.propertiesByName.isEmpty)
    }
}
