@_spi(GeneratedCode) import CoreData
import PredicateOperators
import Testing

private final class Author: NSManagedObject {
    private static let nameKey = ManagedPropertyKey("name")
    private static let ageKey = ManagedPropertyKey("age")
    private static let livingKey = ManagedPropertyKey("isLiving")
    private static let bornKey = ManagedPropertyKey("born")
    private static let booksKey = ManagedPropertyKey("books")

    var name: String { managedValue(Author.nameKey) }
    var age: Int16 { managedValue(Author.ageKey) }
    var isLiving: Bool { managedValue(Author.livingKey) }
    var born: Date? { managedValue(Author.bornKey) }
    var books: NSSet? { managedValue(Author.booksKey) }
}

private final class Book: NSManagedObject {
    private static let titleKey = ManagedPropertyKey("title")
    private static let priceKey = ManagedPropertyKey("price")
    private static let authorKey = ManagedPropertyKey("author")

    var title: String? { managedValue(Book.titleKey) }
    var price: Double { managedValue(Book.priceKey) }
    var author: Author? { managedValue(Book.authorKey) }
}

@MainActor @Suite("Predicates of managed objects' key paths")
struct ManagedKeyPathTests {
    private func titles(_ predicate: NSPredicate) throws -> [String] {
        let context = try Library.inMemory().viewContext
        let austen = context.make(
            "Author",
            ["name": "Austen", "age": 41, "isLiving": false, "born": Date(timeIntervalSinceReferenceDate: -1)])
        let banks = context.make("Author", ["name": "Banks", "age": 59, "isLiving": true])
        for (title, price, author) in [("Emma", 7.0, austen), ("Persuasion", 9.0, austen), ("Matter", 11.0, banks)] {
            context.make("Book", ["title": title, "price": price, "author": author])
        }
        context.make("Book", ["price": 1.0])
        try context.save()
        context.reset()
        let format = formatString(of: predicate)
        let entity = ["author", "price", "title"].contains { format.contains($0) } ? "Book" : "Author"
        let key = entity == "Book" ? "title" : "name"
        return try context.all(entity, predicate, by: key).map { $0.string(key) ?? "nil" }
    }

    @Test("compare their attributes, in SQL")
    func attributes() throws {
        #expect(try titles(\Author.age > 50) == ["Banks"])
        #expect(try titles(\Author.isLiving == false && (\Author.name).beginsWith("Aus")) == ["Austen"])
        #expect(try titles((\Author.born).isNil) == ["Banks"])
        #expect(try titles(\Author.born < Date(timeIntervalSinceReferenceDate: 0)) == ["Austen"])
        #expect(try titles((\Author.age).in(40...50)) == ["Austen"])
        #expect(try titles((\Book.title).in(["Emma", "Matter"]) && \Book.price > 8) == ["Matter"])
        #expect(try titles(\Book.title == nil && \Book.price == 1) == ["nil"])
    }

    @Test("go through relationships, to one and to many")
    func relationships() throws {
        #expect(try titles(\Book.author?.name == "Austen") == ["Emma", "Persuasion"])
        #expect(try titles(\Book.author == nil) == ["nil"])
        #expect(formatString(of: (\Author.books).any(\Book.title) == "Matter") == #"ANY books.title == "Matter""#)
        #expect(formatString(of: (\Author.books).count > 1) == "books.@count > 1")
        #expect(
            formatString(of: (\Author.books).filter(\Book.price > 8).count == 1)
                == "SUBQUERY(books, $member, $member.price > 8).@count == 1")
    }

    @Test("are the same as those by name")
    func named() throws {
        let older = \Author.age > 50
        #expect(NSPredicate.filter(keyPath: \Author.age, moreThan: 50) == older)
        let others = !(\Author.name).in(["a"])
        #expect(NSPredicate.not(.filter(keyPath: \Author.name, in: ["a"])) == others)
        let sort = NSSortDescriptor(keyPath: \Book.author?.name, ascending: true)
        #expect(sort.key == "author.name")
    }
}
