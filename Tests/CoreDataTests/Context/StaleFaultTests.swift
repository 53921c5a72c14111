import CoreData
import TestSupport
import Testing

@Suite("Faults after somebody else has saved")
struct StaleFaultTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// A context with a coordinator of its own, as another process has.
    private func open() throws -> NSManagedObjectContext {
        try Library.stored(at: folder.file("library.sqlite")).newBackgroundContext()
    }

    private func makeAuthor(_ context: NSManagedObjectContext) throws -> NSManagedObjectID {
        try context.performAndWait {
            let author = context.make("Author", ["name": "A", "age": 1])
            try context.save()
            return author.objectID
        }
    }

    @Test("A fault that was fetched before a merge shows what another coordinator has saved")
    func foreignSave() throws {
        let (writer, reader) = (try open(), try open())
        let written = try makeAuthor(writer)
        try reader.performAndWait {
            let author = try #require(try reader.all("Author").first)
            #expect(author.isFault)
            try writer.performAndWait {
                try #require(try writer.all("Author").first).setValue(5, forKey: "age")
                try writer.save()
            }
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectsKey: [written.uriRepresentation()]], into: [reader])
            #expect(author.value(forKey: "age") as? Int == 5)
        }
    }

    @Test("A fault of a pinned context shows the state that a merge has moved the context to")
    func pinned() throws {
        let container = try Library.stored(at: folder.file("library.sqlite"))
        let (pinned, writer) = (container.newBackgroundContext(), container.newBackgroundContext())
        let identifier = try makeAuthor(writer)
        try pinned.setQueryGenerationFrom(.current)
        try pinned.performAndWait {
            let author = try #require(try pinned.all("Author").first)
            try writer.performAndWait {
                try writer.existingObject(with: identifier).setValue("B", forKey: "name")
                try writer.save()
            }
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSInsertedObjectsKey: [identifier]], into: [pinned])
            #expect(author.string("name") == "B")
        }
    }

    @Test("An object that was fetched and read between a save and its merge is told to a results controller")
    func readBeforeMerge() throws {
        let container = try Library.stored(at: folder.file("library.sqlite"))
        let (reader, writer) = (container.newBackgroundContext(), container.newBackgroundContext())
        try reader.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: reader, sectionNameKeyPath: nil, cacheName: nil)
            let list = ListedDelegate()
            controller.delegate = list
            try controller.performFetch()
            let identifier = try makeAuthor(writer)
            #expect(reader.object(with: identifier).string("name") == "A")
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSInsertedObjectsKey: [identifier]], into: [reader])
            #expect(controller.fetchedObjects?.count == 1)
            #expect(list.inserted == 1)
        }
    }
}

/// Counts what a results controller tells.
private final class ListedDelegate: NSObject, NSFetchedResultsControllerDelegate {
    var inserted = 0

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        if type == .insert { inserted += 1 }
    }
}
