import Foundation
import SwiftData
import Testing

@Suite("A schema")
struct SchemaTests {
    @Test("has the classes that are related to those that are named")
    func related() {
        let schema = Schema([Book.self])
        #expect(schema.entities.map(\.name) == ["Author", "Book", "Review"])
        #expect(schema.version == Schema.Version(1, 0, 0))
        #expect(schema.entity(for: Book.self)?.name == "Book")
        #expect(Schema.entityName(for: Scheduler.Task.self) == "Task")
    }

    @Test("finds the inverse that a relationship names, and the one that only one can be")
    func inverses() throws {
        let schema = Schema([Book.self])
        let book = try #require(schema.entitiesByName["Book"])
        #expect(book.relationshipsByName["reviews"]?.inverseName == "book")
        #expect(book.relationshipsByName["reviews"]?.deleteRule == .cascade)
        #expect(book.relationshipsByName["author"]?.inverseName == "books")
        #expect(schema.entitiesByName["Author"]?.relationshipsByName["books"]?.inverseName == "author")
        #expect(schema.entitiesByName["Review"]?.relationshipsByName["book"]?.inverseName == "reviews")
    }

    @Test("describes attributes with their types, options and initial values")
    func attributes() throws {
        let book = try #require(Schema([Book.self]).entitiesByName["Book"])
        #expect(book.attributesByName["isbn"]?.isUnique == true)
        #expect(book.attributesByName["price"]?.isOptional == true)
        #expect(book.attributesByName["year"]?.defaultValue as? Int == 1800)
        #expect(book.attributesByName["isOpen"] == nil)
        let size = try #require(book.attributesByName["size"] as? Schema.CompositeAttribute)
        #expect(size.properties.map(\.name) == ["width", "height"])
        #expect(book.uniquenessConstraints == [["isbn"]])
        #expect(book.indices == [["title"], ["year", "title"]])
    }

    @Test("is the same after it was encoded and decoded, and after it was saved to a file")
    func coded() throws {
        let schema = Schema([Book.self], version: Schema.Version(1, 2, 3))
        let decoded = try JSONDecoder().decode(Schema.self, from: JSONEncoder().encode(schema))
        #expect(decoded == schema)
        #expect(decoded.version == Schema.Version(1, 2, 3))
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try schema.save(to: file)
        #expect(try Schema.load(from: file) == schema)
    }

    @Test("names types in its JSON, and has the classes of its entities, where public code looks for them")
    func reflection() throws {
        struct Coded: Decodable {
            let entities: [Entity]
            struct Entity: Decodable {
                let name: String
                let attributes: [Property]
                let relationships: [Property]
            }
            struct Property: Decodable {
                let name: String
                let valueTypeName: String
            }
        }
        let schema = Schema([Book.self])
        let coded = try JSONDecoder().decode(Coded.self, from: JSONEncoder().encode(schema))
        let book = try #require(coded.entities.first { $0.name == "Book" })
        #expect(book.attributes.first { $0.name == "title" }?.valueTypeName == "SS")
        #expect(book.attributes.first { $0.name == "year" }?.valueTypeName == "Si")
        #expect(_typeByName(book.relationships.first { $0.name == "reviews" }?.valueTypeName ?? "") is [Review].Type)
        let entity = try #require(schema.entitiesByName["Book"])
        #expect(Mirror(reflecting: entity).descendant("_objectType") as? any PersistentModel.Type is Book.Type)
    }

    @Test("names the property whose type cannot be kept")
    func problem() {
        #expect(throws: SwiftDataError.loadIssueModelContainer) {
            try ModelContainer(for: Painting.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        }
    }

    @Test("has the stored properties of a subclass with those that it inherits, as a public custom store reads them")
    func inheritedProperties() throws {
        // The schema keeps the entities.
        let schema = Schema([BusinessTrip.self])
        let entity = try #require(schema.entitiesByName["BusinessTrip"])
        #expect(entity.storedProperties.map(\.name) == ["name", "days", "traveller", "perdiem"])
        #expect(entity.storedPropertiesByName["name"] != nil)
        #expect(entity.inheritedProperties.map(\.name) == ["name", "days", "traveller"])
        entity.storedProperties.append(Schema.Attribute(name: "extra", valueType: Int.self))
        #expect(entity.attributes.map(\.name).sorted() == ["extra", "perdiem"])
        #expect(entity.superentity?.attributes.count == 2)
    }
}

/// A model with a value of which a transformer, which nobody registers, would make bytes.
@Model
final class Painting {
    @Attribute(.transformable(by: "NobodysTransformer")) var colour: NSObject?

    init() {}
}

@Suite("An identifier")
struct IdentifierTests {
    @Test("is coded as Apple's is")
    func coded() throws {
        let text = """
            {"implementation":{"entityName":"Item","isTemporary":false,"primaryKey":"p7",\
            "storeIdentifier":"E621E1F8-C36C-495A-93FC-0C247A3E6E5F",\
            "uriRepresentation":"x-coredata:\\/\\/E621E1F8-C36C-495A-93FC-0C247A3E6E5F\\/Item\\/p7"}}
            """
        let identifier = try JSONDecoder().decode(PersistentIdentifier.self, from: Data(text.utf8))
        #expect(identifier.entityName == "Item")
        #expect(identifier.storeIdentifier == "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(identifier), as: UTF8.self) == text)
        let same = try PersistentIdentifier.identifier(
            for: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F", entityName: "Item", primaryKey: "p7")
        #expect(same == identifier)
        #expect(same.hashValue == identifier.hashValue)
    }

    @Test("leads to its model after it was encoded and decoded")
    func found() throws {
        let library = try Library()
        let item = Item(timestamp: .now)
        library.context.insert(item)
        try library.context.save()
        let data = try JSONEncoder().encode(item.persistentModelID)
        let identifier = try JSONDecoder().decode(PersistentIdentifier.self, from: data)
        #expect(library.context.registeredModel(for: identifier) as Item? === item)
    }
}

@Suite("A configuration")
struct ConfigurationTests {
    @Test("is refused if its name is too long or cannot be a file's")
    func names() {
        #expect(throws: SwiftDataError.configurationFileNameTooLong) {
            try ModelConfiguration(String(repeating: "a", count: 300)).validate()
        }
        #expect(throws: SwiftDataError.configurationFileNameContainsInvalidCharacters) {
            try ModelConfiguration("a/b").validate()
        }
    }

    @Test("has a name, and a file of that name in the program's folder")
    func file() {
        let configuration = ModelConfiguration("Library")
        #expect(configuration.url.lastPathComponent == "Library.store")
        #expect(ModelConfiguration().url.lastPathComponent == "default.store")
        #expect(ModelConfiguration(isStoredInMemoryOnly: true).isStoredInMemoryOnly)
    }

    @Test("keeps a part of the models in a store of their own")
    func parts() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pippin-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let items = ModelConfiguration(
            "items", schema: Schema([Item.self]), url: folder.appendingPathComponent("items.store"))
        let books = ModelConfiguration(
            "books", schema: Schema([Book.self]), url: folder.appendingPathComponent("books.store"))
        let container = try ModelContainer(for: Schema([Item.self, Book.self]), configurations: items, books)
        let context = ModelContext(container)
        let (item, book) = (Item(timestamp: .now), Book(isbn: "1", title: "Emma"))
        context.insert(item)
        context.insert(book)
        try context.save()
        #expect(item.persistentModelID.storeIdentifier != book.persistentModelID.storeIdentifier)
        #expect(throws: SwiftDataError.configurationSchemaNotFoundInContainerSchema) {
            try ModelContainer(for: Schema([Item.self]), configurations: books)
        }
        #expect(throws: SwiftDataError.duplicateConfiguration) {
            try ModelContainer(for: Schema([Item.self]), configurations: items, items)
        }
    }

    @Test("refuses changes if it forbids saving")
    func readOnly() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pippin-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("items.store")
        _ = try ModelContainer(for: Item.self, configurations: ModelConfiguration(url: url))
        let container = try ModelContainer(
            for: Item.self, configurations: ModelConfiguration(url: url, allowsSave: false))
        let context = ModelContext(container)
        context.insert(Item(timestamp: .now))
        #expect(throws: (any Error).self) { try context.save() }
    }
}
