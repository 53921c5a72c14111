import CoreData
import CoreDataModel
import Testing

// Apps find the version of a store by comparing `entitiesByName` of models that they read twice.
@MainActor @Suite("Equality of descriptions")
struct DescriptionEqualityTests {
    @Test("Entities of two models that are the same are equal, and have one hash (BookPlayer)")
    func sameModel() throws {
        let (one, other) = (Library.model(), Library.model())
        #expect(one.entitiesByName == other.entitiesByName)
        #expect(Set(one.entities) == Set(other.entities))
        let (book, otherBook) = (try #require(one.entitiesByName["Book"]), try #require(other.entitiesByName["Book"]))
        #expect(book.propertiesByName == otherBook.propertiesByName)
        #expect(book != one.entitiesByName["Comic"])
        #expect(!book.isEqual(book.propertiesByName["title"]))
    }

    @Test("A copy is equal, until anything in it is changed")
    func copies() throws {
        let model = Library.model()
        let changes: [(NSEntityDescription) -> Void] = [
            { $0.isAbstract = true },
            { $0.managedObjectClassName = "Novel" },
            { $0.versionHashModifier = "2" },
            { $0.renamingIdentifier = "Volume" },
            { $0.userInfo = ["key": "value"] },
            { $0.uniquenessConstraints = [["isbn"]] },
            { $0.attributesByName["title"]?.defaultValue = "untitled" },
            { $0.attributesByName["title"]?.userInfo = ["key": "value"] },
            {
                $0.attributesByName["title"]?.setValidationPredicates(
                    [NSPredicate(format: "length > 3")], withValidationWarnings: ["short"])
            },
            { $0.relationshipsByName["tags"]?.deleteRule = .denyDeleteRule },
            { $0.properties.removeLast() },
        ]
        for (number, change) in changes.enumerated() {
            let copy = try #require(model.copy() as? NSManagedObjectModel)
            let book = try #require(copy.entitiesByName["Book"])
            #expect(book == model.entitiesByName["Book"], "\(number)")
            change(book)
            #expect(book != model.entitiesByName["Book"], "\(number)")
            #expect(copy.entitiesByName != model.entitiesByName, "\(number)")
        }
    }

    @Test("Properties are compared by name, kind and settings")
    func properties() {
        let title = Library.attribute("title", .stringAttributeType)
        #expect(title == Library.attribute("title", .stringAttributeType))
        #expect(title == title.copy() as? NSAttributeDescription)
        #expect(title != Library.attribute("name", .stringAttributeType))
        #expect(title != Library.attribute("title", .dateAttributeType))
        #expect(title != Library.attribute("title", .stringAttributeType, optional: false))
        let derived = NSDerivedAttributeDescription()
        (derived.name, derived.attributeType) = ("title", .stringAttributeType)
        #expect(title != derived)
    }

    @Test("Computed columns are compared by their expressions and types, fetched properties by their requests")
    func computed() {
        func column(_ format: String, _ type: NSAttributeType = .doubleAttributeType) -> NSExpressionDescription {
            let column = NSExpressionDescription()
            (column.name, column.expression, column.expressionResultType) = ("c", NSExpression(format: format), type)
            return column
        }
        #expect(column("price * 2") == column("price * 2"))
        #expect(column("price * 2") != column("price * 3"))
        #expect(column("price * 2") != column("price * 2", .integer64AttributeType))

        func fetched(_ entity: String) -> NSFetchedPropertyDescription {
            let property = NSFetchedPropertyDescription()
            property.name = "related"
            property.fetchRequest = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
            return property
        }
        #expect(fetched("Book") == fetched("Book"))
        #expect(fetched("Book") != fetched("Tag"))
    }

    @Test("A default that is Swift's value is the number object that a file has in its place")
    func numberObjects() {
        func entity(_ defaults: [Any]) -> NSEntityDescription {
            let types: [NSAttributeType] = [.booleanAttributeType, .doubleAttributeType, .integer16AttributeType]
            return Library.entity(
                "Film",
                zip(types, defaults).enumerated().map { number, attribute in
                    Library.attribute("a\(number)", attribute.0, defaultValue: attribute.1)
                })
        }
        let films = entity([true, 2.0, 3])
        #expect(films == entity([true, 2.0, 3].map { $0 as NSNumber }))
        #expect(films != entity([false, 2.0, 3].map { $0 as NSNumber }))
    }

    @Test("Defaults are compared to the last byte and the fraction of a second, warnings and requests by their content")
    func defaults() {
        func model(
            _ data: UInt8 = 1, seconds: Double = 0, warning: String = "short", limit: Int = 0
        ) -> NSManagedObjectModel {
            let title = Library.attribute("title", .stringAttributeType)
            title.setValidationPredicates([NSPredicate(format: "length > 3")], withValidationWarnings: [warning])
            let fetched = NSFetchedPropertyDescription()
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
            request.fetchLimit = limit
            (fetched.name, fetched.fetchRequest) = ("others", request)
            let model = NSManagedObjectModel()
            model.entities = [
                Library.entity(
                    "Book",
                    [
                        title, fetched,
                        Library.attribute("cover", .binaryDataAttributeType, defaultValue: Data([data])),
                        Library.attribute(
                            "made", .dateAttributeType,
                            defaultValue: Date(timeIntervalSinceReferenceDate: seconds)),
                    ])
            ]
            return model
        }
        #expect(model() == model())
        #expect(model() != model(2))
        #expect(model() != model(seconds: 0.25))
        #expect(model() != model(warning: "long"))
        #expect(model() != model(limit: 3))
    }

    @Test("A model that read its checksum from a file has another one when an entity is removed")
    func checksum() throws {
        let model = Library.model()
        let hashes = model.entityVersionHashesByName
        model.recordVersionHashes(hashes)
        model.recordedVersionChecksum = "recorded"
        #expect(model.versionChecksum == "recorded")
        model.entities.removeLast()
        #expect(model.versionChecksum == VersionHash.checksum(of: model))
    }
}
