import CoreData
import CoreDataModel
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
}
