import CoreData
import Testing

/// Checks from the pages of `NSPersistentStoreCoordinator`, `NSPersistentStore`, `NSPersistentStoreDescription` and
/// `NSPersistentContainer`.
@MainActor @Suite("Documented: coordinators and containers")
struct CoordinatorDocumentationTests {
    private let file: Notebook.File

    init() throws {
        file = try Notebook.File()
    }

    @Test("A store that is opened read-only saves nothing: NSFileWriteNoPermissionError (513)")
    func readOnly() throws {
        let writable = try file.container().viewContext
        let note = writable.make("Note", ["title": "A"])
        try writable.save()
        let identifier = note.objectID.uriRepresentation()
        let container = try file.container(readOnly: true)
        let context = container.viewContext
        #expect(container.persistentStoreCoordinator.persistentStores.first?.isReadOnly == true)
        func refused(_ change: () throws -> Void) {
            let error = #expect(throws: NSError.self) { try change() }
            #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSFileWriteNoPermissionError)
            #expect(error?.code == 513)
            context.rollback()
        }
        refused {
            context.make("Note")
            try context.save()
        }
        let known = try #require(container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: identifier))
        refused {
            context.object(with: known).setValue("B", forKey: "title")
            try context.save()
        }
        refused {
            context.delete(context.object(with: known))
            try context.save()
        }
        refused {
            let update = NSBatchUpdateRequest(entityName: "Note")
            update.propertiesToUpdate = ["title": "B"]
            try context.execute(update)
        }
        refused {
            try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Note")))
        }
        refused { try context.execute(NSBatchInsertRequest(entityName: "Note", objects: [["title": "C"]])) }
        #expect(try context.all("Note").map { $0.shown("title") } == ["A"])
    }

    @Test("A read-only XML store saves nothing either, with the same error")
    func readOnlyDocument() throws {
        let url = file.folder.file("Notebook.xml")
        func open(readOnly: Bool) throws -> NSManagedObjectContext {
            let description = NSPersistentStoreDescription(url: url)
            description.type = NSXMLStoreType
            description.isReadOnly = readOnly
            return try Library.container(Notebook.model(), description).viewContext
        }
        let writable = try open(readOnly: false)
        writable.make("Note", ["title": "A"])
        try writable.save()
        let context = try open(readOnly: true)
        try #require(try context.all("Note").first).setValue("B", forKey: "title")
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSFileWriteNoPermissionError)
    }

    @Test("Adding a store to a file that is not a store throws; so does a read-only store without a file")
    func notAStore() throws {
        try Data("no store".utf8).write(to: file.url)
        #expect(throws: NSError.self) { try file.container() }
        try FileManager.default.removeItem(at: file.url)
        #expect(throws: NSError.self) { try file.container(readOnly: true) }
    }

    @Test("persistentStore(for:), url(for:), persistentStores and remove")
    func stores() throws {
        let coordinator = try file.container().persistentStoreCoordinator
        let store = try #require(coordinator.persistentStore(for: file.url))
        #expect(coordinator.persistentStores == [store] && coordinator.url(for: store) == file.url)
        #expect(
            store.type == NSSQLiteStoreType && store.persistentStoreCoordinator === coordinator && !store.isReadOnly)
        #expect(store.configurationName == "PF_DEFAULT_CONFIGURATION_NAME" && store.identifier.isEmpty == false)
        try coordinator.remove(store)
        #expect(coordinator.persistentStores.isEmpty && coordinator.persistentStore(for: file.url) == nil)
    }

    @Test(
        "Metadata have the store's UUID and type; what is set is written by the next save, and is there when read by URL"
    )
    func metadata() throws {
        let container = try file.container()
        let coordinator = container.persistentStoreCoordinator
        let store = try #require(coordinator.persistentStores.first)
        var metadata = coordinator.metadata(for: store)
        #expect(
            metadata[NSStoreUUIDKey] as? String == store.identifier
                && metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
        metadata["mine"] = "value"
        coordinator.setMetadata(metadata, for: store)
        try container.viewContext.save()
        let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: file.url, options: nil)
        #expect(read["mine"] as? String == "value")
        #expect(read[NSStoreModelVersionHashesKey] != nil)
    }

    @Test("setMetadata by URL writes them at once")
    func metadataByURL() throws {
        _ = try file.container()
        try NSPersistentStoreCoordinator.setMetadata(
            ["a": "b"], forPersistentStoreOfType: NSSQLiteStoreType, at: file.url, options: nil)
        let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: file.url, options: nil)
        #expect(read["a"] as? String == "b")
    }

    @Test(
        "migratePersistentStore takes the data elsewhere and leaves the coordinator with the new store; the old file stays"
    )
    func migrating() throws {
        let container = try file.container()
        let coordinator = container.persistentStoreCoordinator
        container.viewContext.make("Note", ["title": "A"])
        try container.viewContext.save()
        let target = file.folder.file("Moved.sqlite")
        let store = try coordinator.migratePersistentStore(
            try #require(coordinator.persistentStores.first), to: target, options: nil, withType: NSSQLiteStoreType)
        #expect(coordinator.persistentStores == [store] && store.url == target)
        container.viewContext.reset()
        #expect(try container.viewContext.all("Note").count == 1)
        #expect(FileManager.default.fileExists(atPath: file.url.path))
    }

    @Test("replacePersistentStore makes a copy where there is nothing; destroyPersistentStore leaves an empty store")
    func replacing() throws {
        let container = try file.container()
        container.viewContext.make("Note", ["title": "A"])
        try container.viewContext.save()
        let copy = file.folder.file("Copy.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Notebook.model())
        try coordinator.replacePersistentStore(
            at: copy, destinationOptions: nil, withPersistentStoreFrom: file.url, sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        let context = try Library.container(Notebook.model(), NSPersistentStoreDescription(url: copy)).viewContext
        #expect(try context.all("Note").count == 1)
        try coordinator.destroyPersistentStore(at: copy, ofType: NSSQLiteStoreType, options: nil)
        let empty = try Library.container(Notebook.model(), NSPersistentStoreDescription(url: copy)).viewContext
        #expect(try empty.all("Note").isEmpty)
    }

    @Test("The coordinator reports stores that come and go")
    func notifications() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Notebook.model())
        nonisolated(unsafe) var log: [String] = []  // posted on this thread
        let changes = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator, queue: nil
        ) { log.append($0.userInfo?[NSAddedPersistentStoresKey] != nil ? "added" : "removed") }
        defer { NotificationCenter.default.removeObserver(changes) }
        let store = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let removal = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: store, queue: nil
        ) { _ in log.append("will remove") }
        defer { NotificationCenter.default.removeObserver(removal) }
        try coordinator.remove(store)
        #expect(log == ["added", "will remove", "removed"])
    }

    @Test("setURL moves a store's place; false for a store that the coordinator does not have")
    func relocating() throws {
        let container = try file.container()
        let coordinator = container.persistentStoreCoordinator
        let store = try #require(coordinator.persistentStores.first)
        let other = try Notebook.inMemory().persistentStoreCoordinator.persistentStores
        #expect(try !coordinator.setURL(file.url, for: #require(other.first)))
        withExtendedLifetime(store) {}
    }

    // MARK: Descriptions and containers

    @Test(
        "A description is of a SQLite store, written to, loaded at once, migrated automatically with an inferred mapping"
    )
    func description() {
        let description = NSPersistentStoreDescription()
        #expect(
            description.type == NSSQLiteStoreType && !description.isReadOnly
                && !description.shouldAddStoreAsynchronously)
        #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
        #expect(description.timeout == 240 && description.sqlitePragmas.isEmpty)
        description.isReadOnly = true
        #expect((description.options[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue == true)
        description.setValue("FULL" as NSString, forPragmaNamed: "synchronous")
        #expect(description.sqlitePragmas["synchronous"] as? String == "FULL")
    }

    @Test("A container has one description at first: a SQLite file of its name in the default folder")
    func containerDefaults() {
        let container = NSPersistentContainer(name: "Name", managedObjectModel: Notebook.model())
        let description = container.persistentStoreDescriptions.first
        #expect(container.persistentStoreDescriptions.count == 1 && container.name == "Name")
        #expect(description?.url?.lastPathComponent == "Name.sqlite")
        #expect(description?.url?.deletingLastPathComponent().path == NSPersistentContainer.defaultDirectoryURL().path)
        #expect(container.viewContext.concurrencyType == .mainQueueConcurrencyType)
        #expect(container.viewContext.persistentStoreCoordinator === container.persistentStoreCoordinator)
    }

    @Test("loadPersistentStores calls back for each description, with its error where it has one")
    func loading() throws {
        let container = NSPersistentContainer(name: "Two", managedObjectModel: Notebook.model())
        let bad = file.folder.file("bad.sqlite")
        try Data("no store, but long enough to look at".utf8).write(to: bad)
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(url: file.url), NSPersistentStoreDescription(url: bad),
        ]
        nonisolated(unsafe) var results: [String] = []  // called on this thread
        container.loadPersistentStores { results.append("\($0.url?.lastPathComponent ?? "") \($1 == nil)") }
        #expect(results == ["Notebook.sqlite true", "bad.sqlite false"])
        #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    }

    @Test("newBackgroundContext gives a new private context each time; performBackgroundTask gives one to its block")
    func backgroundContexts() async throws {
        let container = try file.container()
        let context = container.newBackgroundContext()
        #expect(context.concurrencyType == .privateQueueConcurrencyType && context !== container.newBackgroundContext())
        #expect(context.persistentStoreCoordinator === container.persistentStoreCoordinator)
        let count = try await container.performBackgroundTask { context in
            context.make("Note", ["title": "A"])
            try context.save()
            return try context.all("Note").count
        }
        #expect(count == 1)
    }
}
