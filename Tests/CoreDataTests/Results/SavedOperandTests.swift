import CoreData
import Testing

@Suite("A results controller whose predicate has the temporary ID of an object that is saved later")
struct SavedOperandTests {
    private final class Delegate: NSObject, NSFetchedResultsControllerDelegate {}

    private let context: NSManagedObjectContext
    private let controller: NSFetchedResultsController<NSManagedObject>
    private let delegate = Delegate()

    init() throws {
        context = try Library.inMemory().newBackgroundContext()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        controller.delegate = delegate
    }

    private var titles: [String?]? { controller.fetchedObjects?.map { $0.string("title") } }

    @Test("takes in what comes after the save, and keeps what it had", arguments: [false, true])
    func arrivals(fetchesAgain: Bool) throws {
        try context.performAndWait {
            let (author, other) = (context.make("Author", ["name": "A"]), context.make("Author", ["name": "B"]))
            let book = context.make("Book", ["title": "1", "author": author])
            controller.fetchRequest.predicate = NSPredicate(
                format: "author IN %@", [author.objectID, other.objectID])
            try controller.performFetch()
            try context.save()
            if fetchesAgain { try controller.performFetch() }
            context.make("Book", ["title": "2", "author": author])
            let moved = context.make("Book", ["title": "3", "author": other])
            context.make("Book", ["title": "4"])
            book.setValue("0", forKey: "title")
            context.processPendingChanges()
            #expect(titles == ["0", "2", "3"])
            moved.setValue(nil, forKey: "author")
            context.processPendingChanges()
            #expect(titles == ["0", "2"])
        }
    }
}
