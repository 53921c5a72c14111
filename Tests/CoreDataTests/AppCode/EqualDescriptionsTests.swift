import CoreData
import TestSupport
import Testing

@Suite("Descriptions and mappings that say the same are equal")
struct EqualDescriptionsTests {
    @Test("Descriptions of one store are equal, and one entry of a set; a difference in any setting makes them differ")
    func stores() throws {
        let url = URL(fileURLWithPath: "/tmp/a.sqlite")
        let one = NSPersistentStoreDescription(url: url)
        let copy = try #require(one.copy() as? NSPersistentStoreDescription)
        #expect(one == copy)
        #expect(Set([one, copy, NSPersistentStoreDescription(url: url)]).count == 1)
        #expect([one: 1][copy] == 1)
        let changes: [(NSPersistentStoreDescription) -> Void] = [
            { $0.type = NSXMLStoreType }, { $0.url = URL(fileURLWithPath: "/tmp/b.sqlite") },
            { $0.configuration = "A" }, { $0.isReadOnly = true }, { $0.shouldAddStoreAsynchronously = true },
            { $0.setValue("OFF" as NSString, forPragmaNamed: "synchronous") },
        ]
        for change in changes {
            let other = NSPersistentStoreDescription(url: url)
            change(other)
            #expect(one != other)
        }
    }

    @Test("A description without a URL is of /dev/null, and prints its type and place without a password")
    func plain() throws {
        let description = NSPersistentStoreDescription()
        #expect(description.url == URL(fileURLWithPath: "/dev/null"))
        #expect(description == NSPersistentStoreDescription())
        description.type = NSInMemoryStoreType
        #expect(description.description.hasPrefix("<NSPersistentStoreDescription: 0x"))
        #expect(description.description.hasSuffix(" (type: InMemory, url: file:///dev/null)"))
        description.url = URL(string: "postgresql://ada:secret@example.org/db")
        #expect(!description.description.contains("secret"))
        let container = try Library.container(Library.model(), NSPersistentStoreDescription())
        container.viewContext.make("Tag", ["name": "x"])
        try container.viewContext.save()
        #expect(container.persistentStoreCoordinator.persistentStores.map(\.type) == [NSSQLiteStoreType])
    }

    @Test("Fetch indexes and their elements are equal if they say the same")
    func indexes() throws {
        func element(_ property: String) throws -> NSFetchIndexElementDescription {
            let found = try #require(Library.model().entitiesByName["Book"]?.propertiesByName[property])
            return NSFetchIndexElementDescription(property: found, collationType: .binary)
        }
        func index(_ name: String = "i", _ properties: String...) throws -> NSFetchIndexDescription {
            NSFetchIndexDescription(name: name, elements: try properties.map(element))
        }
        #expect(try element("title") == element("title"))
        #expect(try element("title") != element("isbn"))
        let descending = try element("title")
        descending.isAscending = false
        #expect(try element("title") != descending)
        #expect(try index("i", "title", "isbn") == index("i", "title", "isbn"))
        #expect(try Set([index("i", "title"), index("i", "title")]).count == 1)
        #expect(try index("i", "title", "isbn") != index("i", "isbn", "title"))
        #expect(try index("i", "title") != index("j", "title"))
        let partial = try index("i", "title")
        partial.partialIndexPredicate = NSPredicate(format: "title != nil")
        #expect(try index("i", "title") != partial)
        #expect(partial.copy() as? NSFetchIndexDescription == partial)
    }

    @Test("Property and entity mappings are equal if they say the same")
    func mappings() throws {
        func property(_ path: String = "title") -> NSPropertyMapping {
            let mapping = NSPropertyMapping()
            mapping.name = "title"
            mapping.valueExpression = NSExpression(forKeyPath: path)
            mapping.userInfo = ["why": "because"]
            return mapping
        }
        func entity(_ path: String = "title") -> NSEntityMapping {
            let mapping = NSEntityMapping()
            (mapping.sourceEntityName, mapping.destinationEntityName) = ("Book", "Volume")
            mapping.attributeMappings = [property(path)]
            return mapping
        }
        #expect(property() == property())
        #expect(property() != property("isbn"))
        #expect(entity() == entity())
        #expect(Set([entity(), entity()]).count == 1)
        #expect(entity() != entity("isbn"))
        let model = Library.model()
        let (one, other) = try (
            NSMappingModel.inferredMappingModel(forSourceModel: model, destinationModel: model),
            NSMappingModel.inferredMappingModel(forSourceModel: model, destinationModel: model)
        )
        #expect(one.entityMappings == other.entityMappings)
        let policied = entity()
        policied.entityMigrationPolicyClassName = "App.Policy"
        #expect(entity() != policied)
    }
}
