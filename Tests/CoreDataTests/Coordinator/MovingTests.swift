import CoreData
import Synchronization
import TestSupport
import Testing

/// Stores that change their type and their place.
@Suite("Moving stores") struct MovingTests {
    let folder: TestFolder
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    let context: NSManagedObjectContext

    init() throws {
        folder = try TestFolder()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        store = try coordinator.addPersistentStore(type: .sqlite, at: folder.file("a.sqlite"))
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        self.context = context
        try context.performAndWait {
            let ada = context.make("Author", ["name": "Ada", "age": 36])
            let notes = context.make("Book", ["title": "Notes", "author": ada])
            context.make("Tag", ["name": "x"])
            try context.save()
            let comic = context.make("Comic", ["title": "Engine", "author": ada])
            let tag = try context.all("Tag").first
            tag?.setValue(Set([notes, comic]), forKey: "books")
            let chapters = ["C", "A", "B"].map { context.make("Chapter", ["title": $0]) }
            notes.setValue(NSOrderedSet(array: chapters), forKey: "chapters")
            try context.save()
        }
    }

    func expectLibrary(_ coordinator: NSPersistentStoreCoordinator) throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let ada = try #require(context.all("Author").first)
            #expect(ada.value(forKey: "age") as? Int == 36)
            #expect(Set(ada.objects("books").compactMap { $0.string("title") }) == ["Notes", "Engine"])
            let tag = try #require(context.all("Tag").first)
            #expect(tag.objects("books").count == 2)
            let notes = try #require(context.all("Book", NSPredicate(format: "title == 'Notes'")).first)
            let chapters = notes.value(forKey: "chapters") as? NSOrderedSet
            #expect(chapters?.compactMap { ($0 as? NSManagedObject)?.string("title") } == ["C", "A", "B"])
            let comics = try context.all("Comic")
            #expect(comics.count == 1)
        }
    }

    /// As app code does that migrates through no step.
    @Test("A store that is replaced by itself stays as it is", arguments: ["WAL", "DELETE"])
    func replacedByItself(mode: String) throws {
        let url = folder.file("a.sqlite")
        try coordinator.remove(store)
        let options = [NSSQLitePragmasOption: ["journal_mode": mode]]
        let opened = try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
        try coordinator.remove(opened)
        try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).replacePersistentStore(
            at: url, withPersistentStoreFrom: url, type: .sqlite)
        _ = try coordinator.addPersistentStore(type: .sqlite, at: url)
        try expectLibrary(coordinator)
    }

    @Test(
        "A store migrates to every type that comes with Core Data, with all its objects",
        arguments: [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType, NSInMemoryStoreType])
    func migrate(type: String) throws {
        store.metadata["colour"] = "green"
        let new = try coordinator.migratePersistentStore(store, to: folder.file("b"), options: nil, withType: type)
        #expect(coordinator.persistentStores == [new])
        #expect(new.type == type)
        #expect(new.metadata["colour"] as? String == "green")
        #expect(store.persistentStoreCoordinator == nil)
        #expect(FileManager.default.fileExists(atPath: folder.file("a.sqlite").path))
        try expectLibrary(coordinator)
        guard type != NSInMemoryStoreType else { return }
        let again = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try again.addPersistentStore(ofType: type, configurationName: nil, at: folder.file("b"))
        try expectLibrary(again)
    }

    @Test("A copy does not look for the order of the lists that it makes: the index that would find it comes last")
    func orderOfLists() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            setenv("COREDATA_SQL_DEBUG", "1", 1)
            let stores = try MovingTests()
            try stores.coordinator.migratePersistentStore(
                stores.store, to: stores.folder.file("b"), options: nil, withType: NSSQLiteStoreType)
            try stores.expectLibrary(stores.coordinator)
        }
        let log = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(log.contains(" SET Z_FOK_"))
        #expect(!log.contains("SELECT Z_PK, Z_FOK_"))
    }

    @Test("An XML store migrates back to SQLite", arguments: [NSPersistentStore.StoreType.sqlite])
    func back(type: NSPersistentStore.StoreType) throws {
        let xml = try coordinator.migratePersistentStore(store, to: folder.file("b"), withType: NSXMLStoreType)
        try coordinator.migratePersistentStore(xml, to: folder.file("c.sqlite"), type: type)
        try expectLibrary(coordinator)
    }

    @Test("Between SQLite stores, contexts go on with the objects that they have") func keepsObjects() throws {
        try context.performAndWait {
            let ada = try #require(context.all("Author").first)
            ada.setValue(37, forKey: "age")
            try coordinator.migratePersistentStore(store, to: folder.file("b.sqlite"), type: .sqlite)
            try context.save()
            context.make("Author", ["name": "Grace"])
            try context.save()
            context.refreshAllObjects()
            #expect(ada.value(forKey: "age") as? Int == 37)
        }
        let names = try plainSQL("SELECT ZNAME, ZAGE FROM ZAUTHOR ORDER BY Z_PK", in: folder.file("b.sqlite"))
        #expect(names == ["Ada|37", "Grace|"])
    }

    @Test("A store does not migrate onto another one, and stays as it was") func occupied() throws {
        let other = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try other.addPersistentStore(type: .sqlite, at: folder.file("b.sqlite"))
        let error = #expect(throws: CocoaError.self) {
            try coordinator.migratePersistentStore(store, to: folder.file("b.sqlite"), type: .sqlite)
        }
        #expect(error?.code == .fileWriteFileExists)
        #expect(coordinator.persistentStores == [store])
        try expectLibrary(coordinator)
    }

    @Test("A store that cannot be made leaves the coordinator as it was") func failing() throws {
        #expect(throws: (any Error).self) {
            try coordinator.migratePersistentStore(store, to: folder.file("none/b.sqlite"), type: .sqlite)
        }
        #expect(throws: (any Error).self) {
            try coordinator.migratePersistentStore(store, to: folder.file("none/b.xml"), withType: NSXMLStoreType)
        }
        #expect(coordinator.persistentStores == [store])
        #expect(store.identifier == coordinator.metadata(for: store)[NSStoreUUIDKey] as? String)
        try expectLibrary(coordinator)
    }

    @Test("An SQLite store goes on at a place where a copy of it is") func setURL() throws {
        let url = folder.file("copy.sqlite")
        #expect(!coordinator.setURL(url, for: store))
        #expect(store.url == folder.file("a.sqlite"))
        try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: folder.file("a.sqlite"), type: .sqlite)
        #expect(coordinator.setURL(url, for: store))
        #expect(coordinator.url(for: store) == url)
        try expectLibrary(coordinator)
    }

    @Test("What is pinned after a move is the content of the new place") func pinnedAfterMove() throws {
        let url = folder.file("copy.sqlite")
        try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: folder.file("a.sqlite"), type: .sqlite)
        try execute("UPDATE ZAUTHOR SET ZNAME = 'Grace'", in: url)
        func names(_ context: NSManagedObjectContext) throws -> [String?] {
            context.persistentStoreCoordinator = coordinator
            return try context.performAndWait {
                try context.setQueryGenerationFrom(.current)
                return try context.all("Author").map { $0.string("name") }
            }
        }
        let before = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        #expect(try names(before) == ["Ada"])
        #expect(coordinator.setURL(url, for: store))
        let after = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        #expect(try names(after) == ["Grace"])
        withExtendedLifetime(before) {}
    }

    @Test("An XML store is written to its new place with the next save") func setURLOfDocument() throws {
        let xml = try coordinator.migratePersistentStore(store, to: folder.file("b.xml"), withType: NSXMLStoreType)
        #expect(coordinator.setURL(folder.file("c.xml"), for: xml))
        #expect(!FileManager.default.fileExists(atPath: folder.file("c.xml").path))
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            context.make("Shelf", ["code": "1"])
            try context.save()
        }
        #expect(FileManager.default.fileExists(atPath: folder.file("c.xml").path))
    }

    @Test("A locked coordinator is not to be locked by another thread", .ownThread) func locking() throws {
        coordinator.lock()
        defer { coordinator.unlock() }
        #expect(coordinator.tryLock())
        coordinator.unlock()
        let coordinator = coordinator
        let isFree = Atomic<Bool>(true)
        let done = DispatchSemaphore(value: 0)
        Thread {
            isFree.store(coordinator.tryLock(), ordering: .relaxed)
            done.signal()
        }.start()
        done.wait()
        let wasFree = isFree.load(ordering: .relaxed)
        #expect(!wasFree)
    }

    @Test("A copy goes on counting where the store was, so that no key is given out again") func counters() throws {
        try context.performAndWait {
            let tag = context.make("Tag", ["name": "gone"])
            try context.save()
            context.delete(tag)
            try context.save()
        }
        let file = folder.file("b.sqlite")
        let new = try coordinator.migratePersistentStore(store, to: file, options: nil, withType: NSSQLiteStoreType)
        #expect(
            try plainSQL("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_MAX > 0 ORDER BY Z_NAME", in: file) == [
                "Author|1", "Book|2", "Chapter|3", "Tag|2",
            ])
        try context.performAndWait {
            context.reset()
            let tag = context.make("Tag")
            try context.save()
            #expect(tag.objectID.uriRepresentation().lastPathComponent == "p3")
        }
        try coordinator.remove(new)
    }

    @Test("A container's subclass says where its stores are kept, and what its contexts are") func container() throws {
        let container = SpecialContainer(name: "Library", managedObjectModel: Library.model())
        let url = try #require(container.persistentStoreDescriptions.first?.url)
        #expect(url.lastPathComponent == "Library.sqlite")
        #expect(url.deletingLastPathComponent().lastPathComponent == "special")
        #expect(container.newBackgroundContext().name == "special")
        #expect(container.viewContext.concurrencyType == .mainQueueConcurrencyType)
    }
}

/// A container as applications subclass it.
private final class SpecialContainer: NSPersistentContainer, @unchecked Sendable {
    // @unchecked Sendable: adds no state.
    override class func defaultDirectoryURL() -> URL {
        super.defaultDirectoryURL().appendingPathComponent("special", isDirectory: true)
    }

    override func newBackgroundContext() -> NSManagedObjectContext {
        let context = super.newBackgroundContext()
        context.name = "special"
        return context
    }
}
