import CoreData
import Testing

@MainActor @Suite("Relationships keep both ends right")
struct RelationshipTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init() throws { container = try Library.inMemory() }

    @Test("Setting the one end of one-to-many shows at the many end")
    func toOneSetsInverse() {
        let author = context.make("Author")
        let book = context.make("Book", ["author": author])
        #expect(author.objects("books") == [book])
    }

    @Test("Setting the many end moves objects away from their former owners")
    func toManyMoves() {
        let former = context.make("Author")
        let latter = context.make("Author")
        let book = context.make("Book", ["author": former])
        latter.setValue(NSSet(array: [book]), forKey: "books")
        #expect(book.value(forKey: "author") as? NSManagedObject === latter)
        #expect(former.objects("books").isEmpty)
    }

    @Test("A one-to-one relationship lets go of whom it had")
    func oneToOneDisplaces() {
        let shelf = context.make("Shelf")
        let first = context.make("Book", ["shelf": shelf])
        let second = context.make("Book", ["shelf": shelf])
        #expect(first.value(forKey: "shelf") == nil)
        #expect(shelf.value(forKey: "book") as? NSManagedObject === second)
    }

    @Test("What was read of a to-many relationship stays as it was, and is given again until the relationship changes")
    func readAgain() throws {
        let author = context.make("Author")
        let book = context.make("Book", ["author": author])
        let first = try #require(author.value(forKey: "books") as? NSSet)
        #expect(author.value(forKey: "books") as? NSSet === first)
        let chapter = context.make("Chapter", ["book": book])
        let chapters = try #require(book.value(forKey: "chapters") as? NSOrderedSet)
        #expect(book.value(forKey: "chapters") as? NSOrderedSet === chapters)

        let other = context.make("Book", ["author": author])
        let next = context.make("Chapter")
        book.mutableOrderedSetValue(forKey: "chapters").insert(next, at: 0)
        #expect(first.allObjects as? [NSManagedObject] == [book])
        #expect(Set(author.objects("books")) == [book, other])
        #expect(chapters.array as? [NSManagedObject] == [chapter])
        #expect((book.value(forKey: "chapters") as? NSOrderedSet)?.array as? [NSManagedObject] == [next, chapter])
        context.rollback()
        #expect((author.value(forKey: "books") as? NSSet)?.count == 0)
    }

    @Test("An ordered relationship knows the place of each member, and can be copied")
    func places() throws {
        let book = context.make("Book")
        let chapters = (1...3).map { context.make("Chapter", ["title": "\($0)"]) }
        book.setValue(NSOrderedSet(array: chapters), forKey: "chapters")
        let read = try #require(book.value(forKey: "chapters") as? NSOrderedSet)
        #expect(chapters.map { read.index(of: $0) } == [0, 1, 2])
        #expect(read.index(of: book) == NSNotFound && read.index(of: "1") == NSNotFound)
        #expect(read == NSOrderedSet(array: chapters) && NSOrderedSet(array: chapters) == read)
        #expect((read.copy() as? NSOrderedSet)?.array as? [NSManagedObject] == chapters)
        let copy = try #require(read.mutableCopy() as? NSMutableOrderedSet)
        copy.removeObject(at: 0)
        copy.add(book)
        #expect(copy.array as? [NSManagedObject] == [chapters[1], chapters[2], book])
        #expect(read.count == 3)
    }

    @Test("A many-to-many relationship shows at both ends")
    func manyToMany() {
        let book = context.make("Book")
        let tag = context.make("Tag")
        book.mutableSetValue(forKey: "tags").add(tag)
        #expect(tag.objects("books") == [book])
        tag.mutableSetValue(forKey: "books").remove(book)
        #expect(book.objects("tags").isEmpty)
    }

    @Test("An ordered relationship keeps the order it is given")
    func ordered() throws {
        let book = context.make("Book", ["title": "B"])
        let chapters = (1...4).map { context.make("Chapter", ["title": "\($0)"]) }
        book.setValue(NSOrderedSet(array: chapters), forKey: "chapters")
        book.mutableOrderedSetValue(forKey: "chapters").removeObject(at: 1)
        book.mutableOrderedSetValue(forKey: "chapters").insert(chapters[1], at: 0)
        try context.save()
        context.reset()
        let fetched = try #require(try context.all("Book").first)
        let titles = (fetched.value(forKey: "chapters") as? NSOrderedSet)?.array.compactMap {
            ($0 as? NSManagedObject)?.string("title")
        }
        #expect(titles == ["2", "1", "3", "4"])
    }

    @Test("Relationships come back from the store")
    func stored() throws {
        let author = context.make("Author", ["name": "A"])
        let tags = ["x", "y"].map { context.make("Tag", ["name": $0]) }
        for title in ["1", "2", "3"] {
            context.make("Book", ["title": title, "author": author, "tags": NSSet(array: tags)])
        }
        try context.save()
        context.reset()
        let fetched = try #require(try context.all("Author").first)
        #expect(Set(fetched.objects("books").compactMap { $0.string("title") }) == ["1", "2", "3"])
        let tag = try #require(try context.all("Tag", by: "name").first)
        #expect(tag.objects("books").count == 3)
        #expect(tag.objects("books").allSatisfy { $0.objects("tags").count == 2 })
    }

    @Test("Adding to a relationship that is not loaded keeps what the store has")
    func addUnloaded() throws {
        let author = context.make("Author", ["name": "A"])
        context.make("Book", ["title": "1", "author": author])
        try context.save()
        context.reset()
        let fetched = try #require(try context.all("Author").first)
        context.make("Book", ["title": "2", "author": fetched])
        #expect(Set(fetched.objects("books").compactMap { $0.string("title") }) == ["1", "2"])
        try context.save()
        context.reset()
        #expect(try context.all("Author").first?.objects("books").count == 2)
    }
}
