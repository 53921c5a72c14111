import CoreData
import Foundation
import PredicateFormat
import TestSupport
import Testing

private typealias NSExpression = PredicateFormat.NSExpression

@Suite("A batch update that takes large values from other attributes")
struct MovedLargeValueTests {
    private let store: BatchStore
    private static let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 11) })

    init() throws { store = try BatchStore(Self.model()) }

    /// Pictures, which may have an original: an image in a file if it is large, and a preview that never is.
    private static func model() -> NSManagedObjectModel {
        let image = makeAttribute("image", .binaryDataAttributeType)
        image.allowsExternalBinaryDataStorage = true
        return makeModel(
            makeEntity(
                "Picture", makeAttribute("name", .stringAttributeType), image,
                makeAttribute("preview", .binaryDataAttributeType),
                makeToOne("original", "Picture", inverse: "copies"),
                makeToMany("copies", "Picture", inverse: "original")))
    }

    private var files: [String] {
        let folder = store.folder.url.appendingPathComponent(".library_SUPPORT/_EXTERNAL_DATA")
        return (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    }

    private func fill() throws {
        try store.save { context in
            let original = context.make("Picture", ["name": "a", "image": Self.large, "preview": Data([2, 7])])
            context.make("Picture", ["name": "b", "original": original])
        }
    }

    private func update(_ name: String, _ property: String, _ format: String) throws {
        let request = NSBatchUpdateRequest(entityName: "Picture")
        request.predicate = NSPredicate(format: "name == %@", name)
        request.propertiesToUpdate = [property: NSExpression(format: format)]
        try store.context.performAndWait { _ = try store.context.execute(request) }
    }

    private func value(_ name: String, _ property: String) throws -> Data? {
        let context = store.container.newBackgroundContext()
        return try context.performAndWait {
            try context.all("Picture", NSPredicate(format: "name == %@", name)).first?.value(forKey: property) as? Data
        }
    }

    @Test("gives each row its own: the file of one goes without the other's value")
    func shared() throws {
        try fill()
        try update("b", "image", "original.image")
        #expect(try value("b", "image") == Self.large)
        #expect(files.count == 1)
        try store.context.performAndWait {
            let original = try store.context.all("Picture", NSPredicate(format: "name == 'a'")).first
            original?.setValue(nil, forKey: "image")
            try store.context.save()
        }
        #expect(files.isEmpty)
        #expect(try value("b", "image") == Self.large)
    }

    @Test("moves the value itself into an attribute that is never in a file, and from there into one that may be")
    func kinds() throws {
        try fill()
        try update("b", "preview", "original.image")
        #expect(try store.rows("SELECT length(ZPREVIEW) FROM ZPICTURE WHERE ZNAME = 'b'") == ["200000"])
        #expect(try value("b", "preview") == Self.large)
        try update("a", "image", "preview")
        #expect(try store.rows("SELECT hex(ZIMAGE) FROM ZPICTURE WHERE ZNAME = 'a'") == ["010207"])
        #expect(try value("a", "image") == Data([2, 7]))
        #expect(files.isEmpty)
    }

    @Test("has nothing where the other has nothing")
    func nothing() throws {
        try fill()
        try update("a", "image", "original.image")
        #expect(try store.rows("SELECT ZIMAGE IS NULL FROM ZPICTURE WHERE ZNAME = 'a'") == ["1"])
        #expect(files.isEmpty)
    }

    @Test("is refused where the other's file is missing, and changes nothing")
    func missing() throws {
        try fill()
        let folder = store.folder.url.appendingPathComponent(".library_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.removeItem(at: folder.appendingPathComponent(try #require(files.first)))
        let error = #expect(throws: (any Error).self) { try update("b", "image", "original.image") }
        #expect(error?.localizedDescription.contains("_EXTERNAL_DATA") == true)
        #expect(try store.rows("SELECT ZIMAGE IS NULL FROM ZPICTURE WHERE ZNAME = 'b'") == ["1"])
    }

    @Test("is refused where something is computed from such a value, with both names")
    func computed() throws {
        try fill()
        let error = #expect(throws: (any Error).self) {
            try update("a", "preview", "TERNARY(name == 'a', image, preview)")
        }
        #expect(error?.localizedDescription.contains("“Picture.preview” from “image”") == true)
    }
}
