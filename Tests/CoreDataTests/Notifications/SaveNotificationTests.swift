import CoreData
import TestSupport
import Testing

@Suite("Notifications: saves")
struct SaveNotificationTests {
    let folder: TestFolder
    let container: NSPersistentContainer
    let context: NSManagedObjectContext
    let log: PostingLog

    init() throws {
        folder = try TestFolder()
        container = try Library.stored(at: folder.file("library.sqlite"))
        context = container.newBackgroundContext()
        log = PostingLog(context)
    }

    @Test("A save posts what changed, that it will save, and what it saved: objects, then IDs")
    func order() throws {
        try context.performAndWait {
            let authors = ["A", "B"].map { context.make("Author", ["name": $0]) }
            try context.save()
            #expect(log.take() == ["changed inserted 2", "willSave", "didSave inserted 2", "didSaveIDs inserted 2"])
            context.make("Author", ["name": "C"])
            authors[0].setValue("D", forKey: "name")
            context.delete(authors[1])
            context.delete(context.make("Author", ["name": "never saved"]))
            try context.save()
            let saved = "deleted 1 inserted 1 updated 1"
            #expect(
                log.take() == [
                    "changed deleted 2 inserted 1 updated 1", "willSave", "didSave \(saved)", "didSaveIDs \(saved)",
                ])
        }
    }

    @Test("A save of more than a thousand objects tells listeners of all of them")
    func large() throws {
        try context.performAndWait {
            for number in 0..<1_500 { context.make("Tag", ["name": "\(number)"]) }
            try context.save()
        }
        #expect(
            log.take() == [
                "changed inserted 1500", "willSave", "didSave inserted 1500", "didSaveIDs inserted 1500",
            ])
    }

    // NotificationMerge_Tests of CoreDataPlus saves a context without changes and waits for its notification.
    @Test("A save without changes writes nothing, and says so")
    func empty() throws {
        try context.performAndWait { try context.save() }
        #expect(log.take() == ["willSave", "didSave", "didSaveIDs"])
        let none = NSManagedObjectContext(.privateQueue)
        let silence = PostingLog(none)
        try none.performAndWait { try none.save() }
        #expect(silence.take().isEmpty)
    }

    @Test("A save that fails says that it will save, and no more")
    func failed() throws {
        context.performAndWait {
            context.make("Author")
            #expect(throws: NSError.self) { try context.save() }
            #expect(context.insertedObjects.count == 1)
        }
        #expect(log.take() == ["changed inserted 1", "willSave"])
    }

    @Test("What observers of willSave change is saved")
    func changesInObserver() throws {
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextWillSave, object: context, queue: nil
        ) { note in
            let context = note.object as? NSManagedObjectContext
            context?.insertedObjects.first?.setValue("observed", forKey: "name")
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try context.performAndWait {
            context.make("Author", ["name": "A"])
            try context.save()
            #expect(!context.hasChanges)
        }
        #expect(log.take()[0...2] == ["changed inserted 1", "willSave", "changed updated 1"])
        #expect(try plainSQL("SELECT ZNAME FROM ZAUTHOR", in: folder.file("library.sqlite")) == ["observed"])
    }

    @Test("A child's save posts temporary IDs, and changes of the parent")
    func child() throws {
        let child = Family.child(of: context)
        let childLog = PostingLog(child)
        try child.performAndWait {
            let author = child.make("Author", ["name": "A"])
            try child.save()
            #expect(author.objectID.isTemporaryID)
        }
        #expect(childLog.take() == ["changed inserted 1", "willSave", "didSave inserted 1", "didSaveIDs inserted 1"])
        #expect(log.take() == ["changed inserted 1"])
        try context.performAndWait { try context.save() }
        #expect(log.take() == ["willSave", "didSave inserted 1", "didSaveIDs inserted 1"])
    }

    @Test("A pinned context says which query generation it reads from now on")
    func generation() throws {
        try context.setQueryGenerationFrom(.current)
        try context.performAndWait {
            context.make("Author", ["name": "A"])
            try context.save()
        }
        #expect(log.take().contains("didSave inserted 1 newQueryGeneration"))
    }

    @Test("The names and keys are Core Data's")
    func names() {
        #expect(NSManagedObjectContext.didSaveObjectsNotification == .NSManagedObjectContextDidSave)
        #expect(NSManagedObjectContext.didChangeObjectsNotification == .NSManagedObjectContextObjectsDidChange)
        #expect(NSManagedObjectContext.NotificationKey.refreshedObjects.rawValue == NSRefreshedObjectsKey)
        #expect(NSManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue == NSInvalidatedAllObjectsKey)
        #expect(NSManagedObjectContext.NotificationKey.queryGeneration.rawValue == "newQueryGeneration")
    }
}
