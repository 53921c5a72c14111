import CoreData
import TestSupport
import Testing
import SQLGeneration

@MainActor @Suite("A predicate that is built in code")
struct LargePredicateTests {
    private func context() throws -> (TestFolder, NSManagedObjectContext) {
        let folder = try TestFolder()
        let context = try Library.stored(at: folder.file("library.sqlite")).viewContext
        for title in ["a", "b", "c7"] { context.make("Book", ["title": title, "price": 1.0]) }
        try context.save()
        return (folder, context)
    }

    @Test("may have more than a thousand parts side by side")
    func wide() throws {
        let (folder, context) = try context()
        defer { withExtendedLifetime(folder) {} }
        let parts = (0..<1200).map { NSPredicate(format: "title CONTAINS[cd] %@", "C\($0)") }
        let any = NSCompoundPredicate(orPredicateWithSubpredicates: parts)
        #expect(try context.all("Book", any).map { $0.string("title") } == ["c7"])
        let all = NSCompoundPredicate(
            andPredicateWithSubpredicates: parts.map { NSCompoundPredicate(notPredicateWithSubpredicate: $0) })
        #expect(try context.all("Book", all, by: "title").map { $0.string("title") } == ["a", "b"])
        let texts = (0..<1200).map { "C\($0)" }
        let list = NSPredicate(format: "title IN[c] %@", texts)
        #expect(try context.all("Book", list).map { $0.string("title") } == ["c7"])
        let numbers = (1..<40_000).map { Double($0) }
        #expect(try context.all("Book", NSPredicate(format: "price IN %@", numbers)).count == 3)
    }

    @Test("may name more objects than SQLite has parameters")
    func manyObjects() throws {
        let (folder, context) = try context()
        defer { withExtendedLifetime(folder) {} }
        let books = try context.all("Book", NSPredicate(format: "title IN {'a', 'b'}"))
        let many = (0..<260_000).map { books[$0 % 2].objectID }
        let isOne = NSPredicate(format: "SELF IN %@", many)
        #expect(try context.all("Book", isOne, by: "title").map { $0.string("title") } == ["a", "b"])
        let isNone = NSCompoundPredicate(notPredicateWithSubpredicate: isOne)
        #expect(try context.all("Book", isNone).map { $0.string("title") } == ["c7"])
    }

    @Test("searches texts as a search field does")
    func search() throws {
        let (folder, context) = try context()
        defer { withExtendedLifetime(folder) {} }
        let writer = context.make("Author", ["name": "Herman Melville"])
        let book = context.make("Book", ["title": "Moby-Dick; or, The Whale", "price": 3.0])
        book.setValue(writer, forKey: "author")
        try context.save()
        for (format, count) in [
            ("SEARCH(title, 'whal* moby')", 1), ("SEARCH(title, author.name, 'melville whale')", 1),
            ("SEARCH(title, 'whale') AND price > 5", 0), ("NOT SEARCH(title, author.name, '\"herman melville\"')", 3),
            ("SEARCH(title, '')", 0), ("SEARCH(title, 'title:\" OR')", 0),
        ] {
            let predicate = NSPredicate(format: format)
            #expect(try context.all("Book", predicate).count == count, "\(format)")
            #expect(try context.all("Book").filter { predicate.evaluate(with: $0) }.count == count, "\(format)")
        }
        let typed = NSPredicate(format: "SEARCH(title, %@)", "'); DROP TABLE ZBOOK; --")
        #expect(try context.all("Book", typed).isEmpty)
        #expect(try context.all("Book").count == 4)
    }

    @Test("is refused by a fetch beyond 500 levels, whatever nests")
    func deep() throws {
        let (folder, context) = try context()
        defer { withExtendedLifetime(folder) {} }
        let leaf = NSPredicate(format: "price > 0")
        var nots = leaf
        var ands = leaf
        var sum = CoreData.NSExpression(forKeyPath: "price")
        for _ in 0..<2000 {
            nots = NSCompoundPredicate(notPredicateWithSubpredicate: nots)
            ands = NSCompoundPredicate(andPredicateWithSubpredicates: [leaf, ands])
            sum = CoreData.NSExpression(forFunction: "add:to:", arguments: [sum, CoreData.NSExpression(format: "1")])
        }
        let sums = NSComparisonPredicate(
            leftExpression: sum, rightExpression: CoreData.NSExpression(format: "3"), modifier: .direct,
            type: .greaterThan)
        for predicate in [nots, ands, sums] {
            let error = #expect(throws: (any Error).self) { try context.all("Book", predicate) }
            #expect(error?.localizedDescription.contains("500 levels") == true)
        }
    }

    @Test("runs in SQL with as many levels as that")
    func deepEnough() throws {
        let (folder, context) = try context()
        defer { withExtendedLifetime(folder) {} }
        var predicate = NSPredicate(format: "price > 0")
        var sum = CoreData.NSExpression(forKeyPath: "price")
        for number in 1...400 {
            let leaf = NSPredicate(format: "price < %d", number + 1)
            predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [leaf, predicate])
            sum = CoreData.NSExpression(forFunction: "add:to:", arguments: [sum, CoreData.NSExpression(format: "1")])
        }
        #expect(try context.all("Book", predicate).count == 3)
        let sums = NSComparisonPredicate(
            leftExpression: sum, rightExpression: CoreData.NSExpression(format: "401"), modifier: .direct,
            type: .equalTo)
        #expect(try context.all("Book", sums).count == 3)
        var (even, odd) = (NSPredicate(format: "price > 0"), NSPredicate(format: "price < 0 OR price == nil"))
        for _ in 0..<400 { even = NSCompoundPredicate(notPredicateWithSubpredicate: even) }
        for _ in 0..<401 { odd = NSCompoundPredicate(notPredicateWithSubpredicate: odd) }
        #expect(try context.all("Book", even).count == 3)
        #expect(try context.all("Book", odd).count == 3)
    }

    @Test("says that it nests too deep for SQLite, or is read")
    func deeperThanSQLite() throws {
        let (folder, context) = try context()
        defer { withExtendedLifetime(folder) {} }
        let predicate = Self.inTurns(450)
        do { #expect(try context.all("Book", predicate).count == 3) } catch {
            #expect(error.localizedDescription.contains("deeper than SQLite can read"))
        }
    }

    @Test("has an error of SQLite's that names the limit, and the store, also where that has no file")
    func limit() throws {
        let context = try Library.inMemory().viewContext
        let error = try #require(throws: NSError.self) { try context.all("Book", Self.inTurns(495)) }
        let text = error.localizedDescription
        #expect(text.hasPrefix("Cannot fetch from the store in memory: the predicate or expression nests deeper than"))
        // Which limit it is depends on the version of SQLite.
        #expect(text.contains("thirty levels of AND and OR in turns") || text.contains("maximum depth 1000"))
    }

    @Test("is as a list to SQLite where it leaves out thousands of values one by one, whatever is nil")
    func exclusions() throws {
        let (folder, context) = try context()
        defer { withExtendedLifetime(folder) {} }
        context.make("Book", ["title": "none"])
        try context.save()
        let prices = (1...5_000).map { NSPredicate(format: "price != %@", Double($0)) }
        let titles = (1...200).map { NSPredicate(format: "title != %@", "c\($0)") }
        let others = NSCompoundPredicate(andPredicateWithSubpredicates: titles + prices)
        #expect(try context.all("Book", others).map { $0.string("title") } == ["none"])
        let here = NSCompoundPredicate(
            andPredicateWithSubpredicates: [NSPredicate(format: "title != nil")] + titles)
        #expect(try context.all("Book", here, by: "title").map { $0.string("title") } == ["a", "b", "none"])
    }

    /// So many levels of AND and OR in turns.
    private static func inTurns(_ levels: Int) -> NSPredicate {
        var predicate = NSPredicate(format: "price > 0")
        for number in 1...levels {
            let leaf = NSPredicate(format: "price < %d", -number)
            predicate =
                number % 2 == 0
                ? NSCompoundPredicate(orPredicateWithSubpredicates: [leaf, predicate])
                : NSCompoundPredicate(
                    andPredicateWithSubpredicates: [NSCompoundPredicate(notPredicateWithSubpredicate: leaf), predicate])
        }
        return predicate
    }
}
