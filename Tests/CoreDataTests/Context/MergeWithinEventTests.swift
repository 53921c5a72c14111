import CoreData
import Testing

@Suite("What others save in the middle of a context's changes")
struct MergeWithinEventTests {
    private let container: NSPersistentContainer
    private let (context, other): (NSManagedObjectContext, NSManagedObjectContext)

    init() throws {
        container = try Library.inMemory()
        (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
    }

    private func save(_ block: (NSManagedObjectContext) throws -> Void) throws {
        try other.performAndWait {
            try block(other)
            try other.save()
        }
    }

    @Test("stays when these are undone", arguments: ["merge", "refresh", "refresh all"])
    func undo(how: String) throws {
        try save { $0.make("Book", ["title": "T", "price": 10]) }
        context.undoManager = UndoManager()
        context.automaticallyMergesChangesFromParent = how == "merge"
        try context.performAndWait {
            let book = try #require(try context.all("Book").first)
            book.setValue("X", forKey: "title")
            try save { try $0.all("Book").first?.setValue(20, forKey: "price") }
            switch how {
            case "refresh": context.refresh(book, mergeChanges: true)
            case "refresh all": context.refreshAllObjects()
            default: break
            }
            #expect(book.value(forKey: "price") as? Double == 20)
        }
        try context.performAndWait {
            context.undo()
            try context.save()
        }
        let fresh = container.newBackgroundContext()
        try fresh.performAndWait {
            let book = try #require(try fresh.all("Book").first)
            #expect(book.string("title") == "T")
            #expect(book.value(forKey: "price") as? Double == 20)
        }
    }

    private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
    }

    @Test("comes to its place in the list of a results controller")
    func order() throws {
        try save { for title in ["a", "b", "c", "d", "e"] { $0.make("Book", ["title": title]) } }
        context.automaticallyMergesChangesFromParent = true
        let listener = Listener()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            controller.delegate = listener
            try controller.performFetch()
            controller.fetchedObjects?[2].setValue("zz", forKey: "title")
            try save { $0.make("Book", ["title": "dd"]) }
            context.processPendingChanges()
            #expect(controller.fetchedObjects?.map { $0.string("title") } == ["a", "b", "d", "dd", "e", "zz"])
        }
        withExtendedLifetime(listener) {}
    }
}
