import CoreData
import TestSupport
import Testing

/// Checks from the page of `NSManagedObjectContext`: several stores, conflicts, generations, faults of lost rows.
@MainActor @Suite("Documented: contexts and their stores")
struct ContextStoreDocumentationTests {
    private let file: Notebook.File

    init() throws { file = try Notebook.File() }

    /// A context over two stores in memory of the same entities.
    private func overTwoStores() throws -> (NSManagedObjectContext, [NSPersistentStore]) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let stores = try (1...2).map { _ in
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        }
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = coordinator
        return (context, stores)
    }

    // MARK: Stores

    @Test("assign(_:to:): a new object is saved in that store; without it, in the first one that has its entity")
    func assigning() throws {
        let (context, stores) = try overTwoStores()
        let (first, second) = (context.make("Book"), context.make("Book"))
        context.assign(second, to: stores[1])
        try context.save()
        #expect(first.objectID.persistentStore === stores[0] && second.objectID.persistentStore === stores[1])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.affectedStores = [stores[1]]
        #expect(try context.fetch(request) == [second])
    }

    @Test("obtainPermanentIDs(for:): the ID of an assigned object is of its store")
    func obtaining() throws {
        let (context, stores) = try overTwoStores()
        let book = context.make("Book")
        context.assign(book, to: stores[1])
        try context.obtainPermanentIDs(for: [book])
        #expect(!book.objectID.isTemporaryID && book.objectID.persistentStore === stores[1])
    }

    @Test("Objects of removed stores: an ID keeps its URI, which leads nowhere any more")
    func removing() throws {
        let (context, stores) = try overTwoStores()
        let book = context.make("Book")
        try context.save()
        let identifier = book.objectID
        try context.persistentStoreCoordinator?.remove(stores[0])
        let uri = identifier.uriRepresentation()
        #expect(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri) == nil)
    }

    // MARK: Object IDs

    @Test("NSManagedObjectID: entity, store, and a URI that ends in entity and key; a temporary ID has no store")
    func objectIDs() throws {
        let context = try file.container().viewContext
        let note = context.make("Note")
        let temporary: NSManagedObjectID = note.objectID
        #expect(temporary.isTemporaryID && temporary.persistentStore == nil && temporary.entity.name == "Note")
        try context.save()
        let store = context.persistentStoreCoordinator?.persistentStores.first
        #expect(note.objectID.persistentStore === store && !note.objectID.isTemporaryID)
        let uri = note.objectID.uriRepresentation()
        #expect(uri.host == store?.identifier && uri.pathComponents.dropFirst() == ["Note", "p1"])
    }

    // MARK: Conflicts

    @Test("detectConflicts(for:): a save fails over an object without changes that somebody else has changed")
    func detecting() throws {
        let container = try file.container()
        let context = container.viewContext
        let (watched, changed) = (context.make("Note", ["title": "W"]), context.make("Note", ["title": "C"]))
        try context.save()
        func changeElsewhere(_ title: String) throws {
            let other = container.newBackgroundContext()
            try other.performAndWait {
                other.object(with: watched.objectID).setValue(title, forKey: "title")
                try other.save()
            }
        }
        _ = watched.value(forKey: "title")
        try changeElsewhere("1")
        changed.setValue("C1", forKey: "title")
        try context.save()
        context.refresh(watched, mergeChanges: false)
        _ = watched.value(forKey: "title")
        context.detectConflicts(for: watched)
        try changeElsewhere("2")
        changed.setValue("C2", forKey: "title")
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSManagedObjectMergeError)
    }

    // MARK: Generations

    @Test("setQueryGenerationFrom(_:): with current, the context stays at what is saved when it first reads")
    func pinning() throws {
        let container = try file.container()
        let context = container.newBackgroundContext()
        let writer = container.viewContext
        writer.make("Note", ["title": "A"])
        try writer.save()
        try context.performAndWait {
            #expect(context.queryGenerationToken == nil)
            try context.setQueryGenerationFrom(NSQueryGenerationToken.current)
            #expect(context.queryGenerationToken == .current)
            #expect(try context.all("Note").count == 1)
            #expect(context.queryGenerationToken != nil && context.queryGenerationToken != .current)
        }
        writer.make("Note", ["title": "B"])
        try writer.save()
        try context.performAndWait {
            #expect(try context.all("Note").count == 1)
            try context.setQueryGenerationFrom(nil)
            let count = try context.all("Note").count
            #expect(context.queryGenerationToken == nil && count == 2)
        }
    }

    @Test("setQueryGenerationFrom(_:): the token of one context pins another to what that one sees")
    func sharingAGeneration() throws {
        let container = try file.container()
        let (first, second) = (container.newBackgroundContext(), container.newBackgroundContext())
        try first.setQueryGenerationFrom(.current)
        let token = try first.performAndWait {
            let notes = try first.all("Note")
            #expect(notes.isEmpty)
            return first.queryGenerationToken
        }
        container.viewContext.make("Note")
        try container.viewContext.save()
        try second.performAndWait {
            try second.setQueryGenerationFrom(token)
            #expect(try second.all("Note").isEmpty)
        }
    }

    @Test("setQueryGenerationFrom(_:): a store in memory has no generations, and is read as it is")
    func unpinnable() throws {
        let container = try Notebook.inMemory()
        let context = container.newBackgroundContext()
        try? context.setQueryGenerationFrom(.current)
        container.viewContext.make("Note")
        try container.viewContext.save()
        let count = try context.performAndWait { try context.all("Note").count }
        #expect(count == 1)
    }

    // MARK: Faults whose rows are gone

    /// A fault in a context, whose row another context has deleted.
    private func lost(_ context: NSManagedObjectContext, _ container: NSPersistentContainer) throws -> NSManagedObject {
        let note = context.make("Note", ["title": "A"])
        try context.save()
        context.refresh(note, mergeChanges: false)
        let other = container.newBackgroundContext()
        try other.performAndWait {
            other.delete(other.object(with: note.objectID))
            try other.save()
        }
        return note
    }

    @Test("shouldDeleteInaccessibleFaults: a fault whose row is gone counts as deleted, with no values")
    func inaccessible() throws {
        let container = try file.container()
        let note = try lost(container.viewContext, container)
        #expect(container.viewContext.shouldDeleteInaccessibleFaults)
        #expect(note.shown("title") == "nil" && note.shown("stars") == "nil" && note.isDeleted)
        #expect(container.viewContext.deletedObjects == [note])
        try container.viewContext.save()
        #expect(note.managedObjectContext == nil)
    }

    @Test("shouldHandleInaccessibleFault(_:for:triggeredByProperty:): asked with the object and its ID")
    func handling() throws {
        final class Asked: NSManagedObjectContext, @unchecked Sendable {
            // @unchecked Sendable: used on the main queue only.
            var questions: [Bool] = []
            override func shouldHandleInaccessibleFault(
                _ fault: NSManagedObject, for oid: NSManagedObjectID,
                triggeredByProperty property: NSPropertyDescription?
            ) -> Bool {
                questions.append(fault.objectID == oid && (property == nil || property?.entity == fault.entity))
                return super.shouldHandleInaccessibleFault(fault, for: oid, triggeredByProperty: property)
            }
        }
        let container = try file.container()
        let context = Asked(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = container.persistentStoreCoordinator
        let note = try lost(context, container)
        #expect(note.shown("title") == "nil" && context.questions == [true])
    }
}
