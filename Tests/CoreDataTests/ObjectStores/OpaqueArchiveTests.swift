import Foundation
import ModelFiles
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel

@Suite("Transformable values in XML and binary stores")
struct OpaqueArchiveTests {
    private let library: DocumentStoreTests
    private var url: URL { library.folder.file("library") }

    init() throws { library = try DocumentStoreTests() }

    private static func model() -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = [
            Library.entity(
                "Note",
                [
                    Library.attribute("colour", .transformableAttributeType),
                    Library.attribute("text", .stringAttributeType),
                ])
        ]
        return model
    }

    /// Saves another text of all notes.
    private func saveText(_ type: String) throws {
        for text in ["first", "second"] {
            let context = try library.open(type, Self.model())
            try context.performAndWait {
                for note in try context.all("Note") { note.setValue(text, forKey: "text") }
                try context.save()
            }
        }
    }

    /// The first places of the objects.
    private func places() throws -> [ArchivedValue] {
        try CoreDataBinaryFile.document(of: Data(contentsOf: url)).objects.sorted { $0.key < $1.key }
            .compactMap { $0.places?.first }
    }

    @Test("One of a class that is not known here stays as it is when something else is saved")
    func unknownClass() throws {
        var builder = KeyedArchiveBuilder()
        let red = builder.add(classNames: ["NSColor", "NSObject"], fields: ["NSRed": .real(0.5)])
        let values = [[red, builder.string("a")]]
        try MacBinaryFile("Note", values: values, in: builder).data.write(to: url)
        try saveText(NSBinaryStoreType)
        guard case .object(let colour) = try #require(try places().first) else {
            Issue.record("it is not an object")
            return
        }
        #expect(colour.classNames.first == "NSColor")
        #expect(colour.fields["NSRed"] == .real(0.5))
    }

    @Test("One of a class that is not allowed stays as it is", arguments: DocumentStoreTests.types)
    func forbiddenClass(type: String) throws {
        let context = try library.open(type, Self.model())
        try context.performAndWait {
            context.make("Note", ["colour": MacColour(red: 0.5)])
            try context.save()
        }
        try saveText(type)
        let closed = try library.open(type, Self.model())
        try closed.performAndWait {
            let note = try #require(try closed.all("Note").first)
            #expect(note.value(forKey: "colour") is Data)
            #expect(try closed.all("Note", NSPredicate(format: "colour == nil")).isEmpty)
            let request = NSFetchRequest<NSDictionary>(entityName: "Note")
            (request.resultType, request.propertiesToFetch) = (.dictionaryResultType, ["colour"])
            #expect(try closed.fetch(request).first?["colour"] is Data)
        }
        let options = [NSBinaryStoreInsecureDecodingCompatibilityOption: true]
        let open = try library.open(type, Self.model(), options: options)
        try open.performAndWait {
            let note = try #require(try open.all("Note").first)
            #expect((note.value(forKey: "colour") as? MacColour)?.red == 0.5)
            #expect(note.string("text") == "second")
        }
    }

    @Test("A text and a number keep their class when something else is saved")
    func plainValues() throws {
        let nodes = [
            MacBinaryNode("Note", 1, ["red", "a"]), MacBinaryNode("Note", 2, [7, "b"]),
            MacBinaryNode("Note", 3, [["red"], "c"]),
        ]
        try MacBinaryFile(nodes, entities: ["Note"]).data.write(to: url)
        try saveText(NSBinaryStoreType)
        let context = try library.open(NSBinaryStoreType, Self.model())
        try context.performAndWait {
            let values = try context.all("Note").sorted { $0.objectID.key < $1.objectID.key }
                .map { $0.value(forKey: "colour") }
            #expect(values[0] as? String == "red")
            #expect(values[1] as? Int == 7)
            #expect(values[2] as? [String] == ["red"])
        }
        let kinds = try places().map(\.kind)
        #expect(kinds == ["a string", "an integer", "an object of the class NSArray"])
    }

    @Test("Bytes that a transformer made stay bytes, even if they are an archive, and so are new ones")
    func transformedBytes() throws {
        let bytes = try SecureUnarchiving.archive(of: ["red"] as NSArray)
        let others = try SecureUnarchiving.archive(of: ["green"] as NSArray)
        ValueTransformer.setValueTransformer(ArchivingTransformer(), forName: .init("OpaqueArchiveTests.archiving"))
        for transformer in ["OpaqueArchiveTests.archiving", "OpaqueArchiveTests.unknown"] {
            let nodes = [MacBinaryNode("Note", 1, [bytes, "a"]), MacBinaryNode("Note", 2, [others, "b"])]
            try MacBinaryFile(nodes, entities: ["Note"]).data.write(to: url)
            let model = Self.model()
            let colour = model.entitiesByName["Note"]?.attributesByName["colour"]
            colour?.valueTransformerName = transformer
            let context = try library.open(NSBinaryStoreType, model)
            try context.performAndWait {
                let notes = try context.all("Note", by: "text")
                notes[0].setValue("first", forKey: "text")
                if transformer.hasSuffix("archiving") {
                    #expect(notes[0].value(forKey: "colour") as? [String] == ["red"])
                    context.make("Note", ["colour": ["blue"], "text": "c"])
                }
                try context.save()
            }
            let found = try places()
            #expect(found.count == (transformer.hasSuffix("archiving") ? 3 : 2))
            for value in found {
                guard case .plain(.data) = value else {
                    Issue.record("it is \(value.kind)")
                    continue
                }
            }
            if case .plain(.data(let first)) = found[0] { #expect(first == bytes) }
        }
    }

    @Test("Bytes without a transformer are the value, even if they are an archive")
    func plainBytes() throws {
        let bytes = try SecureUnarchiving.archive(of: ["red"] as NSArray)
        let nodes = [MacBinaryNode("Note", 1, [bytes, "a"]), MacBinaryNode("Note", 2, [["green"], "b"])]
        try MacBinaryFile(nodes, entities: ["Note"]).data.write(to: url)
        try saveText(NSBinaryStoreType)
        let kinds = try places().map(\.kind)
        #expect(kinds == ["data", "an object of the class NSArray"])
        let context = try library.open(NSBinaryStoreType, Self.model())
        try context.performAndWait {
            let values = try context.all("Note").sorted { $0.objectID.key < $1.objectID.key }
                .map { $0.value(forKey: "colour") }
            #expect(values[0] as? Data == bytes)
            #expect(values[1] as? [String] == ["green"])
        }
    }

    @Test("Several objects may share a large one")
    func shared() throws {
        var builder = KeyedArchiveBuilder()
        let icon = builder.add(
            classNames: ["NSImage", "NSObject"], fields: ["NS.bytes": .data(Data(repeating: 1, count: 100_000))])
        let text = builder.string("a")
        try MacBinaryFile("Note", values: Array(repeating: [icon, text], count: 200), in: builder).data.write(to: url)
        let context = try library.open(NSBinaryStoreType, Self.model())
        try context.performAndWait {
            let sizes = try context.all("Note").map { ($0.value(forKey: "colour") as? Data)?.count ?? 0 }
            #expect(sizes.filter { $0 > 100_000 }.count == 200)
        }
    }

    @Test("A small file that would take gigabytes is refused; its metadata are read", arguments: [true, false])
    func hostile(isShared: Bool) throws {
        var builder = KeyedArchiveBuilder()
        let blob = builder.scalar(.data(Data(repeating: 1, count: 1 << 20)))
        let text = builder.string("a")
        let one = builder.add(classNames: ["NSImage", "NSObject"], fields: ["NS.bytes": blob])
        let values = (0..<20_000).map { _ in
            let image = isShared ? one : builder.add(classNames: ["NSImage", "NSObject"], fields: ["NS.bytes": blob])
            return [image, text]
        }
        let file = try MacBinaryFile("Note", values: values, in: builder)
        #expect(file.data.count < 4 << 20)
        try file.data.write(to: url)
        let error = #expect(throws: CocoaError.self) { try library.open(NSBinaryStoreType, Self.model()) }
        #expect(error?.code == .fileReadCorruptFile)
        #expect(error?.localizedDescription.contains("share large values too often") == true)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSBinaryStoreType, at: url)
        #expect(metadata[NSStoreTypeKey] as? String == NSBinaryStoreType)
    }
}

/// Makes a keyed archive of its own, as many programs do.
private final class ArchivingTransformer: ValueTransformer {
    override class func allowsReverseTransformation() -> Bool { true }

    override func transformedValue(_ value: Any?) -> Any? {
        value.flatMap { try? SecureUnarchiving.archive(of: $0) }
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).flatMap { try? SecureUnarchiving.object(in: $0, allowed: .onlyBasic) }
    }
}
