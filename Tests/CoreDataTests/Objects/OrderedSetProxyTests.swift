import CoreData
import TestSupport
import Testing

@Suite("mutableOrderedSetValue(forKey:): every change reaches the relationship")
struct OrderedSetProxyTests {
    let container: NSPersistentContainer
    let context: NSManagedObjectContext

    init() throws {
        container = try Library.inMemory()
        context = container.newBackgroundContext()
    }

    /// Makes a book with chapters 1 to 4, applies a change to its proxy, and gives the titles of relationship and
    /// proxy.
    private func titles(after change: (NSMutableOrderedSet) -> Void) -> [String] {
        context.performAndWait {
            let book = context.make("Book")
            let chapters = (1...4).map { context.make("Chapter", ["title": "\($0)"]) }
            book.setValue(NSOrderedSet(array: chapters), forKey: "chapters")
            let proxy = book.mutableOrderedSetValue(forKey: "chapters")
            change(proxy)
            func titles(_ objects: [Any]?) -> [String] {
                objects?.compactMap { ($0 as? NSManagedObject)?.string("title") } ?? []
            }
            let found = titles((book.value(forKey: "chapters") as? NSOrderedSet)?.array)
            return titles(proxy.array) == found ? found : ["proxy and relationship differ"]
        }
    }

    @Test("Exchanging, moving, replacing and sorting reach the relationship")
    func order() {
        #expect(titles { $0.exchangeObject(at: 0, withObjectAt: 3) } == ["4", "2", "3", "1"])
        #expect(titles { $0.moveObjects(at: IndexSet([0, 1]), to: 2) } == ["3", "4", "1", "2"])
        let descending = NSSortDescriptor(key: "title", ascending: false)
        #expect(titles { $0.sort(using: [descending]) } == ["4", "3", "2", "1"])
        #expect(
            titles { $0.replaceObject(at: 0, with: context.make("Chapter", ["title": "9"])) } == ["9", "2", "3", "4"])
    }

    @Test("Members that are replaced by one another trade places, and no other member is lost")
    func replacingByMembers() {
        #expect(titles { $0.replaceObjects(at: IndexSet([0, 1]), with: [$0[1], $0[0]]) } == ["2", "1", "3", "4"])
        #expect(titles { $0.replaceObjects(at: IndexSet([1, 3]), with: [$0[3], $0[1]]) } == ["1", "4", "3", "2"])
    }

    @Test("A value that is not an object stops the program, and takes no member's place")
    func replacingByOtherValues() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try OrderedSetProxyTests().titles { $0.replaceObject(at: 0, with: "5") }
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("“Book.chapters” holds Chapter objects"))
    }

    @Test("Adding at the end and in between reaches it, and removing by position, by object and of all")
    func members() {
        #expect(titles { $0.add(context.make("Chapter", ["title": "5"])) } == ["1", "2", "3", "4", "5"])
        #expect(titles { $0.insert(context.make("Chapter", ["title": "0"]), at: 0) } == ["0", "1", "2", "3", "4"])
        #expect(titles { $0.insert($0[3], at: 0) } == ["1", "2", "3", "4"])
        #expect(titles { $0.removeObject(at: 1) } == ["1", "3", "4"])
        #expect(titles { $0.remove($0[3]) } == ["1", "2", "3"])
        #expect(titles { $0.removeObjects(at: IndexSet([0, 2])) } == ["2", "4"])
        #expect(titles { $0.removeAllObjects() } == [])
    }

    @Test("What others have added is there after the next change")
    func others() {
        let titles = titles { proxy in
            let book = (proxy[0] as? NSManagedObject)?.value(forKey: "book") as? NSManagedObject
            context.make("Chapter", ["title": "5", "book": book as Any])
            proxy.insert(context.make("Chapter", ["title": "0"]), at: 0)
        }
        #expect(titles == ["0", "1", "2", "3", "4", "5"])
    }

    @Test("A member that is taken out and comes back to its place leaves the object unchanged; elsewhere it does not")
    func backInPlace() throws {
        try context.performAndWait {
            let book = context.make("Book")
            let chapters = (1...3).map { context.make("Chapter", ["title": "\($0)"]) }
            book.setValue(NSOrderedSet(array: chapters), forKey: "chapters")
            try context.save()
            let proxy = book.mutableOrderedSetValue(forKey: "chapters")
            proxy.remove(chapters[2])
            proxy.add(chapters[2])
            #expect(book.changedValues().isEmpty)
            proxy.removeObject(at: 0)
            proxy.insert(chapters[0], at: 0)
            #expect(book.changedValues().isEmpty)
            proxy.remove(chapters[0])
            proxy.add(chapters[0])
            #expect(Array(book.changedValues().keys) == ["chapters"])
            try context.save()
            context.refreshAllObjects()
            let stored = book.value(forKey: "chapters") as? NSOrderedSet
            #expect(stored?.compactMap { ($0 as? NSManagedObject)?.string("title") } == ["2", "3", "1"])
        }
    }

    @Test("Set operations keep the order of what stays")
    func sets() {
        #expect(titles { $0.minus(NSOrderedSet(object: $0[1])) } == ["1", "3", "4"])
        #expect(titles { $0.intersect(NSOrderedSet(array: [$0[2], $0[0]])) } == ["1", "3"])
        #expect(titles { $0.union(NSOrderedSet(object: context.make("Chapter", ["title": "5"]))) }.last == "5")
    }

    @Test("Changes by one set, by sets asked for anew and of the relationship itself, in turns, agree with an array")
    func series() {
        var random = SplitMix(state: 42)
        for _ in 0..<60 {
            context.performAndWait {
                let book = context.make("Book")
                var expected = (1...6).map { context.make("Chapter", ["title": "\($0)"]) }
                book.setValue(NSOrderedSet(array: expected), forKey: "chapters")
                let kept = book.mutableOrderedSetValue(forKey: "chapters")
                for _ in 0..<40 {
                    let isNew = Bool.random(using: &random)
                    let proxy = isNew ? book.mutableOrderedSetValue(forKey: "chapters") : kept
                    let place = Int.random(in: 0..<max(1, expected.count), using: &random)
                    let other = Int.random(in: 0..<max(1, expected.count), using: &random)
                    switch expected.isEmpty ? 0 : Int.random(in: 0..<8, using: &random) {
                    case 0:
                        let new = context.make("Chapter")
                        expected.insert(new, at: place)
                        proxy.insert(new, at: place)
                    case 1:
                        expected.remove(at: place)
                        proxy.removeObject(at: place)
                    case 2:
                        expected.swapAt(place, other)
                        proxy.exchangeObject(at: place, withObjectAt: other)
                    case 3:
                        let moved = expected.remove(at: place)
                        let target = Int.random(in: 0..<expected.count + 1, using: &random)
                        expected.insert(moved, at: target)
                        proxy.moveObjects(at: IndexSet(integer: place), to: target)
                    case 4:
                        let removed = expected.remove(at: place)
                        removed.setValue(nil, forKey: "book")
                    case 5:
                        expected.reverse()
                        book.setValue(NSOrderedSet(array: expected), forKey: "chapters")
                    case 6:
                        let new = context.make("Chapter")
                        expected[place] = new
                        proxy.replaceObject(at: place, with: new)
                    default: context.processPendingChanges()
                    }
                    let again = book.mutableOrderedSetValue(forKey: "chapters").array as? [NSManagedObject]
                    #expect(again == expected)
                    #expect((book.value(forKey: "chapters") as? NSOrderedSet)?.array as? [NSManagedObject] == expected)
                }
            }
        }
    }
}
