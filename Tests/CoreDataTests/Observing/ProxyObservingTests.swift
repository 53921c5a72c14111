import CoreData
import Testing

@MainActor @Suite("Observing managed objects: many members by mutableSetValue and mutableOrderedSetValue")
struct ProxyObservingTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }
    let spy = Spy()

    init() throws { container = try Library.observed() }

    private func titles(_ key: NSKeyValueChangeKey) -> [[String]] {
        spy.heard.map { entry in
            let members = (entry.change[key] as? NSSet)?.allObjects ?? (entry.change[key] as? NSArray).map(Array.init)
            return (members ?? []).compactMap { ($0 as? NSManagedObject)?.value(forKey: "title") as? String }.sorted()
        }
    }

    private func observing(_ object: NSManagedObject, _ key: String, _ body: () -> Void) {
        object.addObserver(spy, forKeyPath: key, options: [.old, .new], context: nil)
        body()
        object.removeObserver(spy, forKeyPath: key)
    }

    @Test("Members of a set that come or go together are one insertion or removal (SwiftDatastore)")
    func set() {
        let author = ObservedAuthor(context: context)
        let books = ["A", "B", "C"].map { context.make("Book", ["title": $0]) }
        observing(author, "books") {
            let set = author.mutableSetValue(forKey: "books")
            set.removeAllObjects()
            set.addObjects(from: books)
            set.minus([books[0]])
            set.union(Set(books))
            set.intersect([books[0], books[1]])
            set.removeAllObjects()
        }
        #expect(spy.kinds == [.insertion, .removal, .insertion, .removal, .removal])
        #expect(titles(.newKey) == [["A", "B", "C"], [], ["A"], [], []])
        #expect(titles(.oldKey) == [[], ["A"], [], ["C"], ["A", "B"]])
        #expect(author.books.isEmpty)
    }

    @Test("A member that an accessor adds to the primitive set is heard of once")
    func primitiveSet() {
        let (author, book) = (ObservedAuthor(context: context), ObservedBook(context: context))
        book.title = "A"
        observing(author, "books") { author.add(primitive: book) }
        #expect(spy.kinds == [.insertion] && titles(.newKey) == [["A"]])
        #expect(author.books == [book] && book.author === author)
    }

    @Test("So are those of an ordered set, with their indexes (SwiftDatastore)")
    func orderedSet() {
        let book = ObservedBook(context: context)
        let chapters = ["1", "2", "3"].map { context.make("Chapter", ["title": $0]) }
        observing(book, "chapters") {
            let set = book.mutableOrderedSetValue(forKey: "chapters")
            set.removeAllObjects()
            set.addObjects(from: chapters)
            set.minus(NSOrderedSet(array: [chapters[0], chapters[2]]))
            set.union(NSOrderedSet(array: chapters))
            #expect(set.array as? [NSManagedObject] == [chapters[1], chapters[0], chapters[2]])
            set.removeObjects(at: [0, 2])
            #expect(set.array as? [NSManagedObject] == [chapters[0]])
            set.removeAllObjects()
            #expect(set.count == 0 && set.array.isEmpty)
        }
        #expect(spy.kinds == [.insertion, .removal, .insertion, .removal, .removal])
        #expect(titles(.newKey) == [["1", "2", "3"], [], ["1", "3"], [], []])
        #expect(spy.heard.map { $0.change[.indexesKey] as? IndexSet } == [[0, 1, 2], [0, 2], [1, 2], [0, 2], [0]])
    }
}
