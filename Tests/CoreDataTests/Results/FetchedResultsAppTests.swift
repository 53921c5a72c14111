import CoreData
import Testing

private final class Teller: NSObject, NSFetchedResultsControllerDelegate {
    var heard: [String] = []

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) { heard.append("\(type) \((anObject as? NSManagedObject)?.string("title") ?? "")") }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) { heard.append("\(type) section \(sectionInfo.name)") }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String? { sectionName == "hidden" ? nil : "§\(sectionName)" }
}

private final class NumberedController: NSFetchedResultsController<NSManagedObject> {
    override func sectionIndexTitle(forSectionName sectionName: String) -> String? { "#" + sectionName }
}

// The rules: what Apple's documentation of the class says, and what apps with lists do with it.
@Suite("Lists of apps, by a fetched results controller")
struct FetchedResultsAppTests {
    private let container: NSPersistentContainer
    private let context: NSManagedObjectContext
    private let teller = Teller()

    init() throws {
        container = try Library.inMemory()
        context = container.newBackgroundContext()
    }

    private func request(_ keys: [String] = ["title"]) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
        return request
    }

    private func controller(
        _ request: NSFetchRequest<NSManagedObject>, section: String? = nil
    ) throws -> NSFetchedResultsController<NSManagedObject> {
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: section, cacheName: nil)
        controller.delegate = teller
        try controller.performFetch()
        return controller
    }

    private func titles(_ controller: NSFetchedResultsController<NSManagedObject>) -> [String?]? {
        controller.fetchedObjects?.map { $0.string("title") }
    }

    @Test("A deletion that is rolled back, and an insertion that is, are told as their opposites")
    func rollback() throws {
        try context.performAndWait {
            let book = context.make("Book", ["title": "A"])
            try context.save()
            let controller = try controller(request())
            context.delete(book)
            context.make("Book", ["title": "B"])
            context.processPendingChanges()
            #expect(titles(controller) == ["B"])
            context.rollback()
            context.processPendingChanges()
            #expect(titles(controller) == ["A"])
            #expect(teller.heard == ["delete A", "insert B", "delete B", "insert A"])
        }
    }

    @Test("An insertion that is undone leaves the list, and comes back when it is redone")
    func undo() throws {
        try context.performAndWait {
            context.undoManager = UndoManager()
            let controller = try controller(request())
            context.make("Book", ["title": "A"])
            context.processPendingChanges()
            context.undo()
            context.processPendingChanges()
            #expect(titles(controller) == [])
            context.redo()
            context.processPendingChanges()
            #expect(titles(controller) == ["A"])
            #expect(teller.heard.map { $0.prefix(6) } == ["insert", "delete", "insert"])
        }
    }

    @Test("An object that is refreshed from the store is told as an update")
    func refreshed() throws {
        let other = container.newBackgroundContext()
        try context.performAndWait {
            let book = context.make("Book", ["title": "A", "price": 1])
            try context.save()
            let controller = try controller(request())
            try other.performAndWait {
                try other.all("Book")[0].setValue(9, forKey: "price")
                try other.save()
            }
            context.refresh(book, mergeChanges: true)
            context.processPendingChanges()
            #expect(teller.heard == ["update A"])
            #expect(controller.fetchedObjects?.first?.value(forKey: "price") as? Double == 9)
        }
    }

    @Test("A save that gives new objects their permanent IDs reports nothing that was reported before")
    func saveAfterInsertion() throws {
        try context.performAndWait {
            let controller = try controller(request())
            let book = context.make("Book", ["title": "A"])
            context.processPendingChanges()
            try context.save()
            #expect(teller.heard == ["insert A"])
            #expect(controller.indexPath(forObject: book) == IndexPath(item: 0, section: 0))
        }
    }

    @Test(
        "Sections may be named by a property of a related object, and an object that moves there takes its section along"
    )
    func relatedSections() throws {
        try context.performAndWait {
            let authors = ["Austen", "Brontë"].map { context.make("Author", ["name": $0]) }
            context.make("Book", ["title": "Emma", "author": authors[0]])
            let book = context.make("Book", ["title": "Villette", "author": authors[0]])
            try context.save()
            let controller = try controller(request(["author.name", "title"]), section: "author.name")
            #expect(controller.sections?.map(\.name) == ["Austen"])
            book.setValue(authors[1], forKey: "author")
            context.processPendingChanges()
            #expect(controller.sections?.map(\.name) == ["Austen", "Brontë"])
            #expect(teller.heard == ["insert section Brontë", "move Villette"])
        }
    }

    @Test("A search changes the predicate of the request, and takes effect with the next fetch")
    func search() throws {
        try context.performAndWait {
            for title in ["Emma", "Persuasion", "Evelina"] { context.make("Book", ["title": title]) }
            let controller = try controller(request())
            controller.fetchRequest.predicate = NSPredicate(format: "title BEGINSWITH[c] %@", "e")
            #expect(titles(controller)?.count == 3)
            try controller.performFetch()
            #expect(titles(controller) == ["Emma", "Evelina"])
            context.make("Book", ["title": "Middlemarch"])
            context.processPendingChanges()
            #expect(teller.heard.isEmpty)
        }
    }

    @Test("The limit of a request applies to the fetch, in batches or not")
    func limit() throws {
        try context.performAndWait {
            for number in 0..<10 { context.make("Book", ["title": "\(number)"]) }
            try context.save()
            let request = request()
            request.fetchLimit = 4
            request.fetchBatchSize = 2
            #expect(try titles(controller(request)) == ["0", "1", "2", "3"])
        }
    }

    @Test("The delegate says the titles of the index, and leaves out sections by giving none")
    func delegateTitles() throws {
        try context.performAndWait {
            for name in ["a", "hidden", "z"] { context.make("Book", ["title": name, "isbn": name]) }
            let controller = try controller(request(["isbn"]), section: "isbn")
            #expect(controller.sectionIndexTitles == ["§a", "§z"])
            #expect(controller.section(forSectionIndexTitle: "§z", at: 1) == 2)
        }
    }

    @Test("A subclass of the controller says the titles of the index")
    func subclassTitles() throws {
        try context.performAndWait {
            for name in ["a", "b"] { context.make("Book", ["title": name, "isbn": name]) }
            let controller = NumberedController(
                fetchRequest: request(["isbn"]), managedObjectContext: context, sectionNameKeyPath: "isbn",
                cacheName: nil)
            try controller.performFetch()
            #expect(controller.sectionIndexTitles == ["#a", "#b"])
        }
    }

    @Test("Old code finds section and row in the class of index paths, too (DungeonMaster)")
    func pathsAsObjects() {
        let path = IndexPath(row: 3, section: 1) as NSIndexPath
        #expect(path.section == 1 && path.row == 3 && path.item == 3)
        #expect(path.isEqual(NSIndexPath(forRow: 3, inSection: 1)))
        #expect(path.isEqual(NSIndexPath(forItem: 3, inSection: 1)))
    }
}
