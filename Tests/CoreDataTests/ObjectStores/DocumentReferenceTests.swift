import CoreData
import Foundation
import TestSupport
import Testing

/// What XML and binary stores do with references to what is gone, with their metadata, and with each other's saves.
@Suite("References and metadata in XML and binary stores")
struct DocumentReferenceTests {
    static let types = [NSXMLStoreType, NSBinaryStoreType]
    let library: DocumentStoreTests
    private var url: URL { library.folder.file("library") }

    init() throws { library = try DocumentStoreTests() }

    /// Books with a cover and pictures, to which no inverse leads back.
    private static func model() -> NSManagedObjectModel {
        let book = Library.entity("Book", [Library.attribute("title", .stringAttributeType)])
        let image = Library.entity("Image", [Library.attribute("name", .stringAttributeType)])
        for (name, isToMany) in [("cover", false), ("pictures", true)] {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.maxCount = isToMany ? 0 : 1
            relationship.destinationEntity = image
            book.properties.append(relationship)
        }
        let model = NSManagedObjectModel()
        model.entities = [book, image]
        return model
    }

    @Test(
        "After an object was deleted, relationships without an inverse lead to nothing, and the file opens",
        arguments: types)
    func deletedDestination(type: String) throws {
        let context = try library.open(type, Self.model())
        try context.performAndWait {
            let (front, back) = (context.make("Image", ["name": "front"]), context.make("Image", ["name": "back"]))
            let book = context.make("Book", ["title": "T", "cover": front])
            book.setValue(Set([front, back]), forKey: "pictures")
            try context.save()
            context.delete(front)
            try context.save()
            #expect(try context.all("Book", NSPredicate(format: "cover.name == 'front'")).isEmpty)
        }
        let reopened = try library.open(type, Self.model())
        try reopened.performAndWait {
            let book = try #require(try reopened.all("Book").first)
            #expect(book.value(forKey: "cover") == nil)
            #expect(book.objects("pictures").map { $0.string("name") } == ["back"])
        }
    }

    @Test("New metadata leave an XML file's objects as they are, with types and destinations")
    func metadata() throws {
        try library.saveLibrary(NSXMLStoreType)
        func objects() throws -> String {
            let text = try String(contentsOf: url, encoding: .utf8)
            return String(text[try #require(text.range(of: "<object")).lowerBound...])
        }
        let before = try objects()
        #expect(before.contains("type=\"int16\"") && before.contains("destination=\"BOOK\""))
        try NSPersistentStoreCoordinator.setMetadata(
            ["colour": "<green>"], forPersistentStoreOfType: NSXMLStoreType, at: url)
        #expect(try objects() == before)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSXMLStoreType, at: url)
        #expect(metadata["colour"] as? String == "<green>")
        let context = try library.open(NSXMLStoreType)
        #expect(try context.performAndWait { try context.all("Book").count } == 2)
    }

    @Test("Of saves at the same moment none is lost: each is in the file, or was refused", .ownThread, arguments: types)
    func sameMoment(type: String) throws {
        try library.saveLibrary(type)
        let work = DispatchGroup()
        nonisolated(unsafe) var saved: [[String]] = Array(repeating: [], count: 2)  // each writer has its own element
        let library = library
        for writer in 0..<2 {
            let names = (0..<40).map { "\(writer)-\($0)" }
            DispatchQueue.global().async(group: work) {
                var mine: [String] = []
                for name in names {
                    guard let context = try? library.open(type) else { continue }
                    context.performAndWait {
                        context.make("Tag", ["name": name])
                        if (try? context.save()) != nil { mine.append(name) }
                    }
                }
                saved[writer] = mine
            }
        }
        work.wait()
        let context = try library.open(type)
        let found = try context.performAndWait { try Set(context.all("Tag").compactMap { $0.string("name") }) }
        #expect(Set(saved.joined()).subtracting(found).isEmpty)
        #expect(!saved.joined().isEmpty)
    }
}
