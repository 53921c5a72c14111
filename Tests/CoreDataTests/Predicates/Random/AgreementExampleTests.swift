import CoreData
import TestSupport
import Testing

/// Disagreements of SQL and memory that random predicates have uncovered.
@Suite("SQL and memory agree")
struct AgreementExampleTests {
    private func check(_ entity: String, _ format: String, finds titles: [String]) throws {
        let folder = try TestFolder()
        let container = try Library.stored(at: folder.file("library.sqlite"))
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let author = context.make("Author", ["name": "b", "rating": 2.5])
            context.make("Author", ["name": "a", "rating": 0.1])
            context.make("Book", ["title": "a", "price": 0.1, "author": author])
            context.make("Book", ["title": "b", "price": 7.5, "author": author])
            try context.save()
            let all = try context.all(entity)
            let predicate = try NSPredicate(parsing: format)
            let key = entity == "Book" ? "title" : "name"
            #expect(try context.all(entity, predicate, by: key).map { $0.string(key) } == titles)
            #expect(all.filter { predicate.evaluate(with: $0) }.compactMap { $0.string(key) }.sorted() == titles)
        }
    }

    @Test("The remainder of fractions is that of the whole numbers")
    func remainder() throws {
        try check("Book", "modulus:by:(price, 4) == 3", finds: ["b"])
        try check("Book", "modulus:by:(price, price) >= 0", finds: ["b"])
    }

    @Test("The remainder of an integer that no double holds, by a fraction, is the same (seeds 1037 and 1224)")
    func remainderOfWideIntegers() throws {
        try check("Book", "modulus:by:(-9007199254740993, price) == -5", finds: ["b"])
        try check("Book", "modulus:by:(9007199254740993, price - 5) == 1", finds: ["a", "b"])
    }

    @Test("Both refuse keys that no entity has, also beside nil (seed 116)")
    func unknownKeysBesideNil() throws {
        for format in ["colour < nil", "colour LIKE nil", "nil CONTAINS colour", "TERNARY(colour == 1, 1, 2) > nil"] {
            #expect(throws: NSError.self) { try check("Book", format, finds: []) }
        }
    }

    @Test(
        "Keys inside a subquery start at the object outside, also where the destination has a key of that name"
    )
    func subqueryKeys() throws {
        try check("Author", "SUBQUERY(books, $b, $b.price < rating).@count == 1", finds: ["b"])
        try check("Book", "SUBQUERY(author.books, $b, $b.title != title).@count == 1", finds: ["a", "b"])
    }

    @Test("Subqueries of what lies behind a to-many relationship have the same result")
    func furtherSubqueries() throws {
        try check("Author", "SUBQUERY(books.author, $a, $a.name == 'b' AND $a == SELF).@count == 2", finds: ["b"])
        try check("Author", "SUBQUERY(books.shelf, $s, $s.code == nil).@count == 0", finds: ["a", "b"])
        try check("Author", "SUBQUERY(books.author, $a, ANY $a.books.price > 7).@max.rating > 2", finds: ["b"])
    }

    @Test("Keys on the right of ANY and ALL start at the object, too")
    func quantifiedKeys() throws {
        try check("Author", "ANY books.title == name", finds: ["b"])
        try check("Author", "ALL books.price < rating", finds: ["a"])
    }

    @Test("ANY finds nothing behind a to-one relationship without an object; ALL and NONE are true")
    func behindNothing() throws {
        let folder = try TestFolder()
        for type in [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType] {
            let description = NSPersistentStoreDescription(url: folder.file(type))
            description.type = type
            let context = try Library.container(Library.model(), description).newBackgroundContext()
            try context.performAndWait {
                let author = context.make("Author", ["name": "Ada"])
                context.make("Book", ["title": "a", "isbn": "1", "price": 2.0, "author": author])
                context.make("Book", ["title": "b"])
                func find(_ format: String) throws -> [String] {
                    let predicate = try NSPredicate(parsing: format)
                    let found = try context.all("Book", predicate, by: "title").compactMap { $0.string("title") }
                    let all = try context.all("Book", by: "title")
                    #expect(all.filter { predicate.evaluate(with: $0) }.compactMap { $0.string("title") } == found)
                    return found
                }
                // Unsaved objects are evaluated in memory, saved ones by the store.
                for _ in 0..<2 {
                    #expect(try find("ANY author.books.isbn == nil") == [])
                    #expect(try find("ANY author.books.isbn != 'x'") == ["a"])
                    #expect(try find("NONE author.books.isbn == nil") == ["a", "b"])
                    #expect(try find("ALL author.books.isbn == 'x'") == ["b"])
                    #expect(try find("ALL author.books.isbn == title") == ["b"])
                    #expect(try find("author.books.@sum.price == 0") == ["b"])
                    #expect(try find("author.books.@count == 0") == ["b"])
                    #expect(
                        try find("SUBQUERY(chapters, $c, ANY $c.book.author.books.isbn == nil).@count == 0") == [
                            "a", "b",
                        ])
                    // One value that is nil stays one.
                    #expect(try find("ANY author.name == nil") == ["b"])
                    try context.save()
                    context.reset()
                }
            }
        }
    }

    @Test("A to-one relationship has the same number of objects in both")
    func countOfOne() throws {
        try check("Book", "author.@count == 1 AND title == 'b'", finds: ["b"])
        try check("Book", "shelf.@count == 0 AND author[SIZE] > 0", finds: ["a", "b"])
        try check("Author", "SUBQUERY(books, $b, $b.author.@count > $b.shelf.@count).@count == 2", finds: ["b"])
        try check("Book", "author.books.@count == 2 AND author.@count + shelf.@count < 2", finds: ["a", "b"])
        #expect(throws: NSError.self) { try check("Book", "title.@count.x == 1", finds: []) }
    }

    @Test("Objects are sorted by an average whose sum no number holds")
    func orderOfOverflow() throws {
        let folder = try TestFolder()
        let context = try Library.stored(at: folder.file("library.sqlite")).newBackgroundContext()
        try context.performAndWait {
            for (name, price) in [("a", 1.7e308), ("b", 1.0)] {
                let author = context.make("Author", ["name": name])
                for _ in 0..<2 { context.make("Book", ["price": price, "author": author]) }
            }
            try context.save()
            #expect(try context.all("Author", by: "books.@avg.price").map { $0.string("name") } == ["b", "a"])
        }
    }
}
