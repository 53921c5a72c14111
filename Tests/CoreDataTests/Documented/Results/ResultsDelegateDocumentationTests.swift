import CoreData
import Testing

/// Checks from the page of `NSFetchedResultsControllerDelegate`.
@MainActor @Suite("Documented: delegates of fetched results controllers")
struct ResultsDelegateDocumentationTests {
    private typealias Controller = NSFetchedResultsController<any NSFetchRequestResult>

    private let container: NSPersistentContainer
    private var context: NSManagedObjectContext { container.viewContext }
    private let controller: NSFetchedResultsController<NSManagedObject>

    /// Writes down what it is told, as the page has it.
    private class Listener: NSObject, NSFetchedResultsControllerDelegate {
        var told: [String] = []

        func controllerWillChangeContent(_ controller: Controller) { told.append("will") }
        func controllerDidChangeContent(_ controller: Controller) { told.append("did") }

        func controller(
            _ controller: Controller, didChange anObject: Any, at indexPath: IndexPath?,
            for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) {
            told.append("\(type) \(indexPath.map(Array.init) ?? []) \(newIndexPath.map(Array.init) ?? [])")
        }

        func controller(
            _ controller: Controller, didChange sectionInfo: any NSFetchedResultsSectionInfo,
            atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
        ) { told.append("section \(type) \(sectionIndex) \(sectionInfo.name)") }

        func controller(_ controller: Controller, sectionIndexTitleForSectionName sectionName: String) -> String? {
            "(\(sectionName))"
        }

        func take() -> [String] {
            defer { told = [] }
            return told
        }
    }

    init() throws {
        container = try Library.inMemory()
        let context = container.viewContext
        for title in ["a1", "a2", "b1"] {
            context.make("Book", ["title": title, "isbn": String(title.prefix(1)), "price": 1.0])
        }
        try context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = ["isbn", "title"].map { NSSortDescriptor(key: $0, ascending: true) }
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "isbn", cacheName: nil)
        try controller.performFetch()
    }

    private func told(_ listener: Listener, _ change: () -> Void) throws -> [String] {
        controller.delegate = listener
        try controller.performFetch()
        change()
        context.processPendingChanges()
        return listener.take()
    }

    @Test("An insertion has a new index path only, and is told between will and did")
    func inserting() throws {
        #expect(
            try told(Listener()) { context.make("Book", ["title": "a3", "isbn": "a"]) } == [
                "will", "insert [] [0, 2]", "did",
            ])
    }

    @Test("A deletion has the old index path only; objects that merely move up are not reported")
    func deleting() throws {
        let first = controller.object(at: IndexPath(indexes: [0, 0]))
        #expect(try told(Listener()) { context.delete(first) } == ["will", "delete [0, 0] []", "did"])
    }

    @Test("A change of a sort key that takes an object elsewhere is a move, with both index paths and no update")
    func moving() throws {
        let first = controller.object(at: IndexPath(indexes: [0, 0]))
        let told = try told(Listener()) { first.setValue("a9", forKey: "title") }
        #expect(told == ["will", "move [0, 0] [0, 1]", "did"])
        #expect(NSFetchedResultsChangeType.move.rawValue == 3)
    }

    @Test("A change of another property is an update")
    func updating() throws {
        let first = controller.object(at: IndexPath(indexes: [0, 0]))
        let told = try told(Listener()) { first.setValue(2.0, forKey: "price") }
        #expect(told.count == 3 && told[1].hasPrefix("update [0, 0]"))
    }

    @Test("Sections that come are told before their objects; those that go are told as well")
    func sections() throws {
        let inserted = try told(Listener()) { context.make("Book", ["title": "c1", "isbn": "c"]) }
        #expect(inserted == ["will", "section insert 2 c", "insert [] [2, 0]", "did"])
        let last = controller.object(at: IndexPath(indexes: [1, 0]))
        let deleted = try told(Listener()) { context.delete(last) }
        #expect(Set(deleted) == ["will", "section delete 1 b", "delete [1, 0] []", "did"])
    }

    @Test("controller(_:sectionIndexTitleForSectionName:): the delegate names the sections of the index")
    func indexTitles() throws {
        let listener = Listener()
        controller.delegate = listener
        #expect(controller.sectionIndexTitles == ["(a)", "(b)"])
    }

    @Test("After a reset of the context, performFetch() has the controller show objects that there are")
    func resetting() throws {
        _ = try told(Listener()) { context.reset() }
        try controller.performFetch()
        #expect(controller.fetchedObjects?.allSatisfy { $0.managedObjectContext === context } == true)
        #expect(controller.fetchedObjects?.count == 3)
    }

    @Test("controller(_:didChangeContentWith:) with a snapshot: sections and IDs, and no other method is called")
    func snapshots() throws {
        final class Snapshots: NSObject, NSFetchedResultsControllerDelegate {
            var snapshots: [NSDiffableDataSourceSnapshotReference] = []
            var others = 0
            func controller(
                _ controller: Controller, didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
            ) {
                snapshots.append(snapshot)
            }
            func controllerDidChangeContent(_ controller: Controller) { others += 1 }
        }
        let listener = Snapshots()
        controller.delegate = listener
        try controller.performFetch()
        let first = controller.object(at: IndexPath(indexes: [0, 0]))
        first.setValue(5.0, forKey: "price")
        context.processPendingChanges()
        let snapshot = try #require(listener.snapshots.last)
        #expect(listener.others == 0 && snapshot.numberOfSections == 2 && snapshot.numberOfItems == 3)
        #expect(snapshot.sectionIdentifiers as? [String] == ["a", "b"] && snapshot.numberOfItems(inSection: "a") == 2)
        #expect(snapshot.itemIdentifiers as? [NSManagedObjectID] == controller.fetchedObjects?.map(\.objectID))
        #expect(snapshot.itemIdentifiersInSection(withIdentifier: "b").count == 1)
        #expect(snapshot.index(ofSectionIdentifier: "b") == 1 && snapshot.index(ofItemIdentifier: first.objectID) == 0)
        #expect(snapshot.sectionIdentifier(forSectionContainingItemIdentifier: first.objectID) as? String == "a")
        #expect(snapshot.reloadedItemIdentifiers as? [NSManagedObjectID] == [first.objectID])
        #expect(snapshot.reconfiguredItemIdentifiers.isEmpty && snapshot.reloadedSectionIdentifiers.isEmpty)
    }

    @Test(
        "controller(_:didChangeContentWith:) with a difference of IDs: without sections only, and instead of the others"
    )
    func differences() throws {
        final class Differences: NSObject, NSFetchedResultsControllerDelegate {
            var differences: [CollectionDifference<NSManagedObjectID>] = []
            var others = 0
            func controller(
                _ controller: Controller, didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
            ) {
                differences.append(diff)
            }
            func controllerDidChangeContent(_ controller: Controller) { others += 1 }
        }
        let (listener, sectioned) = (Differences(), Differences())
        let plain = NSFetchedResultsController(
            fetchRequest: controller.fetchRequest, managedObjectContext: context, sectionNameKeyPath: nil,
            cacheName: nil)
        plain.delegate = listener
        controller.delegate = sectioned
        try plain.performFetch()
        try controller.performFetch()
        context.delete(plain.object(at: IndexPath(indexes: [0, 1])))
        context.processPendingChanges()
        #expect(listener.differences.map(\.removals.count) == [1] && listener.others == 0)
        #expect(sectioned.differences.isEmpty && sectioned.others == 1)
    }
}
