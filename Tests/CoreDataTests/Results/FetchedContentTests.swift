import CoreData
import Testing

private final class SnapshotListener: NSObject, NSFetchedResultsControllerDelegate {
    var snapshots: [NSDiffableDataSourceSnapshotReference] = []
    var others = 0

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) { snapshots.append(snapshot) }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { others += 1 }
}

private final class DifferenceListener: NSObject, NSFetchedResultsControllerDelegate {
    var list: [NSManagedObjectID] = []
    var changed: [Int] = []
    var others = 0

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        list = list.applying(diff) ?? []
        changed.append(diff.count)
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { others += 1 }
}

@Suite("What a fetched results controller hands over whole")
struct FetchedContentTests {
    private let context: NSManagedObjectContext

    init() throws { context = try Library.inMemory().newBackgroundContext() }

    private func controller(section: String? = nil) -> NSFetchedResultsController<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = [
            NSSortDescriptor(key: "isbn", ascending: true), NSSortDescriptor(key: "title", ascending: true),
        ]
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: section, cacheName: nil)
    }

    @Test("Sections of numbers are named as numbers are described: whole ones without a fraction")
    func numberSections() throws {
        try context.performAndWait {
            for price in [2.0, 1.5, 100] { context.make("Book", ["price": price]) }
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "price", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "price", cacheName: nil)
            try controller.performFetch()
            #expect(controller.sections?.map(\.name) == ["1.5", "2", "100"])
        }
    }

    @Test("A delegate that takes snapshots gets one after the fetch and after each change, and hears of nothing else")
    func snapshots() throws {
        try context.performAndWait {
            let books = ["B", "A", "C"].map { context.make("Book", ["title": $0, "isbn": $0 == "C" ? "2" : "1"]) }
            try context.save()
            let controller = controller(section: "isbn")
            let listener = SnapshotListener()
            controller.delegate = listener
            try controller.performFetch()
            books[0].setValue(3, forKey: "price")
            context.processPendingChanges()
            try #require(listener.snapshots.count == 2)
            #expect(listener.others == 0)
            let snapshot = listener.snapshots[1]
            #expect(snapshot.sectionIdentifiers as? [String] == ["1", "2"])
            #expect(snapshot.itemIdentifiers as? [NSManagedObjectID] == [books[1], books[0], books[2]].map(\.objectID))
            #expect(snapshot.reloadedItemIdentifiers as? [NSManagedObjectID] == [books[0].objectID])
            #expect(snapshot.numberOfItems == 3)
            #expect(snapshot.numberOfSections == 2)
            #expect(snapshot.numberOfItems(inSection: "1") == 2)
            #expect(
                snapshot.itemIdentifiersInSection(withIdentifier: "2") as? [NSManagedObjectID] == [books[2].objectID])
            #expect(snapshot.index(ofItemIdentifier: books[2].objectID) == 2)
            #expect(snapshot.index(ofSectionIdentifier: "2") == 1)
            #expect(snapshot.index(ofSectionIdentifier: "3") == NSNotFound)
            let section = snapshot.sectionIdentifier(forSectionContainingItemIdentifier: books[0].objectID)
            #expect(section as? String == "1")
        }
    }

    @Test("A delegate that takes differences can keep a list of IDs by them, and hears of nothing else")
    func differences() throws {
        try context.performAndWait {
            let books = ["A", "B", "C"].map { context.make("Book", ["title": $0, "isbn": "1"]) }
            try context.save()
            let controller = controller()
            let listener = DifferenceListener()
            controller.delegate = listener
            try controller.performFetch()
            listener.list = controller.fetchedObjects?.map(\.objectID) ?? []
            context.delete(books[0])
            books[1].setValue("Z", forKey: "title")
            books[2].setValue(4, forKey: "price")
            context.make("Book", ["title": "M", "isbn": "1"])
            context.processPendingChanges()
            #expect(listener.list == controller.fetchedObjects?.map(\.objectID))
            #expect(listener.changed == [6])
            #expect(listener.others == 0)
        }
    }
}
