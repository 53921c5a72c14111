import CoreData
import TestSupport
import Testing

// Rules learned from ManagedModels, SafeFetching and Storable, which make models and predicates from Swift code.
@Suite("What libraries that make models in code rely on")
struct SchemaLibrariesRulesTests {
    @Test("A property that belongs to no entity yet has an empty entity, as a message to nil gives nothing")
    func detachedProperty() {
        let attribute = NSAttributeDescription()
        attribute.name = "title"
        #expect(attribute.entity.name == nil)
        #expect(attribute.entity.uniquenessConstraints.isEmpty)
        let entity = Library.entity("Book", [attribute])
        #expect(attribute.entity === entity)
    }

    @Test("Whole numbers in a list print without a fraction, as single ones do")
    func wholeNumbers() {
        #expect(NSPredicate(format: "score BETWEEN %@", [1.0, 10.0]).description == "score BETWEEN {1, 10}")
        #expect(NSPredicate(format: "score IN {1.0, 2.5}").description == "score IN {1, 2.5}")
        #expect(NSPredicate(format: "score IN %@", [[1.0], [2.5]]).description == "score IN {{1}, {2.5}}")
        #expect(NSPredicate(format: "score == half * 2.0").description == "score == half * 2.0")
    }

    @Test("A conflict says which object it is about, and both versions")
    func conflictDescription() throws {
        let model = NSManagedObjectModel()
        model.entities = [Library.entity("Book", [Library.attribute("title", .stringAttributeType)])]
        let book = NSManagedObject(entity: try #require(model.entities.first), insertInto: nil)
        let conflict = NSMergeConflict(
            source: book, newVersion: 3, oldVersion: 2, cachedSnapshot: ["title": "Dune"], persistedSnapshot: nil)
        #expect(conflict.description.hasPrefix("NSMergeConflict for Book with objectID '\(book.objectID)'"))
        #expect(conflict.description.contains("oldVersion = 2 and newVersion = 3"))
        #expect(conflict.description.contains("new cached row = [\"title\": \"Dune\"]"))
    }
}
