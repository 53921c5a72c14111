import CoreData
import Foundation
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("Inferred mapping models")
struct InferenceTests {
    private static func library() -> NSManagedObjectModel {
        makeModel(
            makeEntity(
                "Book", makeAttribute("title", .stringAttributeType), makeToOne("author", "Writer", inverse: "books")),
            makeEntity("Shelf"),
            makeEntity(
                "Writer", makeAttribute("name", .stringAttributeType), makeToMany("books", "Book", inverse: "author"))
        )
    }

    private func text(
        from model: NSManagedObjectModel = library(), _ change: (NSManagedObjectModel) -> Void
    ) throws -> String {
        let source = try #require(model.copy() as? NSManagedObjectModel)
        change(model)
        return try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: model).text
    }

    private func failure(
        from model: NSManagedObjectModel = library(), _ change: (NSManagedObjectModel) -> Void
    ) -> [String: String]? {
        do {
            _ = try text(from: model, change)
            return nil
        } catch {
            let error = error as NSError
            guard error.code == 134190 else { return ["code": "\(error.code)"] }
            return error.userInfo.compactMapValues { $0 as? String }.filter {
                ["entity", "property", "reason"].contains($0.key)
            }
        }
    }

    @Test("Entities that are the same are copied, property by property")
    func copies() throws {
        #expect(
            try text { _ in } == """
                IEM_Copy_Book: Book -> Book
                  title = FUNCTION($source, "valueForKey:" , "title")
                  author = FUNCTION($manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:" , "author", \
                FUNCTION($source, "valueForKey:" , "author"))
                IEM_Copy_Shelf: Shelf -> Shelf
                IEM_Copy_Writer: Writer -> Writer
                  name = FUNCTION($source, "valueForKey:" , "name")
                  books = FUNCTION($manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:" , "books", \
                FUNCTION($source, "valueForKey:" , "books"))
                """)
    }

    @Test(
        "Renamed entities and properties are read from their old names; new ones keep their defaults; removed ones are named"
    )
    func changes() throws {
        let mapping = try text { model in
            let writer = model.entity("Writer")
            writer.name = "Author"
            writer.renamingIdentifier = "Writer"
            let title = model.attribute("Book", "title")
            title.name = "heading"
            title.renamingIdentifier = "title"
            model.removeProperty("author", of: "Book")
            model.removeProperty("books", of: "Author")
            model.add(makeAttribute("pages", .integer16AttributeType), to: "Book")
            model.entities = model.entities.filter { $0.name != "Shelf" } + [makeEntity("Album")]
        }
        #expect(
            mapping == """
                IEM_Transform_Writer: Writer -> Author
                  name = FUNCTION($source, "valueForKey:" , "name")
                IEM_Transform_Book: Book -> Book
                  heading = FUNCTION($source, "valueForKey:" , "title")
                  pages = default
                IEM_Add_Album: nothing -> Album
                IEM_Remove_Shelf: Shelf -> nothing
                """)
    }

    @Test("Equal renaming identifiers belong together over any number of versions")
    func canonicalNames() {
        let versions = RenamingMatch.sources(
            of: [Renameable(name: "Vehicle", identifier: "Car"), Renameable(name: "Car", identifier: "Wagon")],
            in: [Renameable(name: "Automobile", identifier: "Car"), Renameable(name: "Wagon", identifier: "Wagon")])
        #expect(versions == ["Vehicle": "Automobile", "Car": "Wagon"])
    }

    @Test("A type that is not a number cannot change")
    func types() {
        let failure = failure { $0.attribute("Book", "title").attributeType = .dateAttributeType }
        #expect(
            failure == [
                "entity": "Book", "property": "title",
                "reason": "Source and destination attribute types are incompatible",
            ])
    }

    /// The places that are reported all at once, after checking that the first is the one that stops an inference.
    private func reported(_ change: (NSManagedObjectModel) -> Void) throws -> [String] {
        let failures = try failures(change)
        let thrown = failure(change)
        #expect(thrown?["entity"] == failures.first?.entity)
        #expect(thrown?["property"] == failures.first?.property)
        return failures.map { [$0.entity, $0.property].compactMap { $0 }.joined(separator: ".") }
    }

    private func failures(_ change: (NSManagedObjectModel) -> Void) throws -> [InferenceFailure] {
        let model = Self.library()
        let source = try #require(model.copy() as? NSManagedObjectModel)
        change(model)
        return MappingInference.failures(from: source, to: model)
    }

    @Test("A further attribute that takes another's values is compared with it in a report of all failures, too")
    func reportsFurtherAttributes() throws {
        let reported = try reported { model in
            let pages = makeAttribute("pages", .integer64AttributeType)
            pages.renamingIdentifier = "title"
            model.add(pages, to: "Book")
        }
        #expect(reported == ["Book.pages"])
    }

    @Test("A relationship that starts anew is no failure in a report of all")
    func reportsNoNewBeginnings() throws {
        let reported = try reported { model in
            model.relationship("Book", "author").destinationName = "Shelf"
            model.relationship("Book", "author").inverseName = nil
            model.removeProperty("books", of: "Writer")
        }
        #expect(reported.isEmpty)
    }

    @Test("An attribute that moves to a new parent and gets another type is reported for the entity that had it")
    func reportsRaisedAttributes() throws {
        let reported = try reported { model in
            model.removeProperty("title", of: "Book")
            let thing = makeEntity("Thing", makeAttribute("title", .dateAttributeType), abstract: true)
            thing.subentities = [model.entity("Book")]
            model.entities += [thing]
        }
        #expect(reported == ["Book.title"])
    }

    @Test("A to-many relationship cannot become to-one")
    func toOne() {
        #expect(failure { $0.relationship("Writer", "books").maxCount = 1 }?["property"] == "books")
    }

    @Test("A relationship may lead to another entity, and starts anew (Artsy Folio)")
    func otherDestination() throws {
        let mapping = try text { model in
            model.relationship("Book", "author").destinationName = "Shelf"
            model.relationship("Book", "author").inverseName = nil
            model.removeProperty("books", of: "Writer")
        }
        #expect(
            mapping == """
                IEM_Transform_Book: Book -> Book
                  title = FUNCTION($source, "valueForKey:" , "title")
                  author = default
                IEM_Copy_Shelf: Shelf -> Shelf
                IEM_Transform_Writer: Writer -> Writer
                  name = FUNCTION($source, "valueForKey:" , "name")
                """)
    }

    @Test("A relationship cannot lead to a subentity that only some of its objects are of")
    func someDestinations() {
        let failure = failure(from: Town.model()) { model in
            model.relationship("Pet", "owner").destinationName = "Employee"
            model.relationship("Pet", "owner").inverseName = nil
            model.removeProperty("pet", of: "Person")
        }
        #expect(failure?["entity"] == "Pet")
        #expect(failure?["property"] == "owner")
    }

    @Test("A relationship may lead to a new subentity of its former destination, and starts anew (Artsy Folio)")
    func newSubentity() throws {
        let mapping = try text { model in
            let poet = makeEntity("Poet", makeToMany("books", "Book", inverse: "author"))
            model.entity("Writer").subentities = [poet]
            model.entities += [poet]
            model.removeProperty("books", of: "Writer")
            model.relationship("Book", "author").destinationName = "Poet"
        }
        #expect(
            mapping == """
                IEM_Transform_Book: Book -> Book
                  title = FUNCTION($source, "valueForKey:" , "title")
                  author = default
                IEM_Copy_Shelf: Shelf -> Shelf
                IEM_Transform_Writer: Writer -> Writer
                  name = FUNCTION($source, "valueForKey:" , "name")
                IEM_Add_Poet: nothing -> Poet
                """)
    }

    @Test("Two hierarchies cannot become one")
    func hierarchies() {
        let failure = failure { model in
            let thing = makeEntity("Thing", abstract: true)
            thing.subentities = [model.entity("Book"), model.entity("Shelf")]
            model.entities += [thing]
        }
        #expect(failure?["entity"] == "Shelf")
    }

    @Test("A mapping model that was changed is no longer the inferred one")
    func changed() throws {
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: Town.model(), destinationModel: Town.model())
        #expect(mapping.inferredPlan != nil)
        mapping.entityMappings[0].attributeMappings?[0].valueExpression = NSExpression(forConstantValue: 1)
        #expect(mapping.inferredPlan == nil)
    }

    @Test("A hierarchy of many subentities with relationships among them is inferred at once", .timeLimit(.minutes(1)))
    func manySubentities() throws {
        func model(_ added: NSAttributeDescription...) -> NSManagedObjectModel {
            let root = makeEntity("Root", makeAttribute("name", .stringAttributeType))
            for number in 0..<5 {
                root.properties += [
                    makeToMany("many\(number)", "Root", inverse: "one\(number)"),
                    makeToOne("one\(number)", "Root", inverse: "many\(number)"),
                ]
            }
            root.properties += added
            let subentities = (0..<400).map { makeEntity("Sub\($0)", makeAttribute("a\($0)", .stringAttributeType)) }
            root.subentities = subentities
            let model = NSManagedObjectModel()
            model.entities = [root] + subentities
            return model
        }
        let plan = try MappingInference.plan(
            from: model(), to: model(makeAttribute("added", .stringAttributeType)))
        #expect(plan.entities.count == 401)
        #expect(plan.entity(destination: "Sub7")?.source(of: "many3") == "many3")
    }
}
