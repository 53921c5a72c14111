import CoreData
import TestSupport
import Testing

/// Checks from the page of `NSPersistentStoreCoordinator`: adding, moving, replacing and removing stores.
@MainActor @Suite("Documented: the stores of a coordinator")
struct CoordinatorStoresDocumentationTests {
    private let folder: TestFolder
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Notebook.model())

    init() throws { folder = try TestFolder() }

    /// A context of the coordinator with one saved note.
    private func withANote() throws -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = coordinator
        context.make("Note", ["title": "A"])
        try context.save()
        return context
    }

    // MARK: Adding

    @Test(
        "addPersistentStore(type:configuration:at:options:): gives the store that was added",
        arguments: ["SQLite", "XML", "Binary"])
    func adding(type: String) throws {
        let url = folder.file("Store")
        let storeType = NSPersistentStore.StoreType(rawValue: type)
        let store = try coordinator.addPersistentStore(type: storeType, at: url)
        #expect(coordinator.persistentStores == [store] && store.type == type && store.url == url)
        #expect(coordinator.managedObjectModel.entitiesByName["Note"] != nil)
    }

    @Test("addPersistentStore(type:configuration:at:options:): the model must have the configuration")
    func unknownConfiguration() {
        #expect(throws: NSError.self) {
            try coordinator.addPersistentStore(type: .sqlite, configuration: "None", at: folder.file("Store"))
        }
    }

    @Test("A store of a configuration keeps the entities of that configuration")
    func configuration() throws {
        let model = Notebook.model()
        model.setEntities([try #require(model.entitiesByName["Mark"])], forConfigurationName: "Marks")
        model.setEntities(
            ["Folder", "Note"].compactMap { model.entitiesByName[$0] }, forConfigurationName: "Others")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: folder.file("Marks"))
        #expect(description.configuration == nil)
        description.configuration = "Marks"
        coordinator.addPersistentStore(with: description) { #expect($1 == nil) }
        let others = try coordinator.addPersistentStore(
            type: .inMemory, configuration: "Others", at: folder.file("Others"))
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = coordinator
        let (mark, note) = (context.make("Mark"), context.make("Note"))
        try context.save()
        #expect(mark.objectID.persistentStore?.configurationName == "Marks")
        #expect(note.objectID.persistentStore === others)
    }

    @Test("addPersistentStore(with:completionHandler:): calls back with the description, and the error if there is one")
    func addingByDescription() throws {
        let good = NSPersistentStoreDescription(url: folder.file("Good"))
        nonisolated(unsafe) var called: [Bool] = []  // called on this thread
        coordinator.addPersistentStore(with: good) { called.append($0.url == good.url && $1 == nil) }
        let bad = NSPersistentStoreDescription(url: folder.file("Bad"))
        bad.type = "Nothing"
        coordinator.addPersistentStore(with: bad) {
            called.append(($1 as? NSError)?.code == NSPersistentStoreInvalidTypeError)
        }
        #expect(called == [true, true] && coordinator.persistentStores.count == 1)
    }

    @Test("shouldAddStoreAsynchronously: the store is added in the background, and the block is called then")
    func addingInTheBackground() async {
        let description = NSPersistentStoreDescription(url: folder.file("Store"))
        description.shouldAddStoreAsynchronously = true
        let error = await withCheckedContinuation { continuation in
            coordinator.addPersistentStore(with: description) { continuation.resume(returning: $1) }
        }
        #expect(error == nil && coordinator.persistentStores.count == 1)
    }

    @Test("An empty file is where a store is to be: it becomes one", arguments: ["SQLite", "XML", "Binary"])
    func reservedFile(type: String) throws {
        let url = folder.file("Store")
        try Data().write(to: url)
        try coordinator.addPersistentStore(type: .init(rawValue: type), at: url)
        #expect(try withANote().all("Note").count == 1)
        let other = NSPersistentStoreCoordinator(managedObjectModel: Notebook.model())
        try other.addPersistentStore(type: .init(rawValue: type), at: url)
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = other
        #expect(try context.all("Note").count == 1)
    }

    @Test("A store of another type than was said: NSPersistentStoreTypeMismatchError or that it cannot be opened")
    func wrongType() throws {
        let url = folder.file("Store")
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        let other = NSPersistentStoreCoordinator(managedObjectModel: Notebook.model())
        for type in ["XML", "Binary"] {
            let error = #expect(throws: NSError.self) {
                try other.addPersistentStore(type: .init(rawValue: type), at: url)
            }
            #expect([NSPersistentStoreTypeMismatchError, NSPersistentStoreOpenError, 259].contains(error?.code))
        }
    }

    // MARK: Moving

    @Test(
        "migratePersistentStore(_:to:options:type:): another place, and another type of store",
        arguments: ["SQLite", "XML", "Binary"])
    func migrating(type: String) throws {
        let old = try coordinator.addPersistentStore(type: .sqlite, at: folder.file("Old"))
        let context = try withANote()
        let target = folder.file("New")
        let new = try coordinator.migratePersistentStore(old, to: target, type: .init(rawValue: type))
        #expect(new.type == type && new.url == target && coordinator.persistentStores == [new])
        #expect(try context.all("Note").map { $0.shown("title") } == ["A"])
        #expect(old.persistentStoreCoordinator == nil)
    }

    @Test("migratePersistentStore: NSUUIDChangedPersistentStoresKey has the old store and the new one")
    func migrationNews() throws {
        let old = try coordinator.addPersistentStore(type: .sqlite, at: folder.file("Old"))
        _ = try withANote()
        nonisolated(unsafe) var changed: [[Any]] = []  // posted on this thread
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator, queue: nil
        ) { if let stores = $0.userInfo?[NSUUIDChangedPersistentStoresKey] as? [Any] { changed.append(stores) } }
        defer { NotificationCenter.default.removeObserver(token) }
        let new = try coordinator.migratePersistentStore(old, to: folder.file("New"), type: .sqlite)
        #expect(changed.count == 1 && changed.first?.count == 2)
        #expect(changed.first?.first as? NSPersistentStore === old && changed.first?[1] as? NSPersistentStore === new)
    }

    @Test("setURL(_:for:): of an atomic store, the place that the next save writes to")
    func relocatingAnAtomicStore() throws {
        let (first, second) = (folder.file("First"), folder.file("Second"))
        let store = try coordinator.addPersistentStore(type: .binary, at: first)
        let context = try withANote()
        #expect(coordinator.setURL(second, for: store) && coordinator.url(for: store) == second)
        #expect(!FileManager.default.fileExists(atPath: second.path))
        context.make("Note")
        try context.save()
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .binary, at: second)
        #expect(metadata[NSStoreUUIDKey] as? String == store.identifier)
    }

    @Test("setURL(_:for:): of another store, a place where there is a store already; none is made")
    func relocatingAnSQLiteStore() throws {
        let store = try coordinator.addPersistentStore(type: .sqlite, at: folder.file("First"))
        let context = try withANote()
        #expect(!coordinator.setURL(folder.file("None"), for: store))
        let copy = folder.file("Copy")
        try coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: folder.file("First"), type: .sqlite)
        #expect(coordinator.setURL(copy, for: store) && store.url == copy)
        #expect(try context.all("Note").count == 1)
    }

    // MARK: Files

    @Test("replacePersistentStore(…type:): the destination has what the source has, and not what it had")
    func replacing() throws {
        let (source, target) = (folder.file("Source"), folder.file("Target"))
        for (url, titles) in [(source, ["S"]), (target, ["T", "U"])] {
            let context = try Library.container(Notebook.model(), NSPersistentStoreDescription(url: url)).viewContext
            for title in titles { context.make("Note", ["title": title]) }
            try context.save()
        }
        try coordinator.replacePersistentStore(
            at: target, destinationOptions: nil, withPersistentStoreFrom: source, sourceOptions: nil, type: .sqlite)
        let context = try Library.container(Notebook.model(), NSPersistentStoreDescription(url: target)).viewContext
        #expect(try context.all("Note").map { $0.shown("title") } == ["S"])
    }

    @Test("destroyPersistentStore(at:type:options:): what was stored is gone", arguments: ["SQLite", "XML", "Binary"])
    func destroying(type: String) throws {
        let url = folder.file("Store")
        let storeType = NSPersistentStore.StoreType(rawValue: type)
        let store = try coordinator.addPersistentStore(type: storeType, at: url)
        _ = try withANote()
        try coordinator.remove(store)
        try coordinator.destroyPersistentStore(at: url, type: storeType, options: nil)
        try coordinator.addPersistentStore(type: storeType, at: url)
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = coordinator
        #expect(try context.all("Note").isEmpty)
    }

    @Test("NSPersistentStoreForceDestroyOption: destroys a file that is not a store any more")
    func destroyingByForce() throws {
        let url = folder.file("Store")
        try Data("no store, but long enough to be looked at".utf8).write(to: url)
        try coordinator.destroyPersistentStore(
            at: url, type: .sqlite, options: [NSPersistentStoreForceDestroyOption: true])
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        #expect(coordinator.persistentStores.count == 1)
    }

    @Test("remove(_:): NSRemovedPersistentStoresKey has the store; StoresWillChange is posted before stores change")
    func removing() throws {
        let store = try coordinator.addPersistentStore(type: .sqlite, at: folder.file("Store"))
        nonisolated(unsafe) var removed: [NSPersistentStore] = []  // posted on this thread
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator, queue: nil
        ) { removed += $0.userInfo?[NSRemovedPersistentStoresKey] as? [NSPersistentStore] ?? [] }
        defer { NotificationCenter.default.removeObserver(token) }
        try coordinator.remove(store)
        #expect(removed == [store])
        let names: [Notification.Name] = [
            .NSPersistentStoreCoordinatorStoresWillChange, .NSPersistentStoreCoordinatorStoresDidChange,
            .NSPersistentStoreCoordinatorWillRemoveStore,
        ]
        #expect(Set(names).count == 3)
    }
}
