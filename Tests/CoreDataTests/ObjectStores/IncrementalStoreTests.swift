import CoreData
import Testing

/// A store of the developer's is asked as the Incremental Store Programming Guide says.
@Suite("NSIncrementalStore", .serialized) struct IncrementalStoreTests {
    let coordinator: NSPersistentStoreCoordinator
    let store: NotebookStore
    let context: NSManagedObjectContext

    init() throws {
        NSPersistentStoreCoordinator.registerStoreClass(NotebookStore.self, type: NotebookStore.type)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let added = try coordinator.addPersistentStore(
            type: NotebookStore.type, at: URL(fileURLWithPath: "/tmp/notes"))
        store = try #require(added as? NotebookStore)
        context = Self.context(coordinator)
    }

    static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    func saveAda() throws {
        try context.performAndWait {
            let ada = context.make("Author", ["name": "Ada", "age": 36])
            context.make("Book", ["title": "Notes", "author": ada])
            try context.save()
        }
    }

    @Test("A registered class is among the registered store types, and its metadata and UUID are the store's")
    func registered() throws {
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes["Notebook"] != nil)
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes[NSSQLiteStoreType] != nil)
        #expect(store.identifier == "NOTEBOOK-notes")
        #expect(coordinator.metadata(for: store)["made by"] as? String == "a test")
        #expect(store.type == "Notebook")
    }

    @Test("A save sends inserted, updated and deleted objects in one request") func save() throws {
        try saveAda()
        #expect(store.pages["Author"]?.values.first?.values["name"] as? String == "Ada")
        try context.performAndWait {
            let calls = try NotebookStore.calls {
                let ada = try #require(context.all("Author").first)
                ada.setValue(37, forKey: "age")
                try context.all("Book").forEach(context.delete)
                context.make("Author", ["name": "Charles"])
                try context.save()
            }
            #expect(calls.last == "save 1 1 1")
            #expect(store.pages["Book"]?.count == 0)
            #expect(store.pages["Author"]?.count == 2)
        }
    }

    @Test("New objects have the IDs that the store gave, and URIs lead back to them") func identifiers() throws {
        try saveAda()
        try context.performAndWait {
            let ada = try #require(context.all("Author").first)
            let uri = ada.objectID.uriRepresentation()
            #expect(uri.absoluteString.hasPrefix("x-coredata://NOTEBOOK-notes/Author/ppage-"))
            #expect(coordinator.managedObjectID(forURIRepresentation: uri) == ada.objectID)
            #expect(coordinator.managedObjectID(for: uri.absoluteString) == ada.objectID)
        }
    }

    @Test("A fetch asks for objects only; their values are asked for when they are first read") func faulting() throws {
        try saveAda()
        let other = Self.context(coordinator)
        try other.performAndWait {
            var authors: [NSManagedObject] = []
            let fetching = try NotebookStore.calls {
                authors = try other.all("Author", NSPredicate(format: "name == %@", "Ada"))
            }
            #expect(fetching == ["fetch Author name == \"Ada\""])
            let ada = try #require(authors.first)
            #expect(ada.isFault)
            let reading = NotebookStore.calls { #expect(ada.string("name") == "Ada") }
            #expect(reading.filter { $0.hasPrefix("values of") }.count == 1)
            let again = NotebookStore.calls { #expect(ada.value(forKey: "age") as? Int == 36) }
            #expect(again.isEmpty)
        }
    }

    @Test("The store is told which objects contexts come to know and forget") func registration() async throws {
        try saveAda()
        NotebookStore.calls.withLock { $0 = [] }
        do {
            let other = Self.context(coordinator)
            try other.performAndWait { _ = try other.all("Author") }
        }
        await withCheckedContinuation { done in coordinator.perform { done.resume() } }
        let calls = NotebookStore.calls.withLock { $0.filter { $0.contains("registered") } }
        #expect(calls.first?.hasPrefix("registered page-") == true)
        #expect(calls.last?.hasPrefix("unregistered page-") == true)
    }

    @Test("The store is asked on behalf of the context that fetches") func askingContext() throws {
        try saveAda()
        let other = Self.context(coordinator)
        other.name = "other"
        try other.performAndWait {
            let calls = try NotebookStore.calls { try other.all("Author").forEach { _ = $0.string("name") } }
            #expect(calls.contains { $0.hasPrefix("values of") && $0.hasSuffix("for other") })
        }
    }

    @Test("A child context reads through its parent") func child() throws {
        try saveAda()
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = context
        try child.performAndWait {
            let ada = try #require(child.all("Author").first)
            #expect(ada.string("name") == "Ada")
            ada.setValue("Ada L.", forKey: "name")
            try child.save()
        }
        try context.performAndWait { try context.save() }
        #expect(store.pages["Author"]?.values.first?.values["name"] as? String == "Ada L.")
    }

    @Test("Relationships are asked for one at a time") func relationships() throws {
        try saveAda()
        let other = Self.context(coordinator)
        try other.performAndWait {
            let ada = try #require(other.all("Author").first)
            let calls = NotebookStore.calls {
                let books = ada.objects("books")
                #expect(books.first?.string("title") == "Notes")
                #expect(books.first?.value(forKey: "author") as? NSManagedObject === ada)
            }
            #expect(calls.contains { $0.hasPrefix("books of page-") })
            #expect(calls.contains { $0.hasPrefix("author of page-") })
        }
    }

    @Test("Counts, IDs and dictionaries are what the store answers") func resultTypes() throws {
        try saveAda()
        try context.performAndWait {
            let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Author")
            let count = try context.count(for: request)
            #expect(count == 1)
            request.resultType = .managedObjectIDResultType
            let identifiers = try context.fetch(request)
            #expect(identifiers.first is NSManagedObjectID)
            request.resultType = .dictionaryResultType
            let dictionary = try context.fetch(request).first as? NSDictionary
            #expect(dictionary?["name"] as? String == "Ada")
        }
    }

    @Test("Two contexts do not overwrite each other's changes") func optimisticLocking() throws {
        try saveAda()
        let other = Self.context(coordinator)
        let theirs = try other.performAndWait { try #require(try other.all("Author").first) }
        other.performAndWait { #expect(theirs.string("name") == "Ada") }
        try context.performAndWait {
            for age in [37, 38] {
                try #require(try context.all("Author").first).setValue(age, forKey: "age")
                try context.save()
            }
        }
        try other.performAndWait {
            theirs.setValue("Ada L.", forKey: "name")
            let error = #expect(throws: NSError.self) { try other.save() }
            #expect(error?.code == NSManagedObjectMergeError)
            other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try other.save()
        }
        let values = store.pages["Author"]?.values.first?.values
        #expect(values?["name"] as? String == "Ada L." && values?["age"] as? Int == 38)
    }

    @Test("A store may count versions in its own way: what it says after a save is the version of that save")
    func ownVersions() throws {
        try saveAda()
        try context.performAndWait {
            let ada = try #require(try context.all("Author").first)
            for (age, version) in [(37, 5000), (38, 9000), (39, 1)] as [(Int, UInt64)] {
                for key in (store.pages["Author"] ?? [:]).keys { store.pages["Author"]?[key]?.version = version }
                ada.setValue(age, forKey: "age")
                try context.save()
            }
        }
        #expect(store.pages["Author"]?.values.first?.values["age"] as? Int == 39)
    }

    @Test("Objects that are only watched for conflicts are locked, not updated") func locked() throws {
        try saveAda()
        try context.performAndWait {
            let (ada, book) = (try #require(context.all("Author").first), try #require(context.all("Book").first))
            context.detectConflicts(for: book)
            ada.setValue(37, forKey: "age")
            try context.save()
            #expect(store.lastSave?.updatedObjects == [ada] && store.lastSave?.lockedObjects == [book])
        }
        #expect(store.pages["Book"]?.values.first?.version == 1)
    }

    @Test("Prefetching asks once for an object to which several lead") func prefetching() throws {
        try context.performAndWait {
            let ada = context.make("Author", ["name": "Ada"])
            for title in ["Notes", "Letters"] { context.make("Book", ["title": title, "author": ada]) }
            try context.save()
        }
        let other = Self.context(coordinator)
        try other.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.relationshipKeyPathsForPrefetching = ["author"]
            var books: [NSManagedObject] = []
            let calls = try NotebookStore.calls { books = try other.fetch(request) }
            #expect(books.count == 2)
            #expect(calls.filter { $0.hasPrefix("values of") }.count == 3)
        }
    }

    @Test("A save that the store refuses leaves the objects as they were") func failingSave() throws {
        try saveAda()
        context.performAndWait {
            store.failure = CocoaError(.persistentStoreSave)
            let author = context.make("Author", ["name": "Grace"])
            #expect(throws: CocoaError.self) { try context.save() }
            #expect(author.objectID.isTemporaryID)
            #expect(context.insertedObjects == [author])
            #expect(store.pages["Author"]?.count == 1)
        }
    }

    @Test("An object that is gone cannot be found by its ID") func missingObject() throws {
        try context.performAndWait {
            let entity = try #require(coordinator.managedObjectModel.entitiesByName["Author"])
            let identifier = store.newObjectID(for: entity, referenceObject: "nobody")
            let error = #expect(throws: CocoaError.self) { try context.existingObject(with: identifier) }
            #expect(error?.code == .managedObjectReferentialIntegrity)
        }
    }

    @Test("A request that the store does not know is refused") func unknownRequest() throws {
        context.performAndWait {
            let error = #expect(throws: CocoaError.self) {
                try store.execute(NSPersistentStoreRequest.unknown, with: context)
            }
            #expect(error?.code == .persistentStoreUnsupportedRequestType)
        }
    }
}

extension NSPersistentStoreRequest {
    /// A request of a kind that no store knows.
    fileprivate static var unknown: NSPersistentStoreRequest {
        NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: "Author"))
    }
}
