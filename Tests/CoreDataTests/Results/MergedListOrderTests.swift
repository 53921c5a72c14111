import CoreData
import Testing

@Suite("A results controller whose context merges in the middle of an event")
struct MergedListOrderTests {
    private final class Delegate: NSObject, NSFetchedResultsControllerDelegate {}

    @Test("keeps its order")
    func order() throws {
        let container = try Library.inMemory()
        let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        context.automaticallyMergesChangesFromParent = true
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        let delegate = Delegate()
        controller.delegate = delegate
        try context.performAndWait {
            for name in ["a", "b", "c", "d", "e"] { context.make("Author", ["name": name]) }
            try context.save()
            try controller.performFetch()
            try context.all("Author", NSPredicate(format: "name == 'c'")).first?.setValue("zz", forKey: "name")
            try other.performAndWait {
                other.make("Author", ["name": "dd"])
                try other.save()
            }
            context.processPendingChanges()
            let names = controller.fetchedObjects?.map { $0.string("name") }
            #expect(names == ["a", "b", "d", "dd", "e", "zz"])
        }
    }
}
