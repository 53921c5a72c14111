import CoreData
import Testing

// What Core Data's guide on faulting says of observers: “notifications are sent to the object's properties” when it
// becomes a fault and when it is realized, whether or not they differ.
@MainActor @Suite("Observing managed objects: values that do not come by accessors")
struct ValueObservingTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }
    let author: ObservedAuthor
    let spy = Spy()

    init() throws {
        container = try Library.observed()
        author = ObservedAuthor(context: container.viewContext)
        author.name = "Emma"
        author.age = 1
        try container.viewContext.save()
    }

    private func watch(
        _ key: String = "name", _ options: NSKeyValueObservingOptions = [.old, .new], _ body: () throws -> Void
    ) rethrows {
        author.addObserver(spy, forKeyPath: key, options: options, context: nil)
        try body()
        author.removeObserver(spy, forKeyPath: key)
    }

    /// Saves a change of the author as another context, or another program, does.
    private func changeElsewhere(_ values: [String: Any]) throws {
        let other = container.newBackgroundContext()
        try other.performAndWait {
            let author = try other.existingObject(with: author.objectID)
            for (key, value) in values { author.setValue(value, forKey: key) }
            try other.save()
        }
    }

    @Test("Undo and redo are reported, for what they change")
    func undo() {
        context.undoManager = UndoManager()
        context.undoManager?.groupsByEvent = false
        context.undoManager?.beginUndoGrouping()
        author.name = "Jane"
        context.processPendingChanges()
        context.undoManager?.endUndoGrouping()
        let ages = Spy()
        author.addObserver(ages, forKeyPath: "age", context: nil)
        watch {
            context.undo()
            context.redo()
        }
        #expect(spy.old == ["Jane", "Emma"] && spy.new == ["Emma", "Jane"])
        #expect(ages.heard.isEmpty)
        author.removeObserver(ages, forKeyPath: "age")
    }

    @Test("A rollback reports what was changed, and nothing else")
    func rollback() {
        author.name = "Jane"
        let book = ObservedBook(context: context)
        author.addToBooks(book)
        let (ages, books) = (Spy(), Spy())
        author.addObserver(ages, forKeyPath: "age", context: nil)
        author.addObserver(books, forKeyPath: "books", context: nil)
        watch { context.rollback() }
        #expect(spy.old == ["Jane"] && spy.new == ["Emma"])
        #expect(ages.heard.isEmpty && books.heard.count == 1)
        author.removeObserver(ages, forKeyPath: "age")
        author.removeObserver(books, forKeyPath: "books")
    }

    @Test("A refresh that merges reports what others have saved")
    func refreshed() throws {
        let ages = Spy()
        author.addObserver(ages, forKeyPath: "age", context: nil)
        try changeElsewhere(["name": "Jane"])
        watch { context.refresh(author, mergeChanges: true) }
        #expect(spy.old == ["Emma"] && spy.new == ["Jane"])
        #expect(ages.heard.isEmpty)
        author.removeObserver(ages, forKeyPath: "age")
    }

    @Test("A value that was changed here stays at a refresh, and is not reported")
    func keptAtRefresh() throws {
        try changeElsewhere(["name": "Jane"])
        author.name = "Anne"
        watch { context.refresh(author, mergeChanges: true) }
        #expect(spy.heard.isEmpty && author.name == "Anne")
    }

    @Test("Merged saves are reported before the notification of the merge")
    func merged() throws {
        context.automaticallyMergesChangesFromParent = false
        let other = container.newBackgroundContext()
        nonisolated(unsafe) var saved: Notification?  // written within the save below
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: other, queue: nil
        ) { saved = $0 }
        try changeElsewhere(other, "Jane")
        NotificationCenter.default.removeObserver(token)
        let notification = try #require(saved)
        watch { context.mergeChanges(fromContextDidSave: notification) }
        #expect(spy.old == ["Emma"] && spy.new == ["Jane"])
    }

    private func changeElsewhere(_ other: NSManagedObjectContext, _ name: String) throws {
        let identifier = author.objectID
        try other.performAndWait {
            try other.existingObject(with: identifier).setValue(name, forKey: "name")
            try other.save()
        }
    }

    @Test("A member that came by a merge is reported, where the relationship had been read")
    func mergedMembers() throws {
        #expect(author.books.isEmpty)
        let identifier = author.objectID
        let other = container.newBackgroundContext()
        try other.performAndWait {
            other.make("Book", ["title": "A", "author": try other.existingObject(with: identifier)])
            try other.save()
        }
        watch("books") { context.refresh(author, mergeChanges: true) }
        #expect(spy.heard.count == 1 && author.books.count == 1)
        spy.heard = []
        watch("books") { context.refresh(author, mergeChanges: true) }
        #expect(spy.heard.isEmpty)
    }

    @Test("An object that becomes a fault reports its properties; an observer that wants the value has it read again")
    func faulted() throws {
        try changeElsewhere(["name": "Jane"])
        watch { context.refresh(author, mergeChanges: false) }
        #expect(spy.old == ["Emma"] && spy.new == ["Jane"])
        #expect(!author.isFault)
    }

    @Test("Where nobody looks, it stays a fault, and tells again when it takes its values")
    func realized() {
        watch("name", []) {
            context.refresh(author, mergeChanges: false)
            #expect(author.isFault && spy.heard.count == 1)
            _ = author.age
            #expect(spy.heard.count == 2)
        }
    }

    @Test("An observer that removes itself in willTurnIntoFault hears nothing of it")
    func beforeFault() {
        watch("name", [.prior]) {
            context.refresh(author, mergeChanges: false)
            #expect(spy.heard.map { $0.change[.notificationIsPriorKey] as? Bool } == [true, nil])
        }
    }

    @Test("What an object sets while it awakes is not reported")
    func awaking() throws {
        let context = container.newBackgroundContext()
        let identifier = author.objectID
        try context.performAndWait {
            let author = try #require(context.existingObject(with: identifier) as? ObservedAuthor)
            var heard = 0
            let observation = author.observe(\.nickname) { _, _ in heard += 1 }
            author.nickname = "E."
            #expect(heard == 1)
            observation.invalidate()
        }
    }

    @Test("A child's save is reported by the parent's object")
    func childSave() throws {
        let child = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        child.parent = context
        let copy = try #require(child.existingObject(with: author.objectID) as? ObservedAuthor)
        copy.name = "Jane"
        let ages = Spy()
        author.addObserver(ages, forKeyPath: "age", context: nil)
        try watch { try child.save() }
        #expect(spy.old == ["Emma"] && spy.new == ["Jane"] && ages.heard.isEmpty)
        author.removeObserver(ages, forKeyPath: "age")
    }

    @Test("A save changes no values, and reports none")
    func save() throws {
        author.name = "Jane"
        try watch { try context.save() }
        #expect(spy.heard.isEmpty)
    }

    @Test("A reset reports nothing, and the object can still be let go by its observers")
    func reset() {
        watch { context.reset() }
        #expect(spy.heard.isEmpty && author.observationInfo == nil)
    }

    @Test("A key path goes on being heard of after the objects on it became faults")
    func pathAfterFault() throws {
        let book = ObservedBook(context: context)
        book.author = author
        try context.save()
        book.addObserver(spy, forKeyPath: "author.name", options: [.new], context: nil)
        context.refreshAllObjects()
        spy.heard = []
        author.name = "Jane"
        #expect(spy.new.last == "Jane")
        book.removeObserver(spy, forKeyPath: "author.name")
    }
}
