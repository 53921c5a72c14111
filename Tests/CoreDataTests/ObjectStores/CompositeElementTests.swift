import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel

/// Notes with a style, a composite of a colour and a name; some with a large image.
private enum Notes {
    static func model(transformer: String? = nil, withImage: Bool = false) -> NSManagedObjectModel {
        let colour = makeAttribute("colour", .transformableAttributeType)
        colour.valueTransformerName = transformer
        let style = NSCompositeAttributeDescription()
        (style.name, style.isOptional) = ("style", true)
        style.elements = [colour, makeAttribute("name", .stringAttributeType)]
        if withImage {
            let image = makeAttribute("image", .binaryDataAttributeType)
            image.allowsExternalBinaryDataStorage = true
            style.elements.append(image)
        }
        return makeModel(makeEntity("Note", makeAttribute("text", .stringAttributeType), style))
    }
}

@Suite("Transformable elements of composite attributes in XML and binary stores")
struct CompositeElementTests {
    private let library: DocumentStoreTests
    private var url: URL { library.folder.file("library") }

    init() throws { library = try DocumentStoreTests() }

    /// What the file has of the first note's colour.
    private func colour(_ type: String) throws -> StoreDocument.FileValue? {
        let note = try DocumentStore.contents(of: url, type: type).objects.min { $0.key < $1.key }
        return note?.attributes.first { $0.name == "style.colour" }?.value
    }

    private func saveRed(_ type: String) throws {
        let context = try library.open(type, Notes.model())
        try context.performAndWait {
            context.make("Note", ["style": ["colour": MacColour(red: 0.5), "name": "red"], "text": "a"])
            try context.save()
        }
    }

    @Test(
        "stay as they are where their class is not allowed, when something else is saved",
        arguments: DocumentStoreTests.types)
    func forbiddenClass(type: String) throws {
        try saveRed(type)
        let before = try #require(try colour(type))
        for round in 0..<2 {
            let context = try library.open(type, Notes.model())
            try context.performAndWait {
                context.make("Note", ["text": "\(round)"])
                try context.save()
            }
            #expect(try colour(type) == before)
        }
    }

    @Test(
        "stay as they are when another element or attribute of the object is changed",
        arguments: DocumentStoreTests.types)
    func otherElement(type: String) throws {
        try saveRed(type)
        let before = try #require(try colour(type))
        let context = try library.open(type, Notes.model())
        try context.performAndWait {
            let note = try #require(try context.all("Note").first)
            note.setValue("b", forKey: "text")
            try context.save()
            note.setValue("crimson", forKeyPath: "style.name")
            try context.save()
            #expect((note.value(forKey: "style") as? [String: Any])?["colour"] is Data)
            #expect(try context.all("Note", NSPredicate(format: "style.colour == nil")).isEmpty)
            #expect(try context.all("Note", NSPredicate(format: "style.name == 'crimson'")).count == 1)
        }
        #expect(try colour(type) == before)
        let open = try library.open(
            type, Notes.model(), options: [NSBinaryStoreInsecureDecodingCompatibilityOption: true])
        try open.performAndWait {
            let style = try #require(try open.all("Note").first?.value(forKey: "style") as? [String: Any])
            #expect((style["colour"] as? MacColour)?.red == 0.5)
            #expect(style["name"] as? String == "crimson")
        }
    }

    @Test(
        "do not keep a document from being saved where their transformer is not known",
        arguments: DocumentStoreTests.types)
    func unknownTransformer(type: String) throws {
        try saveRed(type)
        let before = try #require(try colour(type))
        let context = try library.open(
            type, Notes.model(transformer: "OfAnotherProgram"), options: [NSIgnorePersistentStoreVersioningOption: true]
        )
        try context.performAndWait {
            context.make("Note", ["text": "b"])
            try context.all("Note", by: "text").first?.setValue("first", forKey: "text")
            try context.save()
        }
        #expect(try colour(type) == before)
    }

    @Test(
        "take another value, or none",
        arguments: DocumentStoreTests.types)
    func otherValue(type: String) throws {
        try saveRed(type)
        let context = try library.open(type, Notes.model())
        try context.performAndWait {
            let note = try #require(try context.all("Note").first)
            note.setValue(["colour": ["red"], "name": "red"], forKey: "style")
            try context.save()
        }
        let again = try library.open(type, Notes.model())
        try again.performAndWait {
            let note = try #require(try again.all("Note").first)
            #expect((note.value(forKey: "style") as? [String: Any])?["colour"] as? [String] == ["red"])
            note.setValue(["name": "red"], forKey: "style")
            try again.save()
        }
        #expect(try colour(type) == nil)
    }
}

@Suite("Elements of composite attributes that SQLite stores keep")
struct StoredElementTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func context(_ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
        try Library.stored(at: folder.store, model).newBackgroundContext()
    }

    /// The hexadecimal bytes of the only note's element.
    private func bytes(_ element: String) throws -> String {
        let columns = try plainSQL("SELECT name FROM pragma_table_info('ZNOTE')", in: folder.store)
        let column = try #require(columns.first { $0.uppercased().contains(element.uppercased()) })
        return try #require(try plainSQL("SELECT hex(\(column)) FROM ZNOTE", in: folder.store).first)
    }

    private func rename(_ model: NSManagedObjectModel) throws {
        let context = try context(model)
        try context.performAndWait {
            let note = try #require(try context.all("Note").first)
            note.setValue("crimson", forKeyPath: "style.name")
            try context.save()
        }
    }

    @Test("Bytes of a class that is not allowed stay as they are when another element is changed")
    func forbiddenClass() throws {
        let first = try context(Notes.model())
        try first.performAndWait {
            first.make("Note", ["style": ["colour": MacColour(red: 0.5), "name": "red"]])
            try first.save()
        }
        let before = try bytes("colour")
        try rename(Notes.model())
        #expect(try bytes("colour") == before)
        #expect(try bytes("name") == "6372696D736F6E")
    }

    @Test("A value whose file is missing is there again with its file, after another element was changed")
    func missingFile() throws {
        let model = Notes.model(withImage: true)
        let image = PhotoStore.bytes
        let first = try context(model)
        try first.performAndWait {
            first.make("Note", ["style": ["image": image, "name": "red"]])
            try first.save()
        }
        let before = try bytes("image")
        let files = folder.url.appendingPathComponent(".store_SUPPORT/_EXTERNAL_DATA")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: files.path).first)
        let (file, elsewhere) = (files.appendingPathComponent(name), folder.file("elsewhere"))
        try FileManager.default.moveItem(at: file, to: elsewhere)
        try rename(model)
        #expect(try bytes("image") == before)
        try FileManager.default.moveItem(at: elsewhere, to: file)
        let last = try context(model)
        try last.performAndWait {
            let style = try #require(try last.all("Note").first?.value(forKey: "style") as? [String: Any])
            #expect(style["image"] as? Data == image)
            #expect(style["name"] as? String == "crimson")
        }
    }
}
