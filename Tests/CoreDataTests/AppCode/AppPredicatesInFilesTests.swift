import CoreData
import TestSupport
import Testing

// As in AppPredicateRulesTests, in files, too, where SQL has to say it.
@Suite("Predicates that apps rely on, in files and in memory")
struct AppPredicatesInFilesTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Emma with Z and Y, Mary with X, and W without an author; in a file, then in memory.
    private func contexts() throws -> [NSManagedObjectContext] {
        let containers = [try Library.stored(at: folder.store), try Library.inMemory()]
        return try containers.map { container in
            let context = container.viewContext
            let authors = ["Emma", "Mary"].map { context.make("Author", ["name": $0]) }
            for (title, author) in [("Z", authors[0]), ("Y", authors[0]), ("X", authors[1])] {
                context.make("Book", ["title": title, "author": author])
            }
            context.make("Book", ["title": "W"])
            try context.save()
            return context
        }
    }

    private func titles(_ context: NSManagedObjectContext, _ predicate: NSPredicate) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = predicate
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return try context.fetch(request).compactMap { $0.value(forKey: "title") as? String }
    }

    private func author(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(try context.all("Author").first { $0.value(forKey: "name") as? String == name })
    }

    @Test("A path may start at an argument: what the argument leads to is the value, read anew for each fetch (Nos)")
    func constantPaths() throws {
        for context in try contexts() {
            let emma = try author("Emma", context)
            let books = NSPredicate(format: "SELF IN %@.books", emma)
            #expect(try titles(context, books) == ["Y", "Z"])
            #expect(try titles(context, NSPredicate(format: "author.name == %@.name", emma)) == ["Y", "Z"])
            let both = NSCompoundPredicate(notPredicateWithSubpredicate: books)
            #expect(try titles(context, both) == ["W", "X"])
            try author("Mary", context).setValue(NSSet(), forKey: "books")
            emma.mutableSetValue(forKey: "books").addObjects(
                from: try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")))
            try context.save()
            #expect(try titles(context, books) == ["W", "X", "Y", "Z"])
        }
    }

    @Test("A subquery of a relationship to one counts one object or none (Nos)")
    func subqueries() throws {
        for context in try contexts() {
            let some = NSPredicate(format: "SUBQUERY(author, $a, $a.name == 'Emma').@count == 1")
            #expect(try titles(context, some) == ["Y", "Z"])
            let none = NSPredicate(format: "SUBQUERY(author, $a, $a.name == 'Emma').@count == 0")
            #expect(try titles(context, none) == ["W", "X"])
            let any = NSPredicate(format: "SUBQUERY(author, $a, $a.name != nil).@count > 0")
            #expect(try titles(context, any) == ["X", "Y", "Z"])
        }
    }
}
