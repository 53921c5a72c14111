import CoreData
import TestSupport
import Testing

/// Fills batches as Apple's sample “Loading and displaying a large data feed” does.
private func insertRequest(_ titles: [String]) -> NSBatchInsertRequest {
    var index = 0
    return NSBatchInsertRequest(entityName: "Book") { (dictionary: NSMutableDictionary) -> Bool in
        guard index < titles.count else { return true }
        dictionary.addEntries(from: ["title": titles[index], "isbn": "\(index)"])
        index += 1
        return false
    }
}

private final class List: NSObject, NSFetchedResultsControllerDelegate {
    var inserted: [IndexPath] = []

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        if type == .insert, let newIndexPath { inserted.append(newIndexPath) }
    }
}

// The rules: a batch insertion leaves contexts alone; its history, merged transaction by transaction, brings what it
// inserted to them and to their fetched results controllers. Apple's samples for large feeds and “Consuming relevant
// store changes” are built on it.
@Suite("An app that imports a feed in the background")
struct FeedAppTests {
    private let folder: TestFolder
    private let container: NSPersistentContainer

    init() throws {
        folder = try TestFolder()
        let description = NSPersistentStoreDescription(url: folder.file("Feed.sqlite"))
        description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container = try Library.container(Library.model(), description)
    }

    private func listContext() -> NSManagedObjectContext {
        let context = container.newBackgroundContext()
        context.automaticallyMergesChangesFromParent = false
        context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        context.undoManager = nil
        context.shouldDeleteInaccessibleFaults = true
        return context
    }

    private func importTitles(_ titles: [String], author: String = "import") throws {
        let context = container.newBackgroundContext()
        context.name = "importContext"
        context.transactionAuthor = author
        try context.performAndWait {
            let result = try context.execute(insertRequest(titles)) as? NSBatchInsertResult
            #expect(result?.result as? Bool == true)
        }
    }

    private func history(after token: NSPersistentHistoryToken?) throws -> [NSPersistentHistoryTransaction] {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            return result?.result as? [NSPersistentHistoryTransaction] ?? []
        }
    }

    @Test("A list hears of an imported batch when its history is merged, and not before")
    func mergedIntoList() throws {
        let context = listContext()
        let list = List()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        controller.delegate = list
        try context.performAndWait { try controller.performFetch() }

        try importTitles(["B", "A"])
        context.performAndWait { #expect(list.inserted.isEmpty) }

        let transactions = try history(after: nil)
        context.performAndWait {
            for transaction in transactions {
                context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
            }
            #expect(list.inserted == [IndexPath(item: 0, section: 0), IndexPath(item: 1, section: 0)])
            #expect(controller.fetchedObjects?.map { $0.string("title") } == ["A", "B"])
        }
    }

    @Test("The token of the last transaction that was merged leads to the next ones only, and deletes what came before")
    func tokens() throws {
        try importTitles(["A"])
        let token = try #require(try history(after: nil).last?.token)
        try importTitles(["B"], author: "sync")
        let new = try history(after: token)
        #expect(new.map(\.author) == ["sync"])
        #expect(new.first?.contextName == "importContext")
        #expect(new.first?.changes?.map(\.changeType) == [.insert])

        let context = container.newBackgroundContext()
        try context.performAndWait {
            _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: token))
        }
        #expect(try history(after: nil).last?.author == "sync")
    }

    @Test("A batch deletion's IDs, merged, take its objects out of the list")
    func batchDeletion() throws {
        try importTitles(["A", "B"])
        let context = listContext()
        try context.performAndWait {
            let books = try context.all("Book", by: "title")
            let request = NSBatchDeleteRequest(objectIDs: [books[0].objectID])
            request.resultType = .resultTypeObjectIDs
            let result = try context.execute(request) as? NSBatchDeleteResult
            let deleted = [NSDeletedObjectsKey: result?.result as? [NSManagedObjectID] ?? []]
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: deleted, into: [context])
            #expect(books[0].managedObjectContext == nil || books[0].isDeleted)
            #expect(try context.all("Book").map { $0.string("title") } == ["B"])
        }
    }
}
