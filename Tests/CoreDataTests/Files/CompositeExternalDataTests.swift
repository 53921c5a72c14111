import CoreData
import TestSupport
import Testing

@Suite("Elements of composite attributes with large values in files")
struct CompositeExternalDataTests {
    private static let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    private let folder: TestFolder
    private var files: URL { folder.url.appendingPathComponent(".store_SUPPORT/_EXTERNAL_DATA") }

    init() throws { folder = try TestFolder() }

    private static func model(withCover: Bool = true) -> NSManagedObjectModel {
        func large(_ name: String) -> NSAttributeDescription {
            let attribute = Library.attribute(name, .binaryDataAttributeType)
            attribute.allowsExternalBinaryDataStorage = true
            return attribute
        }
        let (cover, back) = (NSCompositeAttributeDescription(), NSCompositeAttributeDescription())
        (cover.name, cover.isOptional, back.name, back.isOptional) = ("cover", true, "back", true)
        back.elements = [large("scan")]
        cover.elements = [Library.attribute("artist", .stringAttributeType), large("front"), back]
        let title = Library.attribute("title", .stringAttributeType)
        let model = NSManagedObjectModel()
        model.entities = [Library.entity("Book", withCover ? [title, cover] : [title])]
        return model
    }

    private func context(_ model: NSManagedObjectModel = model()) throws -> NSManagedObjectContext {
        try Library.stored(at: folder.store, model).newBackgroundContext()
    }

    private func names() throws -> Set<String> {
        guard FileManager.default.fileExists(atPath: files.path) else { return [] }
        return Set(try FileManager.default.contentsOfDirectory(atPath: files.path))
    }

    /// Saves a book with two large values.
    ///
    /// - Returns: the context, and the names of the files.
    @discardableResult
    private func makeBook() throws -> (NSManagedObjectContext, Set<String>) {
        let context = try context()
        try context.performAndWait {
            context.make(
                "Book",
                ["title": "Emma", "cover": ["artist": "Ann", "front": Self.large, "back": ["scan": Self.large]]])
            try context.save()
        }
        let made = try names()
        #expect(made.count == 2)
        return (context, made)
    }

    private func changeBook(in context: NSManagedObjectContext, _ change: (NSManagedObject) -> Void) throws {
        try context.performAndWait {
            change(try #require(try context.all("Book").first))
            try context.save()
        }
    }

    @Test("Their files go with the row")
    func deletion() throws {
        let (context, _) = try makeBook()
        try changeBook(in: context) { context.delete($0) }
        #expect(try names().isEmpty)
    }

    @Test("Their files go when the value is replaced or removed", arguments: [true, false])
    func replacement(isRemoved: Bool) throws {
        let (context, former) = try makeBook()
        try changeBook(in: context) {
            $0.setValue(isRemoved ? nil : ["front": Self.large + [1], "back": ["scan": Data([2])]], forKey: "cover")
        }
        let left = try names()
        #expect(left.isDisjoint(with: former))
        #expect(left.count == (isRemoved ? 0 : 1))
    }

    @Test("Their files stay when another attribute changes")
    func otherAttribute() throws {
        let (context, former) = try makeBook()
        try changeBook(in: context) { $0.setValue("Persuasion", forKey: "title") }
        #expect(try names() == former)
    }

    @Test("Their files stay when a save fails")
    func failure() throws {
        let (context, former) = try makeBook()
        try execute(
            "CREATE TRIGGER stop BEFORE UPDATE ON ZBOOK BEGIN SELECT RAISE(ABORT, 'no'); END", in: folder.store)
        #expect(throws: (any Error).self) { try changeBook(in: context) { $0.setValue(nil, forKey: "cover") } }
        #expect(try names() == former)
    }

    @Test("Their files go with a batch deletion, and with a batch update", arguments: [true, false])
    func batches(deletes: Bool) throws {
        let (context, _) = try makeBook()
        try context.performAndWait {
            if deletes {
                let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
                try context.execute(NSBatchDeleteRequest(fetchRequest: request))
            } else {
                let request = NSBatchUpdateRequest(entityName: "Book")
                request.propertiesToUpdate = ["cover": ["artist": "Bea"]]
                try context.execute(request)
            }
        }
        #expect(try names().isEmpty)
    }

    @Test("Their files go with the attribute when a store is migrated without it")
    func migration() throws {
        try makeBook()
        let context = try context(Self.model(withCover: false))
        #expect(try context.performAndWait { try context.all("Book").first?.string("title") } == "Emma")
        #expect(try names().isEmpty)
    }

    @Test("A value whose file is missing stays with the row when another element changes, and is there with its file")
    func missing() throws {
        let (_, former) = try makeBook()
        let front = try #require(
            try plainSQL("SELECT substr(ZFRONT, 2, 36) FROM ZBOOK", in: folder.store).first.flatMap(Self.text))
        #expect(former.contains(front))
        let away = folder.file("away")
        try FileManager.default.moveItem(at: files.appendingPathComponent(front), to: away)
        let column = try plainSQL("SELECT ZFRONT FROM ZBOOK", in: folder.store)
        let context = try context()
        try changeBook(in: context) { book in
            var cover = book.value(forKey: "cover") as? [String: Any] ?? [:]
            cover["artist"] = "Bea"
            try? FileManager.default.moveItem(at: away, to: files.appendingPathComponent(front))
            book.setValue(cover, forKey: "cover")
        }
        #expect(try plainSQL("SELECT ZARTIST FROM ZBOOK", in: folder.store) == ["Bea"])
        if try plainSQL("SELECT ZFRONT FROM ZBOOK", in: folder.store) == column {
            #expect(try names().contains(front))
        }
    }

    /// The text of bytes in hexadecimal.
    private static func text(_ hexadecimal: String) -> String? {
        let digits = Array(hexadecimal)
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
        return String(bytes: bytes, encoding: .utf8)
    }
}
