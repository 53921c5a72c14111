import CoreData
import Testing

/// Checks from the pages of `NSFetchedResultsController` and `NSFetchedResultsSectionInfo`.
@MainActor @Suite("Documented: fetched results controllers")
struct ResultsControllerDocumentationTests {
    private let container: NSPersistentContainer
    private var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        container = try Library.inMemory()
        for title in ["ant", "ape", "bee", "cat"] {
            container.viewContext.make("Book", ["title": title, "isbn": String(title.prefix(1))])
        }
        try container.viewContext.save()
    }

    private func request() -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = ["isbn", "title"].map { NSSortDescriptor(key: $0, ascending: true) }
        return request
    }

    private func controller(
        sections: String? = "isbn", cache: String? = nil
    ) -> NSFetchedResultsController<NSManagedObject> {
        NSFetchedResultsController(
            fetchRequest: request(), managedObjectContext: context, sectionNameKeyPath: sections, cacheName: cache)
    }

    @Test("A controller has what it was made with: request, context, section key path and cache name")
    func making() {
        let request = request()
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "isbn", cacheName: "cache")
        #expect(controller.fetchRequest === request && controller.managedObjectContext === context)
        #expect(controller.sectionNameKeyPath == "isbn" && controller.cacheName == "cache")
        #expect(controller.delegate == nil && controller.sections == nil && controller.fetchedObjects == nil)
        NSFetchedResultsController<NSManagedObject>.deleteCache(withName: "cache")
        NSFetchedResultsController<NSManagedObject>.deleteCache(withName: nil)
    }

    @Test("A cache changes nothing of the results")
    func cached() throws {
        for _ in 1...2 {
            let controller = controller(cache: "documented")
            try controller.performFetch()
            #expect(controller.sections?.map(\.numberOfObjects) == [2, 1, 1])
        }
    }

    @Test("A section: its name, its title in the index, and its objects")
    func sections() throws {
        let controller = controller()
        try controller.performFetch()
        let section = try #require(controller.sections?.first)
        #expect(section.name == "a" && section.indexTitle == "A" && section.numberOfObjects == 2)
        #expect((section.objects as? [NSManagedObject])?.map { $0.shown("title") } == ["ant", "ape"])
    }

    @Test("A section's key path may lead through an object's entity, as by key-value coding")
    func sectionOfEntity() throws {
        let controller = controller(sections: "entity.name")
        try controller.performFetch()
        #expect(controller.sections?.map(\.name) == ["Book"])
    }

    @Test(
        "sectionIndexTitle(forSectionName:): the first letter as a capital; section(forSectionIndexTitle:at:) is the way back"
    )
    func sectionIndex() throws {
        let controller = controller()
        try controller.performFetch()
        #expect(controller.sectionIndexTitle(forSectionName: "zebra") == "Z")
        #expect(controller.sectionIndexTitles == ["A", "B", "C"])
        #expect(controller.section(forSectionIndexTitle: "B", at: 1) == 1)
    }

    @Test("sectionIndexTitle(forSectionName:) may be overridden, and sectionIndexTitles has what it gives")
    func overriding() throws {
        final class Named: NSFetchedResultsController<NSManagedObject> {
            override func sectionIndexTitle(forSectionName sectionName: String) -> String? { "<\(sectionName)>" }
        }
        let controller = Named(
            fetchRequest: request(), managedObjectContext: context, sectionNameKeyPath: "isbn", cacheName: nil)
        try controller.performFetch()
        #expect(controller.sectionIndexTitles == ["<a>", "<b>", "<c>"])
    }

    @Test("performFetch(): fails where the order of the objects is not the order of the sections")
    func unsortedSections() {
        context.make("Book", ["title": "aaa", "isbn": "c"])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "isbn", cacheName: nil)
        #expect(throws: NSError.self) { try controller.performFetch() }
    }

    @Test("Without a delegate nothing is tracked: the results are as they were fetched")
    func untracked() throws {
        let controller = controller()
        try controller.performFetch()
        context.make("Book", ["title": "dog", "isbn": "d"])
        context.processPendingChanges()
        #expect(controller.fetchedObjects?.count == 4)
        try controller.performFetch()
        #expect(controller.fetchedObjects?.count == 5)
    }

    @Test("With a delegate, changes show once they are processed; an array that was asked for before stays as it was")
    func tracked() throws {
        final class Delegate: NSObject, NSFetchedResultsControllerDelegate {
            func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
        }
        let (controller, delegate) = (controller(), Delegate())
        controller.delegate = delegate
        try controller.performFetch()
        let before = try #require(controller.fetchedObjects)
        let path = controller.indexPath(forObject: before[3])
        before[3].setValue("a", forKey: "isbn")
        #expect(controller.indexPath(forObject: before[3]) == path)
        context.processPendingChanges()
        #expect(controller.indexPath(forObject: before[3]) == IndexPath(indexes: [0, 2]))
        #expect(before.map { $0.shown("title") } == ["ant", "ape", "bee", "cat"])
    }

    @Test("A changed request works with the next performFetch()")
    func changingTheRequest() throws {
        let controller = controller(sections: nil)
        try controller.performFetch()
        controller.fetchRequest.predicate = NSPredicate(format: "title BEGINSWITH 'a'")
        try controller.performFetch()
        #expect(controller.fetchedObjects?.map { $0.shown("title") } == ["ant", "ape"])
    }
}
