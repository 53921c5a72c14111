import CoreData
import CoreDataPostgres
import Foundation
import PostgresEngine
import PostgresServer
import Testing

/// How often the server is asked must not grow with what a context changes.
@Suite("Contexts ask the server as often for many objects as for a few", .needsPostgres)
struct RoundTripTests {
    let database: TestDatabase
    let container: NSPersistentContainer
    let engine: PostgresEngine

    init() throws {
        database = try TestDatabase()
        container = try Bookshop.container(database)
        engine = try #require(container.persistentStoreCoordinator.persistentStores.first?.engine as? PostgresEngine)
    }

    /// Saves authors with two books each, which share two tags.
    private func save(authors: Int) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let tags = NSSet(array: ["old", "new"].map { context.insert("Tag", ["name": $0]) })
            for number in 0..<authors {
                let author = context.insert("Author", ["name": "\(number)"])
                for _ in 0..<2 { _ = context.insert("Book", ["author": author, "tags": tags]) }
            }
            try context.save()
        }
    }

    /// How often the server is asked while the objects that a fetch finds are deleted, together with what their rules
    /// say.
    private func askedByDeleting(_ entity: String) throws -> Int {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            let found = try context.fetch(entity)
            let before = engine.roundTrips
            found.forEach(context.delete)
            try context.save()
            return engine.roundTrips - before
        }
    }

    @Test("The number of statements is the same for deleting objects and what their deletion cascades to")
    func cascading() throws {
        var asked: [Int] = []
        for count in [3, 60] {
            try save(authors: count)
            asked.append(try askedByDeleting("Author"))
            #expect(try container.viewContext.fetch("Book").isEmpty)
        }
        #expect(asked[1] <= asked[0])
    }

    @Test("The number of statements is the same for deleting objects that others refer to")
    func nullifying() throws {
        var asked: [Int] = []
        for count in [3, 60] {
            try save(authors: count)
            asked.append(try askedByDeleting("Book"))
            #expect(try container.viewContext.fetch("Author", "books.@count != 0").isEmpty)
        }
        #expect(asked[1] <= asked[0])
    }

    private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
        var arrived = 0

        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
            at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) { if type == .insert { arrived += 1 } }
    }

    private func controller(
        _ context: NSManagedObjectContext, _ listener: Listener
    ) -> NSFetchedResultsController<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.predicate = NSPredicate(format: "name != 'nobody'")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        controller.delegate = listener
        return controller
    }

    @Test("The number of statements is the same for listing what others have saved")
    func listing() throws {
        let context = container.newBackgroundContext()
        let listener = Listener()
        let controller = controller(context, listener)
        try context.performAndWait { try controller.performFetch() }
        var asked: [Int] = []
        for count in [3, 60] {
            listener.arrived = 0
            nonisolated(unsafe) var saved: Notification?  // written on this thread
            let token = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSaveObjectIDs, object: nil, queue: nil
            ) { [container] notification in
                let context = notification.object as? NSManagedObjectContext
                if context?.persistentStoreCoordinator === container.persistentStoreCoordinator { saved = notification }
            }
            defer { NotificationCenter.default.removeObserver(token) }
            try save(authors: count)
            try context.performAndWait {
                let before = engine.roundTrips
                context.mergeChanges(fromContextDidSave: try #require(saved))
                asked.append(engine.roundTrips - before)
            }
            #expect(listener.arrived == count)
        }
        #expect(asked[1] <= asked[0])
    }

    @Test("The number of statements is the same for results that were all refreshed")
    func refreshing() throws {
        var asked: [Int] = []
        for count in [3, 60] {
            try save(authors: count)
            let context = container.newBackgroundContext()
            let listener = Listener()
            let controller = controller(context, listener)
            try context.performAndWait {
                try controller.performFetch()
                #expect(controller.fetchedObjects?.allSatisfy { $0.value(forKey: "name") != nil } == true)
                let before = engine.roundTrips
                context.refreshAllObjects()
                context.processPendingChanges()
                asked.append(engine.roundTrips - before)
                #expect(controller.fetchedObjects?.allSatisfy { $0.value(forKey: "name") != nil } == true)
            }
            withExtendedLifetime(listener) {}
        }
        #expect(asked[0] > 0)
        #expect(asked[1] <= asked[0])
    }
}
