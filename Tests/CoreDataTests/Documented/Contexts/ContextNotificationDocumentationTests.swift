import CoreData
import Testing

/// Checks from the pages of `NSManagedObjectContext`'s notifications and of their keys.
@MainActor @Suite("Documented: notifications of contexts")
struct ContextNotificationDocumentationTests {
    private typealias Key = NSManagedObjectContext.NotificationKey

    private let container: NSPersistentContainer
    private var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        container = try Library.inMemory()
        for title in ["A", "B", "C"] { container.viewContext.make("Book", ["title": title]) }
        try container.viewContext.save()
    }

    private func books() throws -> [NSManagedObject] { try context.all("Book", by: "title") }

    /// The user info of each notification of a name that the context posts meanwhile.
    private func posted(
        _ name: Notification.Name, by context: NSManagedObjectContext? = nil, during block: () throws -> Void
    ) rethrows -> [[AnyHashable: Any]] {
        nonisolated(unsafe) var infos: [[AnyHashable: Any]] = []  // posted on this thread
        let token = NotificationCenter.default.addObserver(forName: name, object: context ?? self.context, queue: nil) {
            infos.append($0.userInfo ?? [:])
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try block()
        return infos
    }

    @Test("The names as properties of the class are those that notifications have")
    func names() {
        #expect(NSManagedObjectContext.didChangeObjectsNotification == .NSManagedObjectContextObjectsDidChange)
        #expect(NSManagedObjectContext.willSaveObjectsNotification == .NSManagedObjectContextWillSave)
        #expect(NSManagedObjectContext.didSaveObjectsNotification == .NSManagedObjectContextDidSave)
        #expect(NSManagedObjectContext.didSaveObjectIDsNotification == .NSManagedObjectContextDidSaveObjectIDs)
        #expect(
            NSManagedObjectContext.didMergeChangesObjectIDsNotification
                == .NSManagedObjectContextDidMergeChangesObjectIDs)
    }

    @Test("The keys of the user info have two spellings")
    func keys() {
        let pairs: [(Key, String)] = [
            (.insertedObjects, NSInsertedObjectsKey), (.updatedObjects, NSUpdatedObjectsKey),
            (.deletedObjects, NSDeletedObjectsKey), (.refreshedObjects, NSRefreshedObjectsKey),
            (.invalidatedObjects, NSInvalidatedObjectsKey), (.invalidatedAllObjects, NSInvalidatedAllObjectsKey),
            (.insertedObjectIDs, NSInsertedObjectIDsKey), (.updatedObjectIDs, NSUpdatedObjectIDsKey),
            (.deletedObjectIDs, NSDeletedObjectIDsKey), (.refreshedObjectIDs, NSRefreshedObjectIDsKey),
            (.invalidatedObjectIDs, NSInvalidatedObjectIDsKey),
            (.queryGeneration, NSManagedObjectContextQueryGenerationKey),
        ]
        for (key, constant) in pairs { #expect(key.rawValue == constant) }
    }

    @Test("didChangeObjectsNotification: sets of the objects that were inserted, updated and deleted")
    func objectsDidChange() throws {
        let books = try books()
        var new: NSManagedObject?
        let infos = posted(NSManagedObjectContext.didChangeObjectsNotification) {
            new = context.make("Book")
            books[0].setValue("Z", forKey: "title")
            context.delete(books[1])
            context.processPendingChanges()
        }
        #expect(infos.count == 1)
        #expect(infos.first?[Key.insertedObjects.rawValue] as? Set<NSManagedObject> == [try #require(new)])
        #expect(infos.first?[Key.updatedObjects.rawValue] as? Set<NSManagedObject> == [books[0]])
        #expect(infos.first?[Key.deletedObjects.rawValue] as? Set<NSManagedObject> == [books[1]])
    }

    @Test("didChangeObjectsNotification: a refresh is told under refreshedObjects")
    func refreshed() throws {
        let book = try books()[0]
        _ = book.value(forKey: "title")
        let infos = posted(NSManagedObjectContext.didChangeObjectsNotification) {
            context.refresh(book, mergeChanges: true)
            context.processPendingChanges()
        }
        #expect(infos.first?[Key.refreshedObjects.rawValue] as? Set<NSManagedObject> == [book])
    }

    @Test("didChangeObjectsNotification: a reset is told under invalidatedAllObjects")
    func invalidatedAll() throws {
        let books = try books()
        let infos = posted(NSManagedObjectContext.didChangeObjectsNotification) { context.reset() }
        #expect(infos.count == 1 && infos.first?[Key.invalidatedAllObjects.rawValue] != nil)
        withExtendedLifetime(books) {}
    }

    @Test("didChangeObjectsNotification: objects of a store that is taken away are told under invalidatedObjects")
    func invalidated() throws {
        let books = try books()
        for book in books { _ = book.value(forKey: "title") }
        let coordinator = container.persistentStoreCoordinator
        let store = try #require(coordinator.persistentStores.first)
        let infos = try posted(NSManagedObjectContext.didChangeObjectsNotification) {
            try coordinator.remove(store)
            context.processPendingChanges()
        }
        let objects = infos.compactMap { $0[Key.invalidatedObjects.rawValue] as? Set<NSManagedObject> }
        #expect(objects == [Set(books)])
    }

    @Test("willSaveObjectsNotification: before the save, without a user info")
    func willSave() throws {
        let book = try books()[0]
        nonisolated(unsafe) var changed = false  // posted on this thread
        let token = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.willSaveObjectsNotification, object: context, queue: nil
        ) { changed = ($0.object as? NSManagedObjectContext)?.hasChanges == true && $0.userInfo == nil }
        defer { NotificationCenter.default.removeObserver(token) }
        book.setValue("Z", forKey: "title")
        try context.save()
        #expect(changed)
    }

    @Test("didSaveObjectsNotification: sets of the objects that were saved")
    func didSave() throws {
        let books = try books()
        let infos = try posted(NSManagedObjectContext.didSaveObjectsNotification) {
            books[0].setValue("Z", forKey: "title")
            context.delete(books[1])
            context.make("Book")
            try context.save()
        }
        #expect(infos.count == 1)
        #expect((infos.first?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count == 1)
        #expect(infos.first?[NSUpdatedObjectsKey] as? Set<NSManagedObject> == [books[0]])
        #expect(infos.first?[NSDeletedObjectsKey] as? Set<NSManagedObject> == [books[1]])
    }

    @Test("didSaveObjectIDsNotification: sets of their IDs, permanent ones")
    func didSaveIdentifiers() throws {
        let books = try books()
        let deleted = books[1].objectID
        let infos = try posted(NSManagedObjectContext.didSaveObjectIDsNotification) {
            books[0].setValue("Z", forKey: "title")
            context.delete(books[1])
            context.make("Book")
            try context.save()
        }
        let inserted = infos.first?[Key.insertedObjectIDs.rawValue] as? Set<NSManagedObjectID>
        #expect(infos.count == 1 && inserted?.count == 1 && inserted?.first?.isTemporaryID == false)
        #expect(infos.first?[Key.updatedObjectIDs.rawValue] as? Set<NSManagedObjectID> == [books[0].objectID])
        #expect(infos.first?[Key.deletedObjectIDs.rawValue] as? Set<NSManagedObjectID> == [deleted])
    }

    @Test("didChangeObjectsNotification: a fetch that brings objects into the context is not a change")
    func fetching() throws {
        context.reset()
        let infos = try posted(NSManagedObjectContext.didChangeObjectsNotification) {
            for book in try books() { _ = book.value(forKey: "title") }
            context.processPendingChanges()
        }
        #expect(infos.isEmpty)
    }

    @Test("didMergeChangesObjectIDsNotification: by the context that merged, with the IDs of what was merged")
    func merged() throws {
        let books = try books()
        _ = books[0].value(forKey: "title")
        let other = container.newBackgroundContext()
        let saved = try other.performAndWait {
            try posted(NSManagedObjectContext.didSaveObjectsNotification, by: other) {
                other.object(with: books[0].objectID).setValue("Z", forKey: "title")
                try other.save()
            }
        }
        let notification = Notification(
            name: NSManagedObjectContext.didSaveObjectsNotification, object: other, userInfo: saved.first)
        let infos = posted(NSManagedObjectContext.didMergeChangesObjectIDsNotification) {
            context.mergeChanges(fromContextDidSave: notification)
        }
        #expect(infos.count == 1)
        let identifiers = [Key.updatedObjectIDs, .refreshedObjectIDs].compactMap {
            infos.first?[$0.rawValue] as? Set<NSManagedObjectID>
        }
        #expect(identifiers.reduce([]) { $0.union($1) } == [books[0].objectID])
    }
}
