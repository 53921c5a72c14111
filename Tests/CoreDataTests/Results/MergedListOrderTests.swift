import CoreData
import Testing

@Suite("A results controller whose context merges in the middle of an event")
struct MergedListOrderTests {
    private final class Delegate: NSObject, NSFetchedResultsControllerDelegate {}

    @Test("keeps the order of its objects")
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

@Suite("A results controller whose sections sort elsewhere")
struct SectionPlaceTests {
    private final class Delegate: NSObject, NSFetchedResultsControllerDelegate {}

    @Test("has them there, also where nobody was notified", arguments: [false, true])
    func order(isTold: Bool) throws {
        let context = try Library.inMemory().newBackgroundContext()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "price", ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "isbn", cacheName: nil)
        let delegate = Delegate()
        try context.performAndWait {
            let books = ["A", "B", "C"].enumerated().map { context.make("Book", ["isbn": $1, "price": $0 + 1]) }
            try context.save()
            try controller.performFetch()
            if isTold { controller.delegate = delegate }
            books[0].setValue(4, forKey: "price")
            books[2].setValue("D", forKey: "isbn")
            context.processPendingChanges()
            controller.delegate = delegate
            books[1].setValue("b", forKey: "title")
            context.processPendingChanges()
            #expect(controller.fetchedObjects == [books[1], books[2], books[0]])
            #expect(controller.sections?.map(\.name) == ["B", "D", "A"])
        }
    }
}
