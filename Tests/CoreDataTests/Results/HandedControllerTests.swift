import CoreData
import Testing

@Suite("A controller that a delegate is handed")
struct HandedControllerTests {
    private final class Delegate: NSObject, NSFetchedResultsControllerDelegate {
        var mine: NSFetchedResultsController<NSManagedObject>?
        var other: NSFetchedResultsController<NSManagedObject>?
        var told: [Bool] = []

        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
            told += [controller === mine, controller !== mine, controller === other]
        }
    }

    @Test("is the one that was made, as `===` has it (Nos)")
    func identity() throws {
        let context = try Library.inMemory().viewContext
        let delegate = Delegate()
        func controller(_ entity: String) throws -> NSFetchedResultsController<NSManagedObject> {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.sortDescriptors = [NSSortDescriptor(key: entity == "Book" ? "title" : "name", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            controller.delegate = delegate
            try controller.performFetch()
            return controller
        }
        delegate.mine = try controller("Book")
        delegate.other = try controller("Author")
        context.make("Book", ["title": "A"])
        context.processPendingChanges()
        #expect(delegate.told == [true, false, false])
    }
}
