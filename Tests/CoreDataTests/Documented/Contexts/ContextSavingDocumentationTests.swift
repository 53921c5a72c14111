import CoreData
import TestSupport
import Testing

/// Checks from the pages of `NSManagedObjectContext` and `NSMergePolicy`: saving, merging, conflicts.
@MainActor @Suite("Documented: saving and merging contexts")
struct ContextSavingDocumentationTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        container = try Library.inMemory()
        container.viewContext.make("Author", ["name": "Ann", "age": 30])
        try container.viewContext.save()
        container.viewContext.reset()
    }

    private func author() throws -> NSManagedObject { try #require(try context.all("Author").first) }

    @Test("A save that fails leaves the changes as they were")
    func failedSave() throws {
        let author = try author()
        author.setValue("Good", forKey: "name")
        context.make("Author")
        #expect(throws: NSError.self) { try context.save() }
        #expect(context.insertedObjects.count == 1 && author.isUpdated && author.shown("name") == "Good")
    }

    @Test("Validation errors: one is thrown itself, several in one of code 1560 with all of them")
    func validationErrors() throws {
        context.make("Author")
        let one = #expect(throws: NSError.self) { try context.save() }
        #expect(one?.code == NSValidationMissingMandatoryPropertyError)
        #expect(one?.userInfo[NSValidationKeyErrorKey] as? String == "name")
        context.make("Author")
        let many = #expect(throws: NSError.self) { try context.save() }
        #expect(many?.code == NSValidationMultipleErrorsError)
        #expect((many?.userInfo[NSDetailedErrorsKey] as? [NSError])?.count == 2)
    }

    @Test("A child's save reaches its parent, not the store")
    func children() throws {
        let child = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        child.parent = context
        #expect(child.persistentStoreCoordinator === container.persistentStoreCoordinator)
        child.make("Author", ["name": "Child's"])
        try child.save()
        #expect(!child.hasChanges && context.insertedObjects.count == 1)
        let store = NSFetchRequest<NSManagedObject>(entityName: "Author")
        store.includesPendingChanges = false
        #expect(try context.count(for: store) == 1)
    }

    @Test("mergeChanges(fromContextDidSave:) takes new values over, under what was changed here")
    func merging() throws {
        let author = try author()
        author.setValue(31, forKey: "age")
        let other = container.newBackgroundContext()
        nonisolated(unsafe) var saved: Notification?  // written before performAndWait returns
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: other, queue: nil
        ) {
            saved = $0
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try other.performAndWait {
            let theirs = other.object(with: author.objectID)
            theirs.setValue("Theirs", forKey: "name")
            theirs.setValue(99, forKey: "age")
            try other.save()
        }
        context.mergeChanges(fromContextDidSave: try #require(saved))
        #expect(author.shown("name") == "Theirs" && author.shown("age") == "31")
    }

    @Test("mergeChanges(fromRemoteContextSave:into:) takes IDs and URIs in arrays")
    func remoteMerging() throws {
        let author = try author()
        _ = author.value(forKey: "name")
        let other = container.newBackgroundContext()
        try other.performAndWait {
            other.object(with: author.objectID).setValue("Theirs", forKey: "name")
            try other.save()
        }
        let changes = [NSUpdatedObjectsKey: [author.objectID.uriRepresentation()]]
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [context])
        #expect(author.shown("name") == "Theirs")
    }

    @Test("automaticallyMergesChangesFromParent: what others save shows without a merge")
    func automaticMerging() async throws {
        context.automaticallyMergesChangesFromParent = true
        let author = try author()
        _ = author.value(forKey: "name")
        let other = container.newBackgroundContext()
        try other.performAndWait {
            other.object(with: author.objectID).setValue("Theirs", forKey: "name")
            try other.save()
        }
        _ = try await eventually { author.shown("name") == "Theirs" }
        #expect(author.shown("name") == "Theirs")
    }

    private func conflict(_ policy: NSMergePolicy) throws -> (error: NSError?, stored: String, age: String) {
        let author = try author()
        author.setValue("Mine", forKey: "name")
        let other = container.newBackgroundContext()
        try other.performAndWait {
            let theirs = other.object(with: author.objectID)
            theirs.setValue("Theirs", forKey: "name")
            theirs.setValue(99, forKey: "age")
            try other.save()
        }
        context.mergePolicy = policy
        var failure: NSError?
        do { try context.save() } catch { failure = error as NSError }
        let third = container.newBackgroundContext()
        return try third.performAndWait {
            let stored = try #require(try third.all("Author").first)
            return (failure, stored.shown("name"), stored.shown("age"))
        }
    }

    @Test("The error policy fails the save with the conflicts")
    func errorPolicy() throws {
        let result = try conflict(.error)
        #expect(result.error?.code == NSManagedObjectMergeError && result.stored == "Theirs")
        #expect((result.error?.userInfo["conflictList"] as? [NSMergeConflict])?.count == 1)
    }

    @Test("mergeByPropertyObjectTrump: property by property, what was changed here wins")
    func objectTrump() throws {
        let result = try conflict(.mergeByPropertyObjectTrump)
        #expect(result.error == nil && result.stored == "Mine" && result.age == "99")
    }

    @Test("mergeByPropertyStoreTrump: property by property, what the store has wins")
    func storeTrump() throws {
        let result = try conflict(.mergeByPropertyStoreTrump)
        #expect(result.error == nil && result.stored == "Theirs" && result.age == "99")
    }

    @Test("overwrite: the object as it is here wins as a whole")
    func overwrite() throws {
        let result = try conflict(.overwrite)
        #expect(result.error == nil && result.stored == "Mine" && result.age == "30")
    }

    @Test("rollback: what was changed here is discarded")
    func rollbackPolicy() throws {
        let result = try conflict(.rollback)
        #expect(result.error == nil && result.stored == "Theirs" && result.age == "99")
    }
}
