import CoreData
import Testing

@Suite("A result whose row others have deleted")
struct LostResultTests {
    private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
    }

    private let container: NSPersistentContainer
    private let view: NSManagedObjectContext
    private let listener = Listener()

    init() throws {
        container = try Library.inMemory()
        view = container.newBackgroundContext()
        let view = view
        try view.performAndWait {
            view.make("Author", ["name": "A"])
            try view.save()
            view.reset()
        }
    }

    private func deleteElsewhere() throws {
        let other = container.newBackgroundContext()
        try other.performAndWait {
            for author in try other.all("Author") { other.delete(author) }
            try other.save()
        }
    }

    private func controller() throws -> NSFetchedResultsController<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: view, sectionNameKeyPath: nil, cacheName: nil)
        controller.delegate = listener
        try controller.performFetch()
        return controller
    }

    /// What the context says that it deleted, while a block runs.
    private func told(_ block: () throws -> Void) rethrows -> Int {
        nonisolated(unsafe) var count = 0  // the notifications are posted by the block
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: view, queue: nil
        ) { count += ($0.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0 }
        defer { NotificationCenter.default.removeObserver(token) }
        try block()
        return count
    }

    @Test("leaves the list when a merge policy lets go of it, and is a fault", arguments: [true, false])
    func policy(isRolledBack: Bool) throws {
        view.mergePolicy = isRolledBack ? NSMergePolicy.rollback : NSMergePolicy.mergeByPropertyStoreTrump
        try view.performAndWait {
            let controller = try controller()
            let author = try #require(controller.fetchedObjects?.first)
            #expect(author.string("name") == "A")
            try deleteElsewhere()
            author.setValue("X", forKey: "name")
            let count = try told { try view.save() }
            #expect(count == 1)
            #expect(controller.fetchedObjects?.isEmpty == true)
            #expect(author.managedObjectContext == nil)
            #expect(author.isFault)
            #expect(author.string("name") == nil)
        }
    }

    @Test("leaves the list once when it was deleted here, too", arguments: [true, false])
    func deletedHere(winsHere: Bool) throws {
        view.mergePolicy = winsHere ? NSMergePolicy.mergeByPropertyObjectTrump : NSMergePolicy.mergeByPropertyStoreTrump
        try view.performAndWait {
            let controller = try controller()
            let author = try #require(controller.fetchedObjects?.first)
            #expect(author.string("name") == "A")
            try deleteElsewhere()
            view.delete(author)
            let count = try told { try view.save() }
            #expect(count == 1)
            #expect(controller.fetchedObjects?.isEmpty == true)
            #expect(author.managedObjectContext == nil)
        }
    }

    @Test("leaves the list when it is read")
    func fault() throws {
        try view.performAndWait {
            let controller = try controller()
            let author = try #require(controller.fetchedObjects?.first)
            view.refresh(author, mergeChanges: false)
            view.processPendingChanges()
            try deleteElsewhere()
            let count = told {
                #expect(author.string("name") == nil)
                view.processPendingChanges()
            }
            #expect(count == 1)
            #expect(author.isDeleted)
            #expect(controller.fetchedObjects?.isEmpty == true)
            try view.save()
            #expect(author.managedObjectContext == nil)
        }
    }

    @Test("does not come back with the news that all objects were refreshed (Slate)", arguments: [nil, "name == nil"])
    func refreshed(format: String?) throws {
        try view.performAndWait {
            let controller = try controller()
            let author = try #require(controller.fetchedObjects?.first)
            #expect(author.string("name") == "A")
            controller.fetchRequest.predicate = format.map { NSPredicate(format: $0) }
            try deleteElsewhere()
            view.refreshAllObjects()
            try controller.performFetch()
            view.processPendingChanges()
            #expect(controller.fetchedObjects?.isEmpty == true)
            #expect(author.isFault)
        }
    }

    @Test("does not come back with the news of its insertion")
    func lateNews() throws {
        let other = container.newBackgroundContext()
        try view.performAndWait {
            let controller = try controller()
            let identifier = try other.performAndWait {
                let author = other.make("Author", ["name": "B"])
                try other.save()
                return author.objectID
            }
            view.delete(view.object(with: identifier))
            try view.save()
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSInsertedObjectIDsKey: [identifier]], into: [view])
            #expect(controller.fetchedObjects?.map { $0.string("name") } == ["A"])
        }
    }
}
