import CoreData
import Synchronization
import Testing

/// A record that notes what it is told, as subclasses of developers do.
final class WatchedAuthor: NSManagedObject {
    var heard: [String] = []

    override func willChangeValue(forKey key: String) {
        super.willChangeValue(forKey: key)
        heard.append("will \(key)")
    }

    override func didChangeValue(forKey key: String) {
        super.didChangeValue(forKey: key)
        heard.append("did \(key)")
    }
}

@Suite("Objects: what subclasses and observers hear of changes")
struct ChangeHookTests {
    let container: NSPersistentContainer
    let context: NSManagedObjectContext

    init() throws {
        let model = Library.model()
        model.entitiesByName["Author"]?.managedObjectClassName = String(reflecting: WatchedAuthor.self)
        container = try Library.inMemory(model)
        context = container.newBackgroundContext()
    }

    @Test("willChangeValue and didChangeValue are called for each change of an attribute")
    func attribute() throws {
        try context.performAndWait {
            let author = try #require(context.make("Author") as? WatchedAuthor)
            author.heard = []
            author.setValue("A", forKey: "name")
            #expect(author.heard == ["will name", "did name"])
            author["name"] = "B"
            #expect(author["name"] as? String == "B")
        }
    }

    @Test("The object at the other end of a relationship hears of the change too")
    func inverse() throws {
        try context.performAndWait {
            let author = try #require(context.make("Author", ["name": "A"]) as? WatchedAuthor)
            author.heard = []
            let book = context.make("Book", ["author": author])
            #expect(author.heard == ["will books", "did books"])
            author.heard = []
            book.setValue(nil, forKey: "author")
            #expect(author.heard == ["will books", "did books"])
        }
    }

    // That the values are the former ones is what the tests of Wikipedia's and other apps' change controllers expect.
    @Test("In the notification of a change, changedValuesForCurrentEvent has the former values of that event")
    func eventValues() throws {
        let author = try context.performAndWait {
            let author = context.make("Author", ["name": "A", "age": 1])
            try context.save()
            return Unchecked(author)
        }
        let seen = Mutex<[String]>([])
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { _ in
            let former = author.value.changedValuesForCurrentEvent()
            seen.withLock { $0.append(former.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")) }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        for (key, value) in [("name", "B"), ("age", 2), ("name", "C")] as [(String, Any)] {
            context.performAndWait {
                author.value.setValue(value, forKey: key)
                context.processPendingChanges()
            }
        }
        #expect(seen.withLock { $0 } == ["name=A", "age=1", "name=B"])
        let changes = context.performAndWait {
            (event: author.value.changedValuesForCurrentEvent().count, all: Set(author.value.changedValues().keys))
        }
        #expect(changes.event == 0)
        #expect(changes.all == ["name", "age"])
    }

    @Test("A to-many relationship is among the values of an event that changed it, with its members before that event")
    func eventMembers() throws {
        try context.performAndWait {
            let author = context.make("Author", ["name": "A"])
            let books = ["A", "B"].map { context.make("Book", ["title": $0]) }
            author.setValue([books[0]] as Set, forKey: "books")
            try context.save()
            let members = author.mutableSetValue(forKey: "books")
            func former(_ change: () -> Void) -> [String: [String]] {
                change()
                defer { context.processPendingChanges() }
                return author.changedValuesForCurrentEvent().mapValues { value in
                    guard let set = value as? NSSet else { return ["\(value)"] }
                    return set.allObjects.compactMap { ($0 as? NSManagedObject)?.shown("title") }.sorted()
                }
            }
            #expect(former { members.add(books[1]) } == ["books": ["A"]])
            #expect(former { author.setValue("B", forKey: "name") } == ["name": ["A"]])
            #expect(former { members.remove(books[0]) } == ["books": ["A", "B"]])
            #expect(former { members.remove(books[1]) } == ["books": ["B"]])
            // As saved, and yet changed in this event.
            #expect(former { members.add(books[0]) } == ["books": []])
        }
    }

    @Test("An ordered relationship is among the values of an event that changed its order, in the order before")
    func eventOrder() throws {
        try context.performAndWait {
            let book = context.make("Book")
            let chapters = ["A", "B"].map { context.make("Chapter", ["title": $0]) }
            book.setValue(NSOrderedSet(array: chapters), forKey: "chapters")
            try context.save()
            let members = book.mutableOrderedSetValue(forKey: "chapters")
            members.exchangeObject(at: 0, withObjectAt: 1)
            context.processPendingChanges()
            book.setValue("T", forKey: "title")
            #expect(Array(book.changedValuesForCurrentEvent().keys) == ["title"])
            context.processPendingChanges()
            members.exchangeObject(at: 0, withObjectAt: 1)
            let former = book.changedValuesForCurrentEvent()["chapters"] as? NSOrderedSet
            #expect(former?.array as? [NSManagedObject] == [chapters[1], chapters[0]])
        }
    }
}
