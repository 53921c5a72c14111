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
            // The one that was there first: without an order, a server gives what was written last at the end.
            body(try #require(try worker.all("Author", NSPredicate(format: "age != nil")).first))
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

    @Test("Members that were added and removed here and elsewhere are merged; saved, all of it is stored")
    func members() throws {
        let book = view.make("Book", ["title": "Emma"])
        let tags = ["a", "b", "c", "d", "e"].map { view.make("Tag", ["name": $0]) }
        book.setValue(Set(tags[0..<3]), forKey: "tags")
        view.make("Chapter", ["title": "1", "book": book])
        try view.save()
        func names(of book: NSManagedObject) -> [String] {
            book.objects("tags").compactMap { $0.string("name") }.sorted()
        }
        func chapters(of book: NSManagedObject) -> [String] {
            ((book.value(forKey: "chapters") as? NSOrderedSet)?.array ?? []).compactMap {
                ($0 as? NSManagedObject)?.string("title")
            }
        }
        #expect(names(of: book).count == 3 && chapters(of: book) == ["1"])
        book.mutableSetValue(forKey: "tags").add(tags[4])
        book.mutableSetValue(forKey: "tags").remove(tags[1])
        view.make("Chapter", ["title": "mine", "book": book])
        let (emma, first, fourth) = (book.objectID, tags[0].objectID, tags[3].objectID)
        try mergingSaves {
            try worker.performAndWait {
                let book = worker.object(with: emma)
                book.mutableSetValue(forKey: "tags").add(worker.object(with: fourth))
                book.mutableSetValue(forKey: "tags").remove(worker.object(with: first))
                worker.make("Chapter", ["title": "theirs", "book": book])
                try worker.save()
            }
        }
        #expect(names(of: book) == ["c", "d", "e"])
        #expect(chapters(of: book) == ["1", "theirs", "mine"])
        try view.save()
        view.reset()
        let stored = try #require(try view.all("Book").first)
        #expect(names(of: stored) == ["c", "d", "e"])
        #expect(chapters(of: stored) == ["1", "theirs", "mine"])
    }

    @Test("An object that is refreshed under its changes has the members that others added since")
    func refreshedMembers() throws {
        let author = try #require(try view.all("Author").first)
        #expect(author.objects("books").isEmpty)
        view.make("Book", ["title": "mine", "author": author])
        try change { author in
            guard let context = author.managedObjectContext else { return }
            context.make("Book", ["title": "theirs", "author": author])
        }
        view.refresh(author, mergeChanges: true)
        #expect(Set(author.objects("books").map { $0.string("title") }) == ["mine", "theirs"])
        view.rollback()
        #expect(author.objects("books").map { $0.string("title") } == ["theirs"])
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

    @Test(
        "Objects that a batch deletion deleted are in no relationship any more once it is merged, and nothing of that is a change"
    )
    func batchDeletion() throws {
        let author = try #require(try view.all("Author").first)
        let tag = view.make("Tag", ["name": "a"])
        let books = ["Emma", "Matter"].map { view.make("Book", ["title": $0, "author": author, "tags": Set([tag])]) }
        let shelf = view.make("Shelf", ["book": books[0]])
        try view.save()
        #expect(author.objects("books").count == 2 && tag.objects("books").count == 2)
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
        request.predicate = NSPredicate(format: "title == 'Emma'")
        let deletion = NSBatchDeleteRequest(fetchRequest: request)
        deletion.resultType = .resultTypeObjectIDs
        let result = try #require(try view.execute(deletion) as? NSBatchDeleteResult)
        let deleted = try #require(result.result as? [NSManagedObjectID])
        let pending = view.make("Shelf", ["code": "new"])
        nonisolated(unsafe) var refreshed: Set<NSManagedObject> = []  // written on this thread
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: view, queue: nil
        ) { refreshed.formUnion($0.userInfo?[NSRefreshedObjectsKey] as? Set<NSManagedObject> ?? []) }
        defer { NotificationCenter.default.removeObserver(token) }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: deleted], into: [view])
        #expect(author.objects("books") == [books[1]])
        #expect(tag.objects("books") == [books[1]])
        #expect(shelf.value(forKey: "book") == nil)
        #expect(refreshed == [author, tag, shelf])
        #expect(!author.hasChanges && !tag.hasChanges && !shelf.hasChanges)
        shelf.setValue("A", forKey: "code")
        try view.save()
        #expect(try view.all("Shelf", NSPredicate(format: "code == 'A'")) == [shelf])
        #expect(!pending.hasChanges)
    }

    @Test("What was related here to an object whose deletion is merged is saved without it")
    func relatedToDeleted() throws {
        let author = try #require(try view.all("Author").first)
        let book = view.make("Book", ["title": "Emma", "author": author])
        try view.save()
        let (identifier, worker) = (book.objectID, worker)
        let shelf = view.make("Shelf", ["code": "A", "book": book])
        let tag = view.make("Tag", ["name": "new", "books": Set([book])])
        try mergingSaves {
            try worker.performAndWait {
                worker.delete(worker.object(with: identifier))
                try worker.save()
            }
        }
        #expect(shelf.value(forKey: "book") == nil && tag.objects("books").isEmpty && author.objects("books").isEmpty)
        try view.save()
        view.reset()
        #expect(try view.all("Shelf").map { $0.value(forKey: "book") == nil } == [true])
        #expect(try view.all("Tag").map { $0.objects("books").count } == [0])
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

    @Test("What another context saves while this one's queue waits for it is there in the next line (Scout)")
    func automaticOnTheSameQueue() throws {
        view.automaticallyMergesChangesFromParent = true
        let author = try #require(try view.all("Author").first)
        #expect(author.string("name") == "A")
        try change { $0.setValue("B", forKey: "name") }
        #expect(author.string("name") == "B")

        let reader = container.newBackgroundContext()
        reader.automaticallyMergesChangesFromParent = true
        try reader.performAndWait {
            let author = try #require(try reader.all("Author").first)
            #expect(author.string("name") == "B")
            try change { $0.setValue("C", forKey: "name") }
            #expect(author.string("name") == "C")
        }
    }

    @Test(
        "What is saved while this context saves, or reports changes, is merged after that",
        arguments: [NSNotification.Name.NSManagedObjectContextWillSave, .NSManagedObjectContextObjectsDidChange])
    func automaticMeanwhile(notification: NSNotification.Name) async throws {
        view.automaticallyMergesChangesFromParent = true
        // Used on the main thread only.
        nonisolated(unsafe) let author = try #require(try view.all("Author").first)
        nonisolated(unsafe) var names = [author.string("name")]
        let token = NotificationCenter.default.addObserver(forName: notification, object: view, queue: nil) { _ in
            guard names.count == 1 else { return }
            MainActor.assumeIsolated { try? change { $0.setValue("B", forKey: "name") } }
            names.append(author.string("name"))
        }
        defer { NotificationCenter.default.removeObserver(token) }
        view.make("Shelf", ["code": "S"])
        try view.save()
        #expect(names == ["A", "A"])
        await withCheckedContinuation { done in view.perform { done.resume() } }
        #expect(author.string("name") == "B")
    }
}
