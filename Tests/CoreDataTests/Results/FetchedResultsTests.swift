import Testing
@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine

/// Writes down what a controller tells.
private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
    var heard: [String] = []

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        heard.append("will")
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        heard.append("did")
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        let title = (anObject as? NSManagedObject)?.string("title") ?? "?"
        heard.append("\(type) \(title) \(path(indexPath)) > \(path(newIndexPath))")
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) { heard.append("\(type) section \(sectionInfo.name) \(sectionIndex), \(sectionInfo.numberOfObjects) objects") }

    private func path(_ path: IndexPath?) -> String { path.map { "\($0.section).\($0.item)" } ?? "-" }
}

@Suite("A fetched results controller")
struct FetchedResultsTests {
    private let container: NSPersistentContainer
    private let context: NSManagedObjectContext
    private let listener = Listener()

    init() throws {
        container = try Library.inMemory()
        context = container.newBackgroundContext()
    }

    private func controller(
        _ predicate: String? = nil, section: String? = nil
    ) -> NSFetchedResultsController<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = predicate.map { NSPredicate(format: $0) }
        request.sortDescriptors = (section.map { [$0] } ?? [] + ["title"]).map {
            NSSortDescriptor(key: $0, ascending: true)
        }
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: section, cacheName: nil)
    }

    private func books(_ titles: String...) throws -> [NSManagedObject] {
        let books = titles.map { context.make("Book", ["title": $0, "isbn": String($0.prefix(1)), "price": 1]) }
        try context.save()
        return books
    }

    @Test("Inserts, deletes, moves and updates are told by old and by new index paths, between will and did")
    func changes() throws {
        try context.performAndWait {
            let books = try books("B", "D", "F", "H")
            let controller = controller()
            controller.delegate = listener
            try controller.performFetch()
            context.delete(books[0])
            books[1].setValue(5, forKey: "price")
            books[2].setValue("Z", forKey: "title")
            context.make("Book", ["title": "C"])
            context.processPendingChanges()
            let expected = [
                "will", "delete B 0.0 > -", "insert C - > 0.0", "move Z 0.2 > 0.3", "update D 0.1 > 0.1", "did",
            ]
            #expect(listener.heard == expected)
            #expect(controller.fetchedObjects?.map { $0.string("title") } == ["C", "D", "H", "Z"])
        }
    }

    @Test("Objects enter and leave the results as they satisfy the predicate")
    func predicate() throws {
        try context.performAndWait {
            let books = try books("B", "D")
            books[1].setValue(9, forKey: "price")
            try context.save()
            let controller = controller("price > 5")
            controller.delegate = listener
            try controller.performFetch()
            books[0].setValue(7, forKey: "price")
            books[1].setValue(2, forKey: "price")
            try context.save()
            #expect(listener.heard == ["will", "delete D 0.0 > -", "insert B - > 0.0", "did"])
        }
    }

    @Test("Sections are told before the objects; one that went has no objects any more")
    func sections() throws {
        try context.performAndWait {
            let books = try books("Alpha", "Beta", "Delta")
            let controller = controller(section: "isbn")
            controller.delegate = listener
            try controller.performFetch()
            #expect(controller.sections?.map(\.name) == ["A", "B", "D"])
            #expect(controller.sections?.map(\.numberOfObjects) == [1, 1, 1])
            books[1].setValue("C", forKey: "isbn")
            context.processPendingChanges()
            let expected = [
                "will", "delete section B 1, 0 objects", "insert section C 1, 1 objects", "move Beta 1.0 > 1.0", "did",
            ]
            #expect(listener.heard == expected)
        }
    }

    @Test("A section shows what it has now, wherever others have moved it")
    func movedSection() throws {
        try context.performAndWait {
            let first = try books("Beta", "Delta")[0]
            let controller = controller(section: "isbn")
            controller.delegate = listener
            try controller.performFetch()
            let last = try #require(controller.sections?.last)
            _ = try books("Alpha", "Dover")
            #expect(controller.sections?.map(\.name) == ["A", "B", "D"])
            #expect(last.numberOfObjects == 2)
            context.delete(first)
            context.processPendingChanges()
            #expect(controller.sections?.map(\.name) == ["A", "D"])
            #expect((last.objects as? [NSManagedObject])?.map { $0.string("title") } == ["Delta", "Dover"])
        }
    }

    @Test("What another context saved is told once it is merged")
    func merged() throws {
        let other = container.newBackgroundContext()
        try context.performAndWait {
            context.automaticallyMergesChangesFromParent = true
            _ = try books("B", "D")
        }
        let controller = controller()
        controller.delegate = listener
        try context.performAndWait {
            try controller.performFetch()
            // A deleted object has the values that it had been read with.
            #expect(controller.fetchedObjects?.map { $0.string("title") } == ["B", "D"])
        }
        try other.performAndWait {
            let all = try other.all("Book", by: "title")
            other.delete(all[0])
            all[1].setValue("A", forKey: "title")
            other.make("Book", ["title": "C"])
            try other.save()
        }
        context.performAndWait {
            #expect(controller.fetchedObjects?.map { $0.string("title") } == ["A", "C"])
            #expect(listener.heard == ["will", "delete B 0.0 > -", "insert C - > 0.1", "update A 0.1 > 0.0", "did"])
        }
    }

    @Test("An object that nobody holds comes to the results when others make it match; others become no objects")
    func mergedUnheld() throws {
        let other = container.newBackgroundContext()
        try other.performAndWait {
            for title in ["B", "C", "D"] { other.make("Book", ["title": title, "price": 1]) }
            try other.save()
        }
        let controller = controller("price > 5")
        controller.delegate = listener
        try context.performAndWait {
            context.automaticallyMergesChangesFromParent = true
            try controller.performFetch()
            #expect(controller.fetchedObjects == [])
        }
        try other.performAndWait {
            for book in try other.all("Book") { book.setValue(book.string("title") == "C" ? 9 : 2, forKey: "price") }
            try other.save()
        }
        context.performAndWait {
            #expect(listener.heard == ["will", "insert C - > 0.0", "did"])
            #expect(context.registeredObjects.map { $0.string("title") } == ["C"])
        }
    }

    @Test("Without a delegate, what others made match meanwhile is there once there is one, and something changes")
    func mergedUnheldWithoutDelegate() throws {
        let other = container.newBackgroundContext()
        try other.performAndWait {
            other.make("Book", ["title": "B", "price": 1])
            try other.save()
        }
        let controller = controller("price > 5")
        try context.performAndWait {
            context.automaticallyMergesChangesFromParent = true
            try controller.performFetch()
        }
        try other.performAndWait {
            try other.all("Book").first?.setValue(9, forKey: "price")
            try other.save()
        }
        context.performAndWait {
            controller.delegate = listener
            context.make("Book", ["title": "C", "price": 7])
            context.processPendingChanges()
            #expect(listener.heard == ["will", "insert B - > 0.0", "insert C - > 0.1", "did"])
        }
    }

    @Test("Without a delegate the results stay as they were fetched")
    func noDelegate() throws {
        try context.performAndWait {
            let controller = controller()
            try controller.performFetch()
            _ = try books("B")
            #expect(controller.fetchedObjects?.isEmpty == true)
            controller.delegate = listener
            _ = try books("C")
            #expect(listener.heard == ["will", "insert B - > 0.0", "insert C - > 0.1", "did"])
        }
    }

    @Test("A reset of the context replaces the results by what the store has")
    func reset() throws {
        try context.performAndWait {
            let old = try books("B")
            let controller = controller()
            controller.delegate = listener
            try controller.performFetch()
            context.reset()
            let new = controller.fetchedObjects ?? []
            #expect(new.map { $0.string("title") } == ["B"])
            #expect(new.first !== old.first)
            #expect(listener.heard == [])
        }
    }

    @Test(
        "A reset of the context that takes unsaved results away is not told to the delegate, which could not read them")
    func resetOfUnsaved() throws {
        try context.performAndWait {
            _ = try books("B")
            let controller = controller()
            controller.delegate = listener
            try controller.performFetch()
            context.make("Book", ["title": "C", "isbn": "C"])
            context.processPendingChanges()
            #expect(controller.fetchedObjects?.count == 2)
            listener.heard = []
            context.reset()
            #expect(controller.fetchedObjects?.map { $0.string("title") } == ["B"])
            #expect(listener.heard == [])
        }
    }

    @Test("A delegate that comes after a reset is told what changes from then on")
    func resetWithoutDelegate() throws {
        try context.performAndWait {
            _ = try books("B")
            let controller = controller()
            try controller.performFetch()
            context.reset()
            #expect(controller.fetchedObjects?.map { $0.string("title") } == ["B"])
            controller.delegate = listener
            _ = try books("C")
            #expect(listener.heard == ["will", "insert C - > 0.1", "did"])
        }
    }

    @Test("The rows of a removed store leave the results, and the delegate, which could not read them, is not told")
    func removedStore() throws {
        try context.performAndWait {
            _ = try books("B")
            let controller = controller()
            controller.delegate = listener
            try controller.performFetch()
            let coordinator = try #require(context.persistentStoreCoordinator)
            for store in coordinator.persistentStores { try coordinator.remove(store) }
            #expect(controller.fetchedObjects == [])
            #expect(listener.heard == [])
        }
    }

    @Test("Objects are found by index path and index paths by object, nil for one that is not among the results")
    func lookup() throws {
        try context.performAndWait {
            let books = try books("B", "D")
            let controller = controller("title != \"D\"")
            try controller.performFetch()
            #expect(controller.object(at: IndexPath(row: 0, section: 0)) === books[0])
            #expect(controller.indexPath(forObject: books[0]) == IndexPath(item: 0, section: 0))
            #expect(controller.indexPath(forObject: books[1]) == nil)
        }
    }

    @Test("Index titles are the capital first letters of the sections, each once, and lead to the first of them")
    func indexTitles() throws {
        try context.performAndWait {
            for name in ["apple", "avocado", "banana"] { context.make("Book", ["title": name, "isbn": name]) }
            let controller = controller(section: "isbn")
            try controller.performFetch()
            #expect(controller.sectionIndexTitles == ["A", "B"])
            #expect(controller.section(forSectionIndexTitle: "B", at: 1) == 2)
            #expect(controller.sections?.map(\.indexTitle) == ["A", "A", "B"])
        }
    }

    @Test("Objects of a section that are not together make the fetch fail")
    func outOfOrder() {
        context.performAndWait {
            for (title, isbn) in [("1", "A"), ("2", "B"), ("3", "A")] {
                context.make("Book", ["title": title, "isbn": isbn])
            }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "isbn", cacheName: nil)
            let error = #expect(throws: NSError.self) { try controller.performFetch() }
            #expect(error?.code == 134060)
            #expect(error?.localizedDescription.contains("index 2") == true)
        }
    }

    @Test("Without a section key there is one section, even when nothing was found; with one there is none")
    func emptyResults() throws {
        try context.performAndWait {
            let (plain, sectioned) = (controller(), controller(section: "isbn"))
            #expect(plain.sections == nil)
            try plain.performFetch()
            try sectioned.performFetch()
            #expect(plain.sections?.map(\.numberOfObjects) == [0])
            #expect(sectioned.sections?.isEmpty == true)
        }
    }

    @Test("The controller that a delegate is handed equals the one it belongs to")
    func equality() {
        let controller = controller()
        let other = self.controller()
        #expect(controller as NSObject == controller.results.controller)
        #expect(controller as NSObject != other)
    }
}
