import CoreData
import TestSupport
import Testing

/// Predicates that parse and cannot be used: no store loads anything for them, and no program stops.
@MainActor @Suite("A fetch with a predicate that does not fit the model")
struct BadPredicateTests {
    private func message(_ predicate: NSPredicate, _ entity: String = "Author", in context: NSManagedObjectContext)
        -> String?
    {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = predicate
        do {
            _ = try context.fetch(request)
            return nil
        } catch { return error.localizedDescription }
    }

    private func context(_ type: String, _ folder: TestFolder) throws -> NSManagedObjectContext {
        let description = NSPersistentStoreDescription(url: folder.file("library"))
        description.type = type
        let context = try Library.container(Library.model(), description).viewContext
        context.make("Book", ["author": context.make("Author", ["name": "A", "age": 3])])
        try context.save()
        return context
    }

    @Test(
        "is refused, in every kind of store, with an error that names the key",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType, NSXMLStoreType, NSBinaryStoreType])
    func keys(type: String) throws {
        let folder = try TestFolder()
        let context = try context(type, folder)
        let unknown = "no property “colour”"
        let many = "“books.price” of entity “Author” leads to many"
        for (format, expected) in [
            ("colour == 1", unknown), ("NOT (age == 1 AND colour == 1)", unknown), ("colour < nil", unknown),
            ("colour IN nil", unknown), ("colour LIKE nil", unknown), ("ANY books.colour == 1", unknown),
            ("SUBQUERY(books, $b, $b.colour == 1).@count > 0", unknown), ("1 + colour == 2", unknown),
            ("TERNARY(colour == 1, 1, 2) == 1", unknown), ("books.price > 3", many), ("books.price == 3", many),
            ("books.@max.colour > 1", unknown), ("@max.colour == 1", unknown), ("name.colour == 'a'", unknown),
            ("SUBQUERY(books, $b, $b.tags.name.length > 1).@count > 0", "“tags.name.length” of entity “"),
            ("books.title.length > 3", "“books.title.length” of entity “Author” leads to many"),
            ("age == $limit", "$limit"), ("books.price BETWEEN {1, 2}", many), ("books.price IN {1, 2}", many),
            ("3 < books.price", many),
        ] {
            let found = message(try NSPredicate(parsing: format), in: context)
            #expect(found?.contains(expected) == true, "\(type): \(format): \(found ?? "no error")")
        }
        #expect(
            message(NSPredicate(format: "books == nil OR books.@count > 0 OR ANY books.price > 1"), in: context) == nil)
    }

    @Test(
        "names the key and the constant of a type that the key does not have",
        arguments: [
            ("age == 'abc'", "“age” holds whole numbers, and is compared with the string \"abc\""),
            ("rating < 'x'", "“rating” holds numbers, and is compared with the string \"x\""),
            ("'x' == wealth", "“wealth” holds numbers, and is compared with the string \"x\""),
            ("age IN {1, 'x'}", "“age” holds whole numbers, and is compared with the string \"x\""),
            ("born > 'yesterday'", "“born” holds dates, and is compared with the string \"yesterday\""),
            ("born BETWEEN {'a', 'b'}", "“born” holds dates"), ("token == 'x'", "“token” holds UUIDs"),
            ("photo == 3", "“photo” holds data"), ("name == CAST(1, 'NSDate')", "“name” holds texts"),
            ("age == CAST(1, 'NSDate')", "“age” holds whole numbers"),
            ("ANY books.title == CAST(1, 'NSDate')", "“title” holds texts"),
            ("SUBQUERY(books, $b, $b.author == 'A').@count > 0", "“author” holds objects of “Author”"),
        ])
    func constants(format: String, expected: String) throws {
        let folder = try TestFolder()
        let context = try context(NSSQLiteStoreType, folder)
        let found = message(try NSPredicate(parsing: format), in: context)
        #expect(found?.contains(expected) == true, "\(found ?? "no error")")
    }

    @Test(
        "names what a function cannot compute with",
        arguments: [
            ("name * 2 == 0", "“name” holds texts"), ("1 + name == 0", "“name” holds texts"),
            ("age + name == 0", "“name” holds texts"), ("abs(name) == 0", "“name” holds texts"),
            ("token & 1 == 0", "“token” holds UUIDs"), ("photo - 1 == 0", "“photo” holds data"),
            ("born * 2 > born", "“born” holds dates"), ("born + born > born", "“born” holds dates"),
            ("1 - born > 0", "“born” holds dates"), ("length(age) == 1", "“age” holds whole numbers"),
            ("uppercase(born) == 'A'", "“born” holds dates"), ("books.@sum.title == 0", "“title” holds texts"),
            ("books.@avg.title == 0", "“title” holds texts"), ("age * 'x' == 0", "not with the string \"x\""),
            ("SUBQUERY(books, $b, $b.author * 1 == 1).@count > 0", "“author” holds objects of “Author”"),
            ("SUBQUERY(books, $b, $b + 1 == 2).@count > 0", "“$b” holds objects of “Book”"),
            ("SELF + 1 == 2", "“SELF” holds objects of “Author”"),
        ])
    func computations(format: String, expected: String) throws {
        let folder = try TestFolder()
        let context = try context(NSSQLiteStoreType, folder)
        let found = message(try NSPredicate(parsing: format), in: context)
        #expect(found?.contains(expected) == true, "\(found ?? "no error")")
    }

    @Test("names an argument, too, also where the same format was used with a fitting one before")
    func arguments() throws {
        let folder = try TestFolder()
        let context = try context(NSSQLiteStoreType, folder)
        #expect(message(NSPredicate(format: "age == %@", 3), in: context) == nil)
        #expect(message(NSPredicate(format: "age == %@", "3"), in: context) == nil)
        let date = Date(timeIntervalSinceReferenceDate: 0)
        #expect(message(NSPredicate(format: "age == %@", date), in: context)?.contains("compared with a date") == true)
        #expect(message(NSPredicate(format: "name LIKE %@", 5), in: context)?.contains("LIKE compares texts") == true)
        #expect(message(NSPredicate(format: "age IN %@", 5), in: context)?.contains("IN takes a collection") == true)
        #expect(message(NSPredicate(format: "age BETWEEN %@", [1]), in: context)?.contains("two bounds") == true)
        let pattern = NSPredicate(format: "name MATCHES %@", "(")
        #expect(message(pattern, in: context)?.contains("\"(\" is not a regular expression") == true)
    }

    @Test("is refused in SQL if it is code, and the error says so")
    func code() throws {
        let folder = try TestFolder()
        let context = try context(NSSQLiteStoreType, folder)
        let block = NSPredicate { _, _ in true }
        #expect(message(block, in: context)?.contains("Swift code") == true)
        let inside = NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(format: "age > 1"), block])
        #expect(message(inside, in: context)?.contains("Swift code") == true)
    }
}
