import CoreData
import Testing

// As in LibraryRulesTests: key-value coding of Foundation's collections, which code beside Core Data leans on (Sync).
@Suite("Arrays, sets and dictionaries are asked by key, as their objects are")
struct CollectionsByKeyTests {
    /// Three books, of which one has no title.
    private func books() throws -> (NSManagedObjectContext, [NSManagedObject]) {
        let context = try Library.inMemory().viewContext
        let author = context.make("Author", ["name": "Emma"])
        return (
            context,
            [
                context.make("Book", ["title": "A", "price": 1.0, "author": author]),
                context.make("Book", ["price": 2.0]), context.make("Book", ["title": "A", "price": 3.5]),
            ]
        )
    }

    @Test("An array gives a value for each element, and NSNull where there is none")
    func array() throws {
        let (context, books) = try books()
        try withExtendedLifetime(context) {
            let titles = try #require(NSArray(array: books).value(forKey: "title") as? NSArray)
            #expect(titles.count == 3 && titles[0] as? String == "A" && titles[1] is NSNull)
            let names = NSArray(array: books).value(forKeyPath: "author.name") as? NSArray
            #expect(names?.firstObject as? String == "Emma" && names?.count == 3)
        }
    }

    @Test("A set gives the set of the values that are there, an ordered set an ordered one")
    func sets() throws {
        let (context, books) = try books()
        withExtendedLifetime(context) {
            #expect(NSSet(array: books).value(forKey: "title") as? Set<String> == ["A"])
            #expect((NSSet(array: books).value(forKey: "price") as? NSSet)?.count == 3)
            let prices = NSOrderedSet(array: books).value(forKey: "price") as? NSOrderedSet
            #expect(prices?.array as? [Double] == [1, 2, 3.5])
        }
    }

    @Test("Collection operators compute over the elements")
    func operators() throws {
        let (context, books) = try books()
        withExtendedLifetime(context) {
            #expect(NSArray(array: books).value(forKeyPath: "@sum.price") as? Double == 6.5)
            #expect(NSSet(array: books).value(forKeyPath: "@max.price") as? Double == 3.5)
            #expect(NSArray(array: books).value(forKey: "@count") as? Int == 3)
            let titles = NSArray(array: books).value(forKeyPath: "@distinctUnionOfObjects.title") as? NSArray
            #expect(titles?.count == 1)
        }
    }

    @Test("A value is set for all elements")
    func setting() throws {
        let (context, books) = try books()
        withExtendedLifetime(context) {
            NSSet(array: books).setValue("B", forKey: "title")
            #expect(books.allSatisfy { $0.string("title") == "B" })
        }
    }

    @Test("A dictionary gives the value of a key, and follows paths into what it holds")
    func dictionaries() {
        let dictionary: NSDictionary = ["user": ["name": "Emma", "notes": [["id": 1], ["id": 2]]]]
        #expect(dictionary.value(forKeyPath: "user.name") as? String == "Emma")
        #expect((dictionary.value(forKeyPath: "user.notes.id") as? NSArray)?.count == 2)
        #expect(dictionary.value(forKeyPath: "user.age") == nil)
        #expect(dictionary.value(forKey: "@count") as? Int == 1)
    }
}
