import Testing

@testable import CoreData

/// Where Apple's documentation is silent, the rules are those that the tests of CoreDataPlus
/// (NotificationPayload_Tests, NotificationMerge_Tests), which run on Apple's framework, rely on.
@Suite("Notifications: what changed in a context")
struct ChangeNotificationTests {
    let container: NSPersistentContainer
    let context: NSManagedObjectContext
    let log: PostingLog

    init() throws {
        container = try Library.inMemory()
        context = container.newBackgroundContext()
        log = PostingLog(context)
    }

    /// Saves authors with these names, and returns them.
    private func saved(_ names: String...) throws -> [NSManagedObject] {
        let authors = names.map { context.make("Author", ["name": $0]) }
        try context.save()
        _ = log.take()
        return authors
    }

    @Test("Changes wait until they are processed: performAndWait does not process them, perform does")
    func blocks() async throws {
        context.performAndWait { _ = context.make("Author", ["name": "A"]) }
        context.performAndWait { _ = context.make("Author", ["name": "B"]) }
        #expect(log.take().isEmpty)
        context.performAndWait { context.processPendingChanges() }
        #expect(log.take() == ["changed inserted 2"])
        await context.perform { _ = context.make("Author", ["name": "C"]) }
        #expect(log.take() == ["changed inserted 1"])
    }

    @Test("With an undo manager, each performAndWait block is an event")
    func undoBlocks() {
        context.performAndWait { context.undoManager = UndoManager() }
        context.performAndWait { _ = context.make("Author", ["name": "A"]) }
        #expect(log.take() == ["changed inserted 1"])
    }

    @Test("An object is reported once in an event, by what it came to")
    func kinds() throws {
        try context.performAndWait {
            let authors = try saved("A", "B")
            context.make("Author", ["name": "C"]).setValue("D", forKey: "name")
            authors[0].setValue("E", forKey: "name")
            authors[0].setValue("F", forKey: "name")
            authors[1].setValue("G", forKey: "name")
            context.delete(authors[1])
            context.processPendingChanges()
            context.processPendingChanges()
        }
        #expect(log.take() == ["changed deleted 1 inserted 1 updated 1"])
    }

    @Test("What comes and goes within an event is reported as deleted")
    func transitory() {
        context.performAndWait {
            context.delete(context.make("Author", ["name": "A"]))
            context.processPendingChanges()
        }
        #expect(log.take() == ["changed deleted 1"])
    }

    @Test("Objects at both ends of a relationship are updated; cascades are deleted in the same event")
    func relationships() throws {
        try context.performAndWait {
            let author = try saved("A")[0]
            context.make("Book", ["author": author])
            context.processPendingChanges()
            #expect(log.take() == ["changed inserted 1 updated 1"])
            try context.save()
            _ = log.take()
            context.delete(author)
            context.processPendingChanges()
            #expect(log.take() == ["changed deleted 2"])
        }
    }

    @Test("Refreshed objects are reported when changes are processed, with and without merging")
    func refresh() throws {
        try context.performAndWait {
            let authors = try saved("A", "B")
            context.refresh(authors[0], mergeChanges: true)
            context.refresh(authors[1], mergeChanges: false)
            #expect(log.take().isEmpty)
            context.processPendingChanges()
            #expect(log.take() == ["changed refreshed 2"])
            for _ in 0..<3 { context.refreshAllObjects() }
            #expect(context.event.refreshed.count == 2)
            context.processPendingChanges()
            #expect(log.take() == ["changed refreshed 2"])
        }
    }

    @Test("A reset tells the IDs of all objects under invalidatedAll, at once")
    func reset() throws {
        try context.performAndWait {
            let authors = try saved("A", "B")
            context.reset()
            #expect(authors.allSatisfy { $0.managedObjectContext == nil })
        }
        #expect(log.take() == ["changed invalidatedAll 2"])
    }

    @Test("A rollback reports what was pending, then what it took back")
    func rollback() throws {
        try context.performAndWait {
            let author = try saved("A")[0]
            author.setValue("B", forKey: "name")
            context.make("Author", ["name": "C"])
            context.rollback()
        }
        #expect(log.take() == ["changed inserted 1 updated 1", "changed deleted 1 refreshed 1"])
    }

    @Test("Observers find the former values of what is reported to them")
    func formerValues() throws {
        try context.performAndWait {
            let author = try saved("A")[0]
            nonisolated(unsafe) var former: String?  // set on the context's queue, which waits for it
            let token = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
            ) { note in
                let updated = note.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject>
                former = updated?.first?.changedValuesForCurrentEvent()["name"] as? String
            }
            defer { NotificationCenter.default.removeObserver(token) }
            author.setValue("B", forKey: "name")
            context.processPendingChanges()
            #expect(former == "A")
        }
    }

    @Test("Objects of a store that is removed are invalidated; those with changes keep them")
    func removedStore() throws {
        try context.performAndWait {
            let authors = try saved("A", "B")
            authors[1].setValue("C", forKey: "name")
            context.processPendingChanges()
            _ = log.take()
            let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
            try container.persistentStoreCoordinator.remove(store)
            #expect(log.take() == ["changed invalidated 1"])
            #expect(authors[0].isFault)
            #expect(authors[1].string("name") == "C")
            #expect(throws: NSError.self) { try context.save() }
        }
    }

    @Test("The main queue processes changes when it comes to it")
    @MainActor func mainQueue() async {
        let view = container.viewContext
        let log = PostingLog(view)
        view.make("Author", ["name": "A"])
        view.make("Author", ["name": "B"])
        #expect(log.take().isEmpty)
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        #expect(log.take() == ["changed inserted 2"])
    }
}
