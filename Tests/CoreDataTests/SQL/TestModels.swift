import Foundation
import PredicateFormat
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

/// Writes models down in a few lines: entities with attributes and relationships, linked when the model is complete.
func makeModel(_ entities: NSEntityDescription...) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
}

func makeEntity(_ name: String, _ properties: NSPropertyDescription..., abstract: Bool = false) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.isAbstract = abstract
    entity.properties = properties
    return entity
}

func makeAttribute(_ name: String, _ type: NSAttributeType, transient: Bool = false) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    attribute.isTransient = transient
    return attribute
}

func makeDerived(_ name: String, _ type: NSAttributeType, _ expression: PredicateFormat.NSExpression)
    -> NSDerivedAttributeDescription
{
    let attribute = NSDerivedAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    attribute.derivationExpression = expression
    return attribute
}

func makeToOne(_ name: String, _ destination: String, inverse: String?) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.maxCount = 1
    relationship.isOptional = true
    relationship.destinationName = destination
    relationship.inverseName = inverse
    return relationship
}

func makeToMany(
    _ name: String, _ destination: String, inverse: String?, ordered: Bool = false
) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.isOptional = true
    relationship.isOrdered = ordered
    relationship.destinationName = destination
    relationship.inverseName = inverse
    return relationship
}

extension NSEntityDescription {
    func with(constraint names: String...) -> NSEntityDescription {
        uniquenessConstraints.append(names)
        return self
    }

    func with(index name: String, _ properties: String...) -> NSEntityDescription {
        indexes.append(
            NSFetchIndexDescription(
                name: name,
                elements: properties.map { NSFetchIndexElementDescription(propertyName: $0, collationType: .binary) }))
        return self
    }

    func with(sub subentities: NSEntityDescription...) -> NSEntityDescription {
        self.subentities = subentities
        return self
    }
}

/// The models of the fixtures, as far as they show in the schema.
enum FixtureModel {
    static func users() -> NSManagedObjectModel {
        makeModel(
            makeEntity(
                "User", makeAttribute("name", .stringAttributeType), makeAttribute("petName", .stringAttributeType)))
    }

    static func cars() -> NSManagedObjectModel {
        let expensive = makeEntity("ExpensiveSportCar", makeAttribute("isLimitedEdition", .booleanAttributeType))
        let sport = makeEntity("SportCar").with(sub: expensive)
        let car = makeEntity(
            "Car", makeAttribute("color", .transformableAttributeType),
            makeAttribute("currentDrivingSpeed", .integer64AttributeType, transient: true),
            makeAttribute("maker", .stringAttributeType), makeAttribute("markedForDeletionAsOf", .dateAttributeType),
            makeAttribute("model", .stringAttributeType), makeAttribute("numberPlate", .stringAttributeType),
            makeToOne("owner", "Person", inverse: "cars")
        ).with(constraint: "numberPlate").with(sub: sport)
        let person = makeEntity(
            "Person", makeAttribute("firstName", .stringAttributeType), makeAttribute("id", .UUIDAttributeType),
            makeAttribute("lastName", .stringAttributeType), makeAttribute("updatedAt", .dateAttributeType),
            makeToMany("cars", "Car", inverse: "owner")
        ).with(constraint: "firstName", "lastName")
        return makeModel(car, person, sport, expensive)
    }

    static func bookmarks() -> NSManagedObjectModel {
        let isPending = makeAttribute("isPendingDeletion", .booleanAttributeType)
        // As Xcode compiles an attribute that is the only one of an index.
        isPending.isIndexed = true
        return makeModel(
            makeEntity(
                "BookmarkEntity", makeAttribute("isFolder", .booleanAttributeType), isPending,
                makeAttribute("modifiedAt", .dateAttributeType), makeAttribute("title", .stringAttributeType),
                makeAttribute("url", .stringAttributeType), makeAttribute("uuid", .stringAttributeType),
                makeToMany("children", "BookmarkEntity", inverse: "parent", ordered: true),
                makeToOne("favoriteFolder", "BookmarkEntity", inverse: "favorites"),
                makeToMany("favorites", "BookmarkEntity", inverse: "favoriteFolder", ordered: true),
                makeToOne("parent", "BookmarkEntity", inverse: "children")
            ).with(index: "byUUID", "uuid", "isPendingDeletion").with(index: "byURL", "url", "isPendingDeletion")
                .with(index: "byIsPendingDeletion", "isPendingDeletion"))
    }

    static func books(pagesCount: NSAttributeDescription) -> NSManagedObjectModel {
        let novel = makeEntity("GraphicNovel", makeAttribute("isBlackAndWhite", .booleanAttributeType))
        let book = makeEntity(
            "Book", makeAttribute("cover", .transformableAttributeType), pagesCount,
            makeAttribute("price", .decimalAttributeType), makeAttribute("publishedAt", .dateAttributeType),
            makeAttribute("title", .stringAttributeType), makeAttribute("uniqueID", .UUIDAttributeType),
            makeToOne("author", "Author", inverse: "books"), makeToMany("pages", "Page", inverse: "book")
        ).with(constraint: "uniqueID").with(sub: novel)
        let page = makeEntity(
            "Page", makeAttribute("content", .transformableAttributeType),
            makeAttribute("isBookmarked", .booleanAttributeType),
            makeAttribute("number", .integer32AttributeType), makeToOne("book", "Book", inverse: "pages"))
        let feedback = makeEntity(
            "Feedback", makeAttribute("authorAlias", .stringAttributeType), makeAttribute("bookID", .UUIDAttributeType),
            makeAttribute("comment", .stringAttributeType), makeAttribute("rating", .doubleAttributeType))
        let author = makeEntity(
            "Author", makeAttribute("alias", .stringAttributeType), makeAttribute("siteURL", .URIAttributeType),
            makeToMany("books", "Book", inverse: "author")
        ).with(constraint: "alias")
        let writer = makeEntity("Writer", makeAttribute("age", .integer16AttributeType)).with(sub: author)
        return makeModel(book, novel, page, feedback, writer, author)
    }
}

/// The folder of the stores that Apple's tools made; nil where it is absent.
let fixtures: URL? = Fixtures.areThere ? Fixtures.folder : nil

let fixturesAreAbsent: Comment = "the fixtures are absent: set PIPPIN_FIXTURES to their folder"
