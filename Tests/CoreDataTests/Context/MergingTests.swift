import CoreData
import Testing

@MainActor @Suite("One context hears of another's save")
struct MergingTests {
    let container: NSPersistentContainer
    var view: NSManagedObjectContext { container.viewContext }
    let worker: NSManagedObjectContext

    init() throws {
        container = try Library.inMemory()
        worker = container.newBackgroundContext()
        try worker.performAndWait { [worker] in
            worker.make("Author", ["name": "A", "age": 1])
            try worker.save()
        }
    }

    private func change(_ body: (NSManagedObject) -> Void) throws {
        try worker.performAndWait {
            body(try #require(try worker.all("Author").first))
            try worker.save()
        }
    }

    private func mergingSaves(_ body: () throws -> Void) throws {
        let view = view
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: worker, queue: nil
        ) { view.mergeChanges(fromContextDidSave: $0) }
        defer { NotificationCenter.default.removeObserver(token) }
        try body()
    }

    @Test("A merged update shows the new values, under changes made here")
    func update() throws {
        let author = try #require(try view.all("Author").first)
        _ = author.string("name")
        author.setValue("mine", forKey: "name")
        try mergingSaves {
            try change {
                $0.setValue(2, forKey: "age")
                $0.setValue("theirs", forKey: "name")
            }
        }
        #expect(author.value(forKey: "age") as? Int == 2)
        #expect(author.string("name") == "mine")
        try view.save()
    }

    @Test("Saves that follow one another while a context is busy are all merged, in their order, when it comes to them")
    func severalSaves() throws {
        let reader = container.newBackgroundContext()
        reader.automaticallyMergesChangesFromParent = true
        let author = try reader.performAndWait {
            let author = try #require(try reader.all("Author").first)
            _ = author.string("name")
            return author
        }
        let queue = DispatchSemaphore(value: 0)
        reader.perform { queue.wait() }
        for name in ["B", "C", "D"] {
            try change {
                $0.setValue(name, forKey: "name")
                $0.managedObjectContext?.make("Author", ["name": "child of \(name)"])
            }
        }
        // Used on the queue of the reader only.
        nonisolated(unsafe) var told: [Int] = []
        let token = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didChangeObjectsNotification, object: reader, queue: nil
        ) { told.append(($0.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0) }
        defer { NotificationCenter.default.removeObserver(token) }
        queue.signal()
        reader.performAndWait {
            #expect(author.string("name") == "D")
            #expect(told == [1, 1, 1])
        }
        // The next one is merged as well.
        try change { $0.setValue("E", forKey: "name") }
        reader.performAndWait { #expect(author.string("name") == "E") }
    }

    @Test("A fault that was fetched before another's save shows what was saved")
    func staleFault() throws {
        let author = try #require(try view.all("Author").first)
        try change { $0.setValue("B", forKey: "name") }
        #expect(author.string("name") == "B")
    }

    @Test("A merged deletion deletes the object here, and the next save takes it out of the context")
    func deletion() throws {
        let author = try #require(try view.all("Author").first)
        try mergingSaves { try change { $0.managedObjectContext?.delete($0) } }
        #expect(author.isDeleted)
        try view.save()
        #expect(author.managedObjectContext == nil)
        #expect(view.registeredObjects.isEmpty)
    }

    @Test("Without merging, an object keeps its values until it is refreshed")
    func refresh() throws {
        let author = try #require(try view.all("Author").first)
        #expect(author.string("name") == "A")
        try change { $0.setValue("B", forKey: "name") }
        #expect(author.string("name") == "A")
        view.refresh(author, mergeChanges: true)
        #expect(author.string("name") == "B")
    }

    @Test("A context that merges automatically takes over saves by itself")
    func automatic() async throws {
        let reader = container.newBackgroundContext()
        reader.automaticallyMergesChangesFromParent = true
        let identifier = try await reader.perform {
            let author = try #require(try reader.all("Author").first)
            _ = author.string("name")
            reader.retainsRegisteredObjects = true
            return author.objectID
        }
        try change { $0.setValue("B", forKey: "name") }
        let name = await reader.perform(schedule: .enqueued) { reader.object(with: identifier).string("name") }
        #expect(name == "B")
    }
}
