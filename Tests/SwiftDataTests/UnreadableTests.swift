import Foundation
import SQLiteConnection
import SwiftData
import TestSupport
import Testing

@Model
final class Sample {
    var name: String
    var kind: Kind
    var place: Place?
    @Attribute(.codable) var shape: Shape

    enum Kind: String, Codable { case round, square }
    struct Place: Codable, Equatable { var row: Int }
    struct Shape: Codable, Equatable { var corners: [Int] }

    init(_ name: String) {
        self.name = name
        kind = .square
        shape = Shape(corners: [1, 2])
    }
}

/// A value that is not Codable.
final class Paint: NSObject {
    let name: String
    init(name: String) { self.name = name }
}

/// Makes the bytes of a paint's name; empty names are not read.
private final class PaintTransformer: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSData.self }
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? { (value as? Paint).map { NSData(data: Data($0.name.utf8)) } }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data ?? (value as? NSData).map(Data.init(referencing:)), data != Data([0]) else {
            return nil
        }
        return String(data: data, encoding: .utf8).map(Paint.init(name:))
    }
}

@Model
final class Wall {
    var name: String
    @Attribute(.transformable(by: "PaintTransformer")) var paint: Paint

    init(_ name: String, _ paint: Paint) {
        self.name = name
        self.paint = paint
    }
}

@Suite("What a store has and a type cannot read")
struct UnreadableTests {
    private let folder: TestFolder
    private let container: ModelContainer

    init() throws {
        folder = try TestFolder()
        container = try ModelContainer(
            for: Sample.self, configurations: ModelConfiguration(url: folder.store))
        let context = ModelContext(container)
        context.insert(Sample("a"))
        try context.save()
    }

    /// Changes the store as another program would.
    private func change(_ sql: String) throws {
        _ = try plainSQL(sql, in: Connection(path: folder.store.path, mode: .readWrite))
    }

    private func sample(_ context: ModelContext) throws -> Sample {
        try #require(try context.fetch(FetchDescriptor<Sample>()).first)
    }

    @Test("does not stop the program: a value of the type is shown, and the save says what was not read")
    func shown() throws {
        try change("UPDATE ZSAMPLE SET ZKIND = 'flat', ZSHAPE = x'00'")
        let context = ModelContext(container)
        let sample = try sample(context)
        #expect(sample.kind == .round)
        #expect(sample.shape == Sample.Shape(corners: []))
        sample.name = "b"
        let error = #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(error?.description.contains("Sample.kind") == true)
        #expect(error?.description.contains("Sample.shape") == true)
        #expect(try plainSQL("SELECT ZNAME, ZKIND FROM ZSAMPLE", in: folder.store) == ["a|flat"])
    }

    @Test("is saved over by a value that is set")
    func repaired() throws {
        try change("UPDATE ZSAMPLE SET ZKIND = 'flat'")
        let context = ModelContext(container)
        let sample = try sample(context)
        _ = sample.kind
        sample.kind = .square
        try context.save()
        #expect(try plainSQL("SELECT ZKIND FROM ZSAMPLE", in: folder.store) == ["square"])
    }

    @Test("is a value that only the program could make: the fetch says so, until there is one to show")
    func transformable() throws {
        ValueTransformer.setValueTransformer(PaintTransformer(), forName: NSValueTransformerName("PaintTransformer"))
        let folder = try TestFolder()
        let container = try ModelContainer(for: Wall.self, configurations: ModelConfiguration(url: folder.store))
        let connection = try Connection(path: folder.store.path, mode: .readWrite)
        _ = try plainSQL(
            "INSERT INTO ZWALL (Z_PK, Z_ENT, Z_OPT, ZNAME, ZPAINT) VALUES (1, 1, 1, 'a', x'00'), (2, 1, 1, 'b', NULL)",
            in: connection)
        let error = #expect(throws: SwiftDataError.modelValidationFailure) {
            try ModelContext(container).fetch(FetchDescriptor<Wall>())
        }
        #expect(error?.description.contains("Wall.paint") == true)
        let context = ModelContext(container)
        _ = Wall("c", Paint(name: "red"))
        let walls = try context.fetch(FetchDescriptor<Wall>(sortBy: [SortDescriptor(\.name)]))
        #expect(walls.map(\.paint.name) == ["red", "red"])
        try #require(walls.first).name = "d"
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        for wall in walls { wall.paint = Paint(name: "blue") }
        try context.save()
        #expect(
            try plainSQL("SELECT ZNAME, ZPAINT FROM ZWALL ORDER BY ZNAME", in: folder.store)
                == ["b|626C7565", "d|626C7565"])
    }

    @Test("is forgotten by a rollback")
    func rolledBack() throws {
        try change("UPDATE ZSAMPLE SET ZKIND = 'flat'")
        let context = ModelContext(container)
        let sample = try sample(context)
        _ = sample.kind
        context.rollback()
        sample.name = "b"
        try context.save()
        #expect(try plainSQL("SELECT ZNAME, ZKIND FROM ZSAMPLE", in: folder.store) == ["b|flat"])
    }

    @Test("is a relationship that is not optional and leads nowhere, too")
    func related() throws {
        let library = try Library()
        let book = Book(isbn: "1", title: "Emma")
        let review = Review(3, of: book)
        library.context.insert(review)
        try library.context.save()
        let store = ModelContext(library.container)
        let found = try #require(try store.fetch(FetchDescriptor<Review>()).first)
        found.setValue(forKey: \.book, to: book)
        store.rollback()
        #expect(found.book.title == "Emma")
    }

    @Test("is an identifier of another container: its model is a deleted one with initial values")
    func unknown() throws {
        let library = try Library()
        let context = ModelContext(container)
        let identifier = try sample(context).persistentModelID
        let unknown = library.context.model(for: identifier)
        #expect(unknown.isDeleted)
        #expect(unknown.persistentModelID == identifier)
        let item = Item(timestamp: .now)
        let other = try Library()
        other.context.insert(item)
        try other.context.save()
        let gone = try #require(library.context.model(for: item.persistentModelID) as? Item)
        #expect(gone.timestamp == Date(timeIntervalSinceReferenceDate: 0))
    }

    @Test("does not concern an attribute that is kept by its coding: it has one column, of JSON")
    func codable() throws {
        let bytes = Data(#"{"corners":[1,2]}"#.utf8).map { String(format: "%02X", $0) }.joined()
        #expect(try plainSQL("SELECT ZSHAPE FROM ZSAMPLE", in: folder.store) == [bytes])
        let attribute = Schema([Sample.self]).entity(for: Sample.self)?.attributesByName["shape"]
        #expect(attribute?.isCodable == true)
        #expect(try sample(ModelContext(container)).shape == Sample.Shape(corners: [1, 2]))
    }
}

@Suite("A container that is erased")
struct EraseTests {
    @Test("is empty, and its models are deleted and belong to no context", arguments: [true, false])
    func erased(inMemory: Bool) throws {
        let folder = try TestFolder()
        let schema = Schema([Book.self])
        let configuration =
            inMemory
            ? ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)
            : ModelConfiguration(schema: schema, url: folder.store)
        let container = try ModelContainer(for: schema, configurations: [configuration])
        let context = ModelContext(container)
        let book = Book(isbn: "1", title: "Emma")
        context.insert(book)
        try context.save()
        context.insert(Book(isbn: "2", title: "lost"))
        try container.erase()
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 0)
        #expect(book.isDeleted)
        #expect(book.modelContext == nil)
        #expect(!context.hasChanges)
        context.insert(Book(isbn: "1", title: "New"))
        try context.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Book>()).map(\.title) == ["New"])
    }
}

@Suite("A descriptor of a fetch")
struct FetchDescriptorTests {
    @Test("equals another one that fetches the same")
    func equality() {
        func descriptor(_ title: String, _ limit: Int? = nil) -> FetchDescriptor<Book> {
            var descriptor = FetchDescriptor<Book>(
                predicate: #Predicate { $0.title == title }, sortBy: [SortDescriptor(\.isbn)])
            descriptor.fetchLimit = limit
            return descriptor
        }
        #expect(descriptor("a") == descriptor("a"))
        #expect(descriptor("a") != descriptor("b"))
        #expect(descriptor("a") != descriptor("a", 1))
        #expect(descriptor("a") != FetchDescriptor<Book>())
        #expect(FetchDescriptor<Book>() == FetchDescriptor<Book>())
    }
}
