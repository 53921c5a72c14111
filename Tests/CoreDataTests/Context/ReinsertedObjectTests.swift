import CoreData
import Synchronization
import Testing

/// A policy by which the object wins, and after which somebody else saves, once.
private final class OvertakenPolicy: NSMergePolicy, @unchecked Sendable {
    // @unchecked Sendable: the mutex guards what changes.
    private let other: Mutex<(@Sendable () throws -> Void)?>

    init(_ other: @escaping @Sendable () throws -> Void) {
        self.other = Mutex(other)
        super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    }

    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        try super.resolve(optimisticLockingConflicts: list)
        let other = other.withLock { other in
            defer { other = nil }
            return other
        }
        try other?()
    }
}

@Suite("An object that another context deleted, and inserted again")
struct ReinsertedObjectTests {
    private let container: NSPersistentContainer
    private let view: NSManagedObjectContext
    private let other: NSManagedObjectContext

    init() throws {
        container = try Library.inMemory()
        (view, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        view.automaticallyMergesChangesFromParent = true
        other.undoManager = UndoManager()
        try other.performAndWait {
            let author = other.make("Author", ["name": "A"])
            other.make("Book", ["title": "T", "author": author])
            try other.save()
        }
    }

    private func delete() throws {
        try other.performAndWait {
            for author in try other.all("Author") { other.delete(author) }
            try other.save()
        }
    }

    private func restore() throws {
        try other.performAndWait {
            other.undo()
            try other.save()
        }
    }

    private func storedAuthors() throws -> Int {
        let fresh = container.newBackgroundContext()
        return try fresh.performAndWait { try fresh.all("Author").count }
    }

    @Test("is there again where that is merged, and stays in the store", arguments: [1, 2], [false, true])
    func merged(version: Int, isRead: Bool) throws {
        if version == 2 {
            try other.performAndWait {
                try other.all("Author").first?.setValue(2, forKey: "age")
                try other.save()
            }
        }
        let held = try #require(try view.performAndWait { try view.all("Author").first })
        if isRead { #expect(view.performAndWait { held.string("name") } == "A") }
        try delete()
        #expect(view.performAndWait { held.isDeleted })
        try restore()
        try view.performAndWait {
            #expect(!held.isDeleted)
            #expect(try view.all("Author") == [held])
            #expect(held.string("name") == "A")
            #expect(held.objects("books").count == 1)
            view.make("Tag", ["name": "unrelated"])
            try view.save()
            #expect(!view.hasChanges)
        }
        #expect(try storedAuthors() == 1)
        try view.performAndWait {
            held.setValue("B", forKey: "name")
            try view.save()
        }
        let fresh = container.newBackgroundContext()
        #expect(try fresh.performAndWait { try fresh.all("Author").map { $0.string("name") } } == ["B"])
    }

    @Test("is there again once it is read or refreshed", arguments: ["read", "refresh", "refresh all", "discard"])
    func refreshed(how: String) throws {
        let held = try #require(try view.performAndWait { try view.all("Author").first })
        if how != "read" { #expect(view.performAndWait { held.string("name") } == "A") }
        try delete()
        #expect(view.performAndWait { held.isDeleted })
        view.automaticallyMergesChangesFromParent = false
        try restore()
        try view.performAndWait {
            switch how {
            case "refresh": view.refresh(held, mergeChanges: true)
            case "refresh all": view.refreshAllObjects()
            case "discard": view.refresh(held, mergeChanges: false)
            default: break
            }
            #expect(held.string("name") == "A")
            #expect(!held.isDeleted)
            view.make("Tag", ["name": "unrelated"])
            try view.save()
            #expect(try view.all("Author") == [held])
        }
        #expect(try storedAuthors() == 1)
    }

    @Test("does not come back with the changes that were made to it before")
    func changes() throws {
        let held = try #require(try view.performAndWait { try view.all("Author").first })
        view.performAndWait { held.setValue("mine", forKey: "name") }
        try delete()
        view.automaticallyMergesChangesFromParent = false
        try restore()
        try view.performAndWait {
            #expect(held.isDeleted)
            view.refresh(held, mergeChanges: true)
            #expect(held.string("name") == "A")
            #expect(!held.hasChanges)
            try view.save()
        }
        let fresh = container.newBackgroundContext()
        #expect(try fresh.performAndWait { try fresh.all("Author").map { $0.string("name") } } == ["A"])
    }

    private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
        var counts: [Int] = []

        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
            counts.append(controller.fetchedObjects?.count ?? -1)
        }
    }

    @Test("leaves the list of a results controller, and joins it again")
    func listed() throws {
        let listener = Listener()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let controller = try view.performAndWait {
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: view, sectionNameKeyPath: nil, cacheName: nil)
            controller.delegate = listener
            try controller.performFetch()
            return controller
        }
        try delete()
        try restore()
        view.performAndWait { #expect(controller.fetchedObjects?.first?.string("name") == "A") }
        #expect(listener.counts == [0, 1])
    }

    @Test("is merged with the row that the policy of another context has inserted again at the same moment")
    func atOnce() throws {
        try other.performAndWait {
            other.make("Tag", ["name": "old"])
            try other.save()
        }
        let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
        let tags = try [mine, theirs].map { context in
            try context.performAndWait { try #require(try context.all("Tag").first) }
        }
        mine.performAndWait { tags[0].setValue("mine", forKey: "name") }
        theirs.performAndWait { tags[1].setValue("theirs", forKey: "name") }
        try other.performAndWait {
            for tag in try other.all("Tag") { other.delete(tag) }
            try other.save()
        }
        theirs.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        mine.mergePolicy = OvertakenPolicy { try theirs.performAndWait { try theirs.save() } }
        for name in ["mine", "later"] {
            try mine.performAndWait {
                tags[0].setValue(name, forKey: "name")
                try mine.save()
            }
            let fresh = container.newBackgroundContext()
            #expect(try fresh.performAndWait { try fresh.all("Tag").map { $0.string("name") } } == [name])
        }
    }
}
