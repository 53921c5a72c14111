import CoreData
import Testing

@MainActor @Suite("Observing managed objects: members of relationships")
struct MemberObservingTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }
    let author: ObservedAuthor
    let spy = Spy()

    init() throws {
        container = try Library.observed()
        author = ObservedAuthor(context: container.viewContext)
        author.name = "Emma"
    }

    private func book(_ title: String) -> ObservedBook {
        let book = ObservedBook(context: context)
        book.title = title
        return book
    }

    private func members(_ key: NSKeyValueChangeKey) -> [[String]] {
        spy.heard.map { entry in
            let members: [Any] =
                switch entry.change[key] {
                case let set as NSSet: set.allObjects
                case let set as NSOrderedSet: set.array
                case let list as NSArray: Array(list)
                default: []
                }
            let titles = members.compactMap { ($0 as? NSManagedObject)?.value(forKey: "title") as? String }
            return entry.change[key] is NSSet ? titles.sorted() : titles
        }
    }

    private func watchBooks(_ body: () throws -> Void) rethrows {
        author.addObserver(spy, forKeyPath: "books", options: [.old, .new], context: nil)
        try body()
        author.removeObserver(spy, forKeyPath: "books")
    }

    @Test("A member that is added is an insertion, and one that is removed a removal")
    func single() {
        let (first, second) = (book("A"), book("B"))
        watchBooks {
            author.addToBooks(first)
            author.mutableSetValue(forKey: "books").add(second)
            author.mutableSetValue(forKey: "books").remove(first)
        }
        #expect(spy.kinds == [.insertion, .insertion, .removal])
        #expect(members(.newKey) == [["A"], ["B"], []] && members(.oldKey) == [[], [], ["A"]])
    }

    @Test("Members that are added or removed together are one change, of those that really come or go")
    func together() {
        let (first, second, third) = (book("A"), book("B"), book("C"))
        author.addToBooks(first)
        watchBooks {
            author.addToBooks(NSSet(array: [first, second, third]))
            author.removeFromBooks(NSSet(array: [first, second]))
        }
        #expect(spy.kinds == [.insertion, .removal])
        #expect(members(.newKey) == [["B", "C"], []] && members(.oldKey) == [[], ["A", "B"]])
    }

    @Test("Adding a member that is there already changes nothing")
    func again() {
        let first = book("A")
        author.addToBooks(first)
        watchBooks { author.addToBooks(first) }
        #expect(spy.heard.isEmpty)
    }

    @Test("A set that is set is one change, with both sets")
    func whole() {
        let (first, second) = (book("A"), book("B"))
        author.books = [first]
        watchBooks { author.books = [second] }
        #expect(spy.kinds == [.setting])
        #expect(members(.oldKey) == [["A"]] && members(.newKey) == [["B"]])
    }

    @Test("The other end hears of members that come, go and change sides by their own relationship")
    func inverse() {
        let (first, other) = (book("A"), ObservedAuthor(context: context))
        watchBooks {
            first.author = author
            first.author = other
            first.author = author
            first.author = nil
        }
        #expect(spy.kinds == [.insertion, .removal, .insertion, .removal])
        #expect(members(.newKey) == [["A"], [], ["A"], []] && members(.oldKey) == [[], ["A"], [], ["A"]])
    }

    @Test("A to-one relationship hears of a change from the other end, once")
    func toOne() {
        let first = book("A")
        first.addObserver(spy, forKeyPath: "author", options: [.old, .new], context: nil)
        author.addToBooks(first)
        #expect(spy.kinds == [.setting] && spy.old == ["nothing"])
        #expect(spy.heard.first?.change[.newKey] as? NSManagedObject === author)
        first.removeObserver(spy, forKeyPath: "author")
    }

    @Test("A block gets the members that come and go as sets of their class")
    func block() {
        var heard: [String] = []
        let observation = author.observe(\.books, options: [.old, .new]) { _, change in
            let titles = [change.oldValue, change.newValue].map { ($0 ?? []).compactMap(\.title).sorted() }
            heard.append("\(change.kind) \(titles[0]) \(titles[1])")
        }
        author.addToBooks(NSSet(array: [book("A"), book("B")]))
        author.books = []
        #expect(heard == [#"insertion [] ["A", "B"]"#, #"setting ["A", "B"] []"#])
        observation.invalidate()
    }

    @Test("Deleting a member is a removal when delete rules are followed")
    func deletion() throws {
        let first = book("A")
        author.addToBooks(first)
        try context.save()
        watchBooks {
            context.delete(first)
            #expect(spy.heard.isEmpty)
            context.processPendingChanges()
        }
        #expect(spy.kinds == [.removal] && members(.oldKey) == [["A"]])
    }

    @Test("Custom accessors say what happens to the set")
    func mutations() {
        let (first, second, third) = (book("A"), book("B"), book("C"))
        author.books = [first, second]
        func change(_ kind: NSKeyValueSetMutationKind, _ objects: Set<NSManagedObject>) {
            let given = Set(objects.map(AnyHashable.init))
            author.willChangeValue(forKey: "books", withSetMutation: kind, using: given)
            author.didChangeValue(forKey: "books", withSetMutation: kind, using: given)
        }
        watchBooks {
            change(.union, [second, third])
            change(.minus, [second, third])
            change(.intersect, [second])
            change(.set, [second, third])
        }
        #expect(spy.kinds == [.insertion, .removal, .removal, .replacement])
        #expect(members(.newKey) == [["C"], [], [], ["C"]])
        #expect(members(.oldKey) == [[], ["B"], ["A"], ["A"]])
    }

    @Test("Members of an ordered relationship come and go at places")
    func ordered() {
        let book = book("A")
        let chapters = ["1", "2", "3"].map { context.make("Chapter", ["title": $0]) }
        book.addObserver(spy, forKeyPath: "chapters", options: [.old, .new], context: nil)
        book.insertIntoChapters(chapters[0], at: 0)
        book.insertIntoChapters(chapters[2], at: 1)
        book.insertIntoChapters(chapters[1], at: 1)
        book.removeFromChapters(at: IndexSet([0, 2]) as NSIndexSet)
        #expect(spy.kinds == [.insertion, .insertion, .insertion, .removal])
        #expect(members(.newKey) == [["1"], ["3"], ["2"], []] && members(.oldKey).last == ["1", "3"])
        let indexes = spy.heard.map { $0.change[.indexesKey] as? IndexSet }
        #expect(indexes == [[0], [1], [1], [0, 2]])
        book.removeObserver(spy, forKeyPath: "chapters")
    }

    @Test("Custom accessors of ordered relationships say where members change")
    func placed() {
        let book = book("A")
        let chapters = ["1", "2"].map { context.make("Chapter", ["title": $0]) }
        book.chapters = NSOrderedSet(array: chapters)
        book.addObserver(spy, forKeyPath: "chapters", options: [.old, .new], context: nil)
        book.willChange(.replacement, valuesAt: [1], forKey: "chapters")
        let third = context.make("Chapter", ["title": "3"])
        book.setPrimitiveValue(NSOrderedSet(array: [chapters[0], third]), forKey: "chapters")
        book.didChange(.replacement, valuesAt: [1], forKey: "chapters")
        #expect(spy.kinds == [.replacement] && members(.oldKey) == [["2"]] && members(.newKey) == [["3"]])
        #expect(spy.heard.first?.change[.indexesKey] as? IndexSet == [1])
        book.removeObserver(spy, forKeyPath: "chapters")
    }
}
