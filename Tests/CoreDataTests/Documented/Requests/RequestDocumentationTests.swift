import CoreData
import Testing

/// Checks from the pages of the batch requests, of `NSPersistentHistoryChangeRequest` and of
/// `NSFetchedResultsController`.
@MainActor @Suite("Documented: batch requests, history, fetched results")
struct RequestDocumentationTests {
    private let file: Notebook.File
    private let container: NSPersistentContainer
    private var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        file = try Notebook.File()
        let description = NSPersistentStoreDescription(url: file.url)
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container = try Library.container(Notebook.model(), description)
        container.viewContext.make("Note", ["title": "A", "stars": 1])
        container.viewContext.make("Note", ["title": "B", "stars": 2])
        try container.viewContext.save()
    }

    // MARK: Batches

    @Test("A batch insertion's result: a status, the count or the IDs")
    func insertResults() throws {
        func insert(_ type: NSBatchInsertRequestResultType) throws -> Any? {
            let request = NSBatchInsertRequest(entityName: "Note", objects: [["title": "X"], ["title": "Y"]])
            request.resultType = type
            return (try context.execute(request) as? NSBatchInsertResult)?.result
        }
        #expect(try insert(.statusOnly) as? Bool == true)
        #expect(try insert(.count) as? Int == 2)
        #expect(try (insert(.objectIDs) as? [NSManagedObjectID])?.count == 2)
    }

    @Test("A batch insertion's handler is called until it returns true")
    func insertHandler() throws {
        var number = 0
        let request = NSBatchInsertRequest(entityName: "Note") { (row: NSMutableDictionary) in
            guard number < 3 else { return true }
            row["title"] = "H\(number)"
            number += 1
            return false
        }
        try context.execute(request)
        #expect(try context.all("Note", NSPredicate(format: "title BEGINSWITH 'H'")).count == 3)
    }

    @Test("A batch update changes rows in the store; objects in contexts are as they were until they are refreshed")
    func update() throws {
        let note = try #require(try context.all("Note", by: "title").first)
        _ = note.value(forKey: "title")
        let request = NSBatchUpdateRequest(entityName: "Note")
        request.predicate = NSPredicate(format: "title == 'A'")
        request.propertiesToUpdate = ["stars": 5]
        request.resultType = .updatedObjectIDsResultType
        let result = try context.execute(request) as? NSBatchUpdateResult
        #expect(result?.result as? [NSManagedObjectID] == [note.objectID])
        #expect(note.shown("stars") == "1")
        context.refresh(note, mergeChanges: false)
        #expect(note.shown("stars") == "5")
    }

    @Test("A batch update's keys may be descriptions; its values expressions of the row")
    func updateByExpression() throws {
        let request = NSBatchUpdateRequest(entityName: "Note")
        let stars = try #require(container.managedObjectModel.entitiesByName["Note"]?.attributesByName["stars"])
        request.propertiesToUpdate = [stars: NSExpression(format: "stars * 10")]
        request.resultType = .updatedObjectsCountResultType
        #expect((try context.execute(request) as? NSBatchUpdateResult)?.result as? Int == 2)
        context.reset()
        #expect(try context.all("Note", by: "title").map { $0.shown("stars") } == ["10", "20"])
    }

    @Test("A batch deletion of a fetch or of IDs; its result: a status, the count or the IDs")
    func delete() throws {
        let notes = try context.all("Note", by: "title")
        let one = NSBatchDeleteRequest(objectIDs: [notes[0].objectID])
        one.resultType = .resultTypeObjectIDs
        #expect(
            (try context.execute(one) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID] == [notes[0].objectID])
        let all = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Note"))
        all.resultType = .resultTypeCount
        #expect((try context.execute(all) as? NSBatchDeleteResult)?.result as? Int == 1)
        context.reset()
        #expect(try context.all("Note").isEmpty)
    }

    // MARK: History

    @Test("Each save is a transaction, with its author, context name and changes")
    func transactions() throws {
        let start = container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
        context.transactionAuthor = "me"
        context.name = "view"
        try #require(try context.all("Note", by: "title").first).setValue("C", forKey: "title")
        context.make("Folder", ["name": "F"])
        try context.save()
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: start)
        let result = try context.execute(request) as? NSPersistentHistoryResult
        let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
        #expect(transactions.map(\.author) == ["me"] && transactions[0].contextName == "view")
        let changes = transactions[0].changes ?? []
        #expect(Set(changes.map(\.changeType)) == [.insert, .update])
        let update = changes.first { $0.changeType == .update }
        #expect(update?.updatedProperties?.map(\.name) == ["title"])
        #expect(transactions[0].storeID == container.persistentStoreCoordinator.persistentStores.first?.identifier)
    }

    @Test("History after a nil token is all of it; result types give IDs, a count, changes")
    func historyResults() throws {
        func fetch(_ type: NSPersistentHistoryResultType) throws -> Any? {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            request.resultType = type
            return (try context.execute(request) as? NSPersistentHistoryResult)?.result
        }
        #expect(try fetch(.count) as? Int == 1)
        #expect(try (fetch(.objectIDs) as? [NSManagedObjectID])?.count == 2)
        #expect(try (fetch(.changesOnly) as? [NSPersistentHistoryChange])?.count == 2)
        #expect(try (fetch(.transactionsOnly) as? [NSPersistentHistoryTransaction])?.first?.changes == nil)
    }

    @Test("deleteHistory(before:) forgets what was before; a token of that time is expired then")
    func deletingHistory() throws {
        let first = container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
        for title in ["X", "Y"] {
            context.make("Note", ["title": title])
            try context.save()
        }
        let now = container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
        try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: now))
        let error = #expect(throws: NSError.self) {
            try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: first))
        }
        #expect(error?.code == NSPersistentHistoryTokenExpiredError)
    }

    // MARK: Fetched results controllers

    private func controller(_ sections: String? = nil) -> NSFetchedResultsController<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.sortDescriptors = [
            NSSortDescriptor(key: "stars", ascending: true), NSSortDescriptor(key: "title", ascending: true),
        ]
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: nil)
    }

    @Test("fetchedObjects is nil before performFetch")
    func beforeFetch() throws {
        let controller = controller()
        #expect(controller.fetchedObjects == nil)
        try controller.performFetch()
        #expect(controller.fetchedObjects?.map { $0.shown("title") } == ["A", "B"])
    }

    @Test("Without a section key path there is one section; with one, a section for each of its values, in order")
    func sections() throws {
        let plain = controller()
        try plain.performFetch()
        #expect(plain.sections?.map(\.numberOfObjects) == [2])
        let sectioned = controller("stars")
        try sectioned.performFetch()
        #expect(sectioned.sections?.map(\.name) == ["1", "2"])
        #expect(sectioned.sectionIndexTitles == ["1", "2"])
    }

    @Test("object(at:) and indexPath(forObject:) are inverse; nil for an object that is not there")
    func indexPaths() throws {
        let controller = controller("stars")
        try controller.performFetch()
        let path = IndexPath(indexes: [1, 0])
        #expect(controller.indexPath(forObject: controller.object(at: path)) == path)
        let other = context.make("Note", ["title": "new"])
        #expect(controller.indexPath(forObject: other) == nil)
    }

    @Test("Unsaved changes of the context are in the results; the delegate hears of changes once they are processed")
    func changes() throws {
        final class Delegate: NSObject, NSFetchedResultsControllerDelegate {
            var log: [String] = []
            func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
                log.append("will")
            }
            func controller(
                _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
                at indexPath: IndexPath?,
                for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
            ) {
                log.append("\(type.rawValue) \(indexPath.map(Array.init) ?? []) \(newIndexPath.map(Array.init) ?? [])")
            }
            func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
                log.append("did")
            }
        }
        let controller = controller()
        let delegate = Delegate()
        controller.delegate = delegate
        try controller.performFetch()
        let new = context.make("Note", ["title": "0", "stars": 0])
        context.processPendingChanges()
        #expect(delegate.log == ["will", "1 [] [0, 0]", "did"])
        #expect(controller.fetchedObjects?.count == 3)
        delegate.log = []
        context.delete(new)
        context.processPendingChanges()
        #expect(delegate.log == ["will", "2 [0, 0] []", "did"])
    }
}
