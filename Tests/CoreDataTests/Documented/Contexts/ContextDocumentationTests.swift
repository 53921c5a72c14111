import CoreData
import Testing

/// Checks from the pages of `NSManagedObjectContext`, `NSManagedObject` and `NSManagedObjectID`.
@MainActor @Suite("Documented: contexts")
struct ContextDocumentationTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        container = try Library.inMemory()
        let context = container.viewContext
        let author = context.make("Author", ["name": "Ann", "age": 30])
        context.make("Book", ["title": "A", "author": author])
        context.make("Book", ["title": "B", "author": author])
        try context.save()
        context.reset()
    }

    private func author() throws -> NSManagedObject { try #require(try context.all("Author").first) }
    private func books() throws -> [NSManagedObject] { try context.all("Book", by: "title") }

    @Test("The defaults of a context")
    func defaults() {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        #expect(context.undoManager == nil && context.parent == nil && context.persistentStoreCoordinator == nil)
        #expect(context.propagatesDeletesAtEndOfEvent && !context.retainsRegisteredObjects)
        #expect(context.stalenessInterval < 0 && context.shouldDeleteInaccessibleFaults)
        #expect(!context.automaticallyMergesChangesFromParent && context.transactionAuthor == nil)
        #expect((context.mergePolicy as? NSMergePolicy)?.mergeType == .errorMergePolicyType)
        #expect(context.queryGenerationToken == nil && !context.hasChanges && context.registeredObjects.isEmpty)
    }

    // MARK: Objects

    @Test("registeredObject(for:) gives what the context has, and nil otherwise; object(with:) always an object")
    func lookingUp() throws {
        let identifier = try author().objectID
        context.reset()
        #expect(context.registeredObject(for: identifier) == nil)
        let fault = context.object(with: identifier)
        #expect(fault.isFault && context.registeredObject(for: identifier) === fault)
        #expect(context.object(with: identifier) === fault)
        #expect(try context.existingObject(with: identifier) === fault && !fault.isFault)
    }

    @Test("existingObject(with:) throws for an object that the store does not have")
    func existing() throws {
        let book = try books()[0]
        context.delete(book)
        try context.save()
        #expect(throws: NSError.self) { try context.existingObject(with: book.objectID) }
    }

    @Test("existingObject(with:) gives an object that the context has, also when its deletion is not saved yet")
    func existingDeleted() throws {
        let book = try books()[0]
        context.delete(book)
        #expect(try context.existingObject(with: book.objectID) === book)
        context.processPendingChanges()
        #expect(try context.existingObject(with: book.objectID) === book && book.isDeleted)
    }

    @Test("existingObject(with:) gives no fault, and throws where the row of a fetched object has gone since")
    func existingFetched() throws {
        let identifiers = try books().map(\.objectID)
        context.reset()
        let fetched = try books()
        #expect(fetched[0].isFault)
        #expect(try context.existingObject(with: identifiers[0]) === fetched[0] && !fetched[0].isFault)
        let other = container.newBackgroundContext()
        try other.performAndWait {
            other.delete(try other.existingObject(with: identifiers[1]))
            try other.save()
        }
        let error = #expect(throws: NSError.self) { try context.existingObject(with: identifiers[1]) }
        #expect(error?.code == 133000)
        #expect(error?.userInfo["objectID"] as? NSManagedObjectID == identifiers[1])
    }

    // Source: RHBCoreData, whose results controller's delegate looks up what was deleted elsewhere.
    @Test("existingObject(with:) gives an object whose deletion elsewhere is being told")
    func existingDeletedElsewhere() throws {
        let book = try books()[0]
        #expect(book.shown("title") == "A")
        let identifier = book.objectID
        // Told and read by the main thread only.
        nonisolated(unsafe) var found: NSManagedObject?
        let context = context
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { _ in found = try? context.existingObject(with: identifier) }
        defer { NotificationCenter.default.removeObserver(observer) }
        let other = container.newBackgroundContext()
        let news = try other.performAndWait {
            other.delete(try other.existingObject(with: identifier))
            try other.save()
            return [NSDeletedObjectIDsKey: [identifier]]
        }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: news, into: [context])
        #expect(found === book)
    }

    @Test("insertedObjects, updatedObjects and deletedObjects are what the next save writes, once processed disjoint")
    func changeSets() throws {
        let new = context.make("Author", ["name": "New"])
        let books = try books()
        books[0].setValue("Z", forKey: "title")
        books[1].setValue("Y", forKey: "title")
        context.delete(books[1])
        context.processPendingChanges()
        #expect(context.insertedObjects == [new] && context.updatedObjects.contains(books[0]))
        #expect(context.deletedObjects == [books[1]] && !context.updatedObjects.contains(books[1]))
        #expect(new.isInserted && books[0].isUpdated && books[1].isDeleted && context.hasChanges)
        try context.save()
        #expect(!context.hasChanges && !new.isInserted && !books[0].isUpdated)
    }

    @Test("An object keeps its temporary ID until it is saved; obtainPermanentIDs gives it a permanent one before")
    func identifiers() throws {
        let new = context.make("Author", ["name": "New"])
        let temporary = new.objectID
        #expect(temporary.isTemporaryID)
        try context.obtainPermanentIDs(for: [new])
        #expect(!new.objectID.isTemporaryID && new.isInserted && context.hasChanges)
        let permanent = new.objectID
        try context.save()
        #expect(new.objectID == permanent && permanent.persistentStore != nil && permanent.entity.name == "Author")
    }

    @Test("An ID's URI leads back to it; that of no store to nothing")
    func uris() throws {
        let identifier = try author().objectID
        let coordinator = container.persistentStoreCoordinator
        #expect(coordinator.managedObjectID(forURIRepresentation: identifier.uriRepresentation()) == identifier)
        #expect(identifier.uriRepresentation().scheme == "x-coredata")
        let other = try #require(URL(string: "x-coredata://\(UUID())/Author/p1"))
        #expect(coordinator.managedObjectID(forURIRepresentation: other) == nil)
    }

    @Test("delete: an object stays until the save; the save removes it, and it has no context then")
    func deletion() throws {
        let book = try books()[0]
        context.delete(book)
        #expect(book.isDeleted && book.managedObjectContext === context)
        try context.save()
        #expect(book.managedObjectContext == nil && context.registeredObject(for: book.objectID) == nil)
    }

    @Test("propagatesDeletesAtEndOfEvent: rules are followed when changes are processed, or only by the save")
    func propagation() throws {
        let author = try author()
        let books = try books()
        context.delete(author)
        #expect(!books[0].isDeleted)
        context.processPendingChanges()
        #expect(books.allSatisfy { $0.isDeleted })
        context.rollback()
        context.propagatesDeletesAtEndOfEvent = false
        context.delete(author)
        context.processPendingChanges()
        #expect(!books[0].isDeleted)
        try context.save()
        #expect(try context.all("Book").isEmpty)
    }

    @Test("insert: registers an object that was made without a context; a second time is nothing")
    func insertion() throws {
        let entity = try #require(container.managedObjectModel.entitiesByName["Author"])
        let object = NSManagedObject(entity: entity, insertInto: nil)
        #expect(object.managedObjectContext == nil && !object.isInserted)
        context.insert(object)
        context.insert(object)
        #expect(object.managedObjectContext === context && context.insertedObjects == [object])
    }

    // MARK: Faults

    @Test("refresh without merging makes a fault and loses pending changes; transient values are gone")
    func refresh() throws {
        let author = try author()
        author.setValue("Other", forKey: "name")
        author.setValue("Nick", forKey: "nickname")
        context.refresh(author, mergeChanges: false)
        #expect(author.isFault && !author.hasChanges && !context.hasChanges)
        #expect(author.shown("name") == "Ann" && author.shown("nickname") == "nil")
    }

    @Test(
        "refresh with merging takes the store's values, keeps what was changed here, and leaves transient values alone")
    func refreshMerging() throws {
        let author = try author()
        author.setValue("Mine", forKey: "name")
        author.setValue("Nick", forKey: "nickname")
        let other = container.newBackgroundContext()
        try other.performAndWait {
            let theirs = other.object(with: author.objectID)
            theirs.setValue("Theirs", forKey: "name")
            theirs.setValue(99, forKey: "age")
            try other.save()
        }
        context.refresh(author, mergeChanges: true)
        #expect(author.shown("name") == "Mine" && author.shown("age") == "99" && author.shown("nickname") == "Nick")
        #expect(author.hasChanges)
    }

    @Test("refresh without merging lets go of related objects")
    func refreshLetsGo() throws {
        let author = try author()
        #expect((author.value(forKey: "books") as? NSSet)?.count == 2)
        #expect(!author.hasFault(forRelationshipNamed: "books"))
        context.refresh(author, mergeChanges: false)
        #expect(author.hasFault(forRelationshipNamed: "books"))
    }

    @Test("refreshAllObjects refreshes, and keeps unsaved changes")
    func refreshAll() throws {
        let author = try author()
        author.setValue("Mine", forKey: "name")
        let book = try books()[0]
        _ = book.value(forKey: "title")
        context.refreshAllObjects()
        #expect(book.isFault && author.shown("name") == "Mine" && context.hasChanges)
    }

    @Test("faultingState is 0 for an object with its values; hasFault does not fire anything")
    func faultingState() throws {
        let author = try author()
        #expect(author.isFault && author.faultingState != 0)
        #expect(author.hasFault(forRelationshipNamed: "books") && author.isFault)
        _ = author.value(forKey: "name")
        #expect(author.faultingState == 0)
    }

    @Test("objectIDs(forRelationshipNamed:) gives the IDs, and no objects are loaded for it")
    func relationshipIdentifiers() throws {
        let identifiers = try author().objectIDs(forRelationshipNamed: "books")
        #expect(identifiers.count == 2 && identifiers.allSatisfy { $0.entity.name == "Book" })
    }

    // MARK: Undo, rollback, reset

    @Test("rollback restores committed values, forgets insertions, takes deletions back, and clears the undo stack")
    func rollback() throws {
        context.undoManager = UndoManager()
        let author = try author()
        let books = try books()
        author.setValue("Other", forKey: "name")
        let new = context.make("Book", ["title": "N"])
        context.delete(books[0])
        context.rollback()
        #expect(!context.hasChanges && author.shown("name") == "Ann" && !books[0].isDeleted)
        #expect(new.managedObjectContext == nil && context.undoManager?.canUndo == false)
    }

    @Test("reset forgets every object")
    func reset() throws {
        let author = try author()
        author.setValue("Other", forKey: "name")
        context.reset()
        #expect(context.registeredObjects.isEmpty && !context.hasChanges && author.managedObjectContext == nil)
    }

    @Test("undo takes the last event back, redo makes it again")
    func undo() throws {
        let manager = UndoManager()
        manager.groupsByEvent = false
        context.undoManager = manager
        let author = try author()
        for name in ["B", "C"] {
            manager.beginUndoGrouping()
            author.setValue(name, forKey: "name")
            context.processPendingChanges()
            manager.endUndoGrouping()
        }
        context.undo()
        #expect(author.shown("name") == "B")
        context.undo()
        #expect(author.shown("name") == "Ann" && !context.hasChanges)
        context.redo()
        #expect(author.shown("name") == "B")
    }

    // MARK: Running code

    @Test("perform gives back what its block returns, and throws what it throws")
    func perform() async throws {
        let context = container.newBackgroundContext()
        #expect(await context.perform { 7 } == 7)
        #expect(context.performAndWait { 8 } == 8)
        await #expect(throws: CocoaError.self) { try await context.perform { throw CocoaError(.fileNoSuchFile) } }
    }

    @Test("userInfo is the developer's")
    func userInfo() {
        context.userInfo["key"] = "value"
        #expect(context.userInfo["key"] as? String == "value")
    }
}
