import CoreData
import TestSupport
import Testing

/// Checks from the page of `NSManagedObjectContext`: making one, its queue, and what it keeps.
@MainActor @Suite("Documented: contexts and their queues")
struct ContextQueueDocumentationTests {
    private let container: NSPersistentContainer
    private var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        container = try Library.inMemory()
        container.viewContext.make("Author", ["name": "Ann", "age": 30])
        try container.viewContext.save()
        container.viewContext.reset()
    }

    private func author() throws -> NSManagedObject { try #require(try context.all("Author").first) }

    // MARK: Making

    @Test("init(_:) and init(concurrencyType:): the two ways to say which queue")
    func types() {
        #expect(NSManagedObjectContext(.mainQueue).concurrencyType == .mainQueueConcurrencyType)
        #expect(NSManagedObjectContext(.privateQueue).concurrencyType == .privateQueueConcurrencyType)
        #expect(NSManagedObjectContext.ConcurrencyType.mainQueue.rawValue == .mainQueueConcurrencyType)
        #expect(NSManagedObjectContext.ConcurrencyType.privateQueue.rawValue == .privateQueueConcurrencyType)
        #expect(NSManagedObjectContextConcurrencyType.confinementConcurrencyType.rawValue == 0)
    }

    @Test("name and transactionAuthor: none at first, and what they are set to")
    func names() {
        let context = NSManagedObjectContext(.privateQueue)
        #expect(context.name == nil && context.transactionAuthor == nil)
        context.name = "import"
        context.transactionAuthor = "server"
        #expect(context.name == "import" && context.transactionAuthor == "server")
    }

    @Test("A container's view context and background contexts have neither undo manager nor changes")
    func contextsOfContainers() {
        #expect(context.undoManager == nil && container.newBackgroundContext().undoManager == nil)
        #expect(!context.hasChanges && !context.automaticallyMergesChangesFromParent)
    }

    // MARK: Queues

    @Test("perform(_:): the block runs later, on the context's queue; perform returns at once")
    func performing() async {
        let background = container.newBackgroundContext()
        let name = await withCheckedContinuation { continuation in
            background.perform { continuation.resume(returning: Thread.isMainThread) }
        }
        #expect(!name)
        let order = await withCheckedContinuation { continuation in
            nonisolated(unsafe) var log = ["before"]  // all on the main queue
            context.perform {
                log.append("block")
                continuation.resume(returning: log)
            }
            log.append("after")
        }
        #expect(order == ["before", "after", "block"])
    }

    @Test("performAndWait(_:): the block has run when it returns, and may call it again")
    func waiting() {
        let background = container.newBackgroundContext()
        var log: [Int] = []
        background.performAndWait {
            log.append(1)
            background.performAndWait { log.append(2) }
        }
        log.append(3)
        #expect(log == [1, 2, 3])
    }

    @Test("perform(schedule:_:): at once where it is on the queue already, or enqueued behind what waits")
    func scheduling() async throws {
        let background = container.newBackgroundContext()
        typealias Schedule = NSManagedObjectContext.ScheduledTaskType
        let enqueued = await background.perform(schedule: Schedule.enqueued) { 1 }
        let immediate = await background.perform(schedule: Schedule.immediate) { 2 }
        #expect(enqueued == 1 && immediate == 2)
        await #expect(throws: CocoaError.self) {
            try await background.perform(schedule: .enqueued) { throw CocoaError(.fileNoSuchFile) }
        }
    }

    @Test("lock, tryLock and unlock: a second thread does not get a lock that one has", .ownThread)
    func locking() {
        let context = NSManagedObjectContext(.privateQueue)
        context.lock()
        #expect(context.tryLock())
        context.unlock()
        nonisolated(unsafe) var taken = true  // read when the other thread is done
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            taken = context.tryLock()
            done.signal()
        }
        done.wait()
        #expect(!taken)
        context.unlock()
    }

    // MARK: What a context keeps

    @Test("retainsRegisteredObjects: whether the context keeps objects that nobody else does")
    func retaining() throws {
        try autoreleasepool { _ = try author().value(forKey: "name") }
        #expect(context.registeredObjects.isEmpty)
        context.retainsRegisteredObjects = true
        try autoreleasepool { _ = try author().value(forKey: "name") }
        #expect(context.registeredObjects.count == 1)
    }

    @Test("stalenessInterval: at 0, a fault takes what is stored now; negative, what is cached may do")
    func staleness() throws {
        let author = try author()
        #expect(context.stalenessInterval == -1)
        context.stalenessInterval = 0
        let other = container.newBackgroundContext()
        try other.performAndWait {
            other.object(with: author.objectID).setValue("New", forKey: "name")
            try other.save()
        }
        context.refresh(author, mergeChanges: false)
        #expect(author.shown("name") == "New")
    }

    @Test(
        "parent and persistentStoreCoordinator: a context has one of them; children have the coordinator of the eldest")
    func ancestors() {
        let (child, grandchild) = (NSManagedObjectContext(.mainQueue), NSManagedObjectContext(.privateQueue))
        child.parent = context
        grandchild.parent = child
        #expect(grandchild.parent === child && context.parent == nil)
        #expect(grandchild.persistentStoreCoordinator === container.persistentStoreCoordinator)
    }

    @Test("A child is asked for objects: what its parent has not saved is there, with the parent's values")
    func readingOfParents() throws {
        let author = try author()
        author.setValue("Changed", forKey: "name")
        let new = context.make("Author", ["name": "New"])
        let child = NSManagedObjectContext(.mainQueue)
        child.parent = context
        #expect(try child.all("Author", by: "name").map { $0.shown("name") } == ["Changed", "New"])
        #expect(try child.existingObject(with: new.objectID).shown("name") == "New")
    }

    @Test("execute(_:): runs a request of any kind, and gives its result")
    func executing() throws {
        let update = NSBatchUpdateRequest(entityName: "Author")
        update.propertiesToUpdate = ["age": 31]
        #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Bool == true)
    }
}
