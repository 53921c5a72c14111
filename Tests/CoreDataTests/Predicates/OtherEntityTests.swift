import CoreData
import TestSupport
import Testing

private typealias NSExpression = CoreData.NSExpression
private typealias NSPredicate = CoreData.NSPredicate

/// The first object of each entity has the key 1 in its table.
@MainActor @Suite("A comparison with an object of another entity")
struct OtherEntityTests {
    private let folder: TestFolder
    private let context: NSManagedObjectContext

    init() throws {
        folder = try TestFolder()
        context = try Library.stored(at: folder.file("library.sqlite")).viewContext
        let tag = context.make("Tag", ["name": "novel"])
        let author = context.make("Author", ["name": "Austen", "age": 1])
        let book = context.make("Book", ["title": "Emma", "author": author])
        context.make("Book", ["title": "Beowulf"])
        let shelf = context.make("Shelf", ["code": "A"])
        book.setValue(shelf, forKey: "shelf")
        book.setValue(NSSet(object: tag), forKey: "tags")
        try context.save()
        context.reset()
    }

    private func titles(_ format: String, _ arguments: Any...) throws -> [String?] {
        try context.all("Book", NSPredicate(format: format, argumentArray: arguments), by: "title").map {
            $0.string("title")
        }
    }

    @Test(
        "finds none, whatever their keys are",
        arguments: [
            "shelf == author AND shelf != nil", "SELF == author", "SELF IN author.books.tags", "author IN tags",
            "author IN {shelf} AND author != nil",
            "tags CONTAINS shelf", "tags CONTAINS SELF", "ANY tags == author",
            "SUBQUERY(tags, $t, $t == author).@count > 0",
            "author.age == shelf AND shelf != nil",
            "shelf IN {author.age} AND shelf != nil",
        ])
    func none(format: String) throws {
        #expect(try titles(format) == [])
    }

    @Test("holds for all if it asks for difference")
    func difference() throws {
        #expect(try titles("SELF != author") == ["Beowulf", "Emma"])
        #expect(try titles("NOT author IN {shelf} AND author != nil") == ["Emma"])
    }

    @Test("takes two absent objects for equal")
    func absent() throws {
        #expect(try titles("shelf == author") == ["Beowulf"])
        #expect(try titles("shelf != author") == ["Emma"])
        #expect(try titles("author IN {shelf}") == ["Beowulf"])
    }

    @Test("finds none among the objects of a fetch")
    func fetched() throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        let tags = NSFetchRequestExpression.expression(
            forFetch: NSExpression(forConstantValue: request), context: NSExpression(forConstantValue: context),
            countOnly: false)
        #expect(try titles("SELF IN %@", tags) == [])
    }

    @Test("is refused if its result is an object of either of two entities")
    func ternary() throws {
        let error = #expect(throws: (any Error).self) { try titles("TERNARY(title == 'Emma', author, shelf) == shelf") }
        #expect("\(try #require(error))".contains("TERNARY with objects of “Author” and “Shelf”"))
    }

    @Test("agrees with objects that are not saved")
    func pending() throws {
        for book in try context.all("Book") { book.setValue(1.5, forKey: "price") }
        #expect(try titles("SELF == author OR author IN tags OR tags CONTAINS shelf") == [])
        #expect(try titles("shelf == author") == ["Beowulf"])
    }
}
