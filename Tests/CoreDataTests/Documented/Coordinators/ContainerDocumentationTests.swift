import CoreData
import SQLiteConnection
import TestSupport
import Testing

/// Checks from the pages of `NSPersistentContainer`, `NSPersistentStoreDescription` and of the options of stores.
@MainActor @Suite("Documented: containers and options")
struct ContainerDocumentationTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    // MARK: Containers

    @Test("defaultDirectoryURL(): a subclass may override it, and stores are there then")
    func overriddenDirectory() {
        final class Elsewhere: NSPersistentContainer, @unchecked Sendable {  // has nothing of its own
            override class func defaultDirectoryURL() -> URL { URL(fileURLWithPath: "/tmp/elsewhere") }
        }
        let container = Elsewhere(name: "Name", managedObjectModel: Notebook.model())
        #expect(container.persistentStoreDescriptions.first?.url?.path == "/tmp/elsewhere/Name.sqlite")
    }

    @Test("loadPersistentStores(completionHandler:): called on the calling thread, once for each store")
    func loading() {
        let container = NSPersistentContainer(name: "Name", managedObjectModel: Notebook.model())
        container.persistentStoreDescriptions = ["A", "B"].map { NSPersistentStoreDescription(url: folder.file($0)) }
        let thread = Thread.current
        nonisolated(unsafe) var threads: [Bool] = []  // called on this thread
        container.loadPersistentStores(completionHandler: { _, error in
            threads.append(Thread.current === thread && error == nil)
        })
        #expect(threads == [true, true])
        #expect(container.managedObjectModel === container.persistentStoreCoordinator.managedObjectModel)
    }

    // MARK: Descriptions

    @Test("setOption(_:forKey:): replaces what was set before, and keys mind case; nil takes it away")
    func options() {
        let description = NSPersistentStoreDescription(url: folder.file("Store"))
        description.setOption("1" as NSString, forKey: "key")
        description.setOption("2" as NSString, forKey: "key")
        #expect(description.options["key"] as? String == "2" && description.options["Key"] == nil)
        description.setOption(nil, forKey: "key")
        #expect(description.options["key"] == nil)
    }

    @Test("isReadOnly, timeout and the flags of migration are short for options")
    func shorthands() {
        let description = NSPersistentStoreDescription(url: folder.file("Store"))
        description.isReadOnly = true
        description.timeout = 5
        description.shouldMigrateStoreAutomatically = false
        description.shouldInferMappingModelAutomatically = false
        #expect(description.options[NSReadOnlyPersistentStoreOption] as? Bool == true)
        #expect(description.options[NSPersistentStoreTimeoutOption] as? Double == 5)
        #expect(description.options[NSMigratePersistentStoresAutomaticallyOption] as? Bool == false)
        #expect(description.options[NSInferMappingModelAutomaticallyOption] as? Bool == false)
    }

    @Test("setValue(_:forPragmaNamed:): the pragmas of NSSQLitePragmasOption, which the connection has")
    func pragmas() throws {
        let description = NSPersistentStoreDescription(url: folder.file("Store"))
        description.setValue("DELETE" as NSString, forPragmaNamed: "journal_mode")
        #expect((description.options[NSSQLitePragmasOption] as? [String: String])?["journal_mode"] == "DELETE")
        let context = try Library.container(Notebook.model(), description).viewContext
        context.make("Note")
        try context.save()
        #expect(!FileManager.default.fileExists(atPath: folder.file("Store-wal").path))
    }

    // MARK: Options

    @Test("NSIgnorePersistentStoreVersioningOption: version hashes are not compared")
    func ignoringVersions() throws {
        let url = folder.file("Store")
        _ = try Library.container(Notebook.model(), NSPersistentStoreDescription(url: url))
        let model = Notebook.model()
        model.entitiesByName["Mark"]?.versionHashModifier = "other"
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        #expect(throws: NSError.self) { try coordinator.addPersistentStore(type: .sqlite, at: url) }
        try coordinator.addPersistentStore(
            type: .sqlite, at: url, options: [NSIgnorePersistentStoreVersioningOption: true])
        #expect(coordinator.persistentStores.count == 1)
    }

    @Test("NSSQLiteAnalyzeOption and NSSQLiteManualVacuumOption: analysis and defragmentation as the store is added")
    func maintenance() throws {
        let url = folder.file("Store")
        let context = try Library.container(Notebook.model(), NSPersistentStoreDescription(url: url)).viewContext
        for number in 0..<500 { context.make("Note", ["title": "\(number)"]) }
        try context.save()
        try context.all("Note").forEach(context.delete)
        try context.save()
        for store in context.persistentStoreCoordinator?.persistentStores ?? [] {
            try context.persistentStoreCoordinator?.remove(store)
        }
        #expect(try plainNumber("PRAGMA freelist_count", in: url) != 0)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Notebook.model())
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: url, options: [NSSQLiteAnalyzeOption: true, NSSQLiteManualVacuumOption: true])
        try coordinator.remove(store)
        #expect(try plainNumber("PRAGMA freelist_count", in: url) == 0)
        #expect(try plainNumber("SELECT count(*) FROM sqlite_master WHERE name = 'sqlite_stat1'", in: url) == 1)
    }

    @Test("Options that other stores and platforms mind are taken without a word")
    func otherOptions() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Notebook.model())
        let options: [String: Any] = [
            NSPersistentStoreFileProtectionKey: "NSFileProtectionComplete", NSPersistentStoreOSCompatibility: 1040,
            NSBinaryStoreInsecureDecodingCompatibilityOption: true, NSBinaryStoreSecureDecodingClasses: NSSet(),
            NSPersistentStoreConnectionPoolMaxSizeKey: 2, NSPersistentStoreRemoteChangeNotificationPostOptionKey: false,
        ]
        for (number, type) in ["SQLite", "XML", "Binary", "InMemory"].enumerated() {
            try coordinator.addPersistentStore(
                type: .init(rawValue: type), at: folder.file("\(number)"), options: options)
        }
        #expect(coordinator.persistentStores.count == 4)
    }

    @Test("NSPersistentStoreTimeoutOption: a store that cannot be had in that time is an error")
    func timeout() throws {
        let url = folder.file("Store")
        let context = try Library.container(Notebook.model(), NSPersistentStoreDescription(url: url)).viewContext
        context.make("Note")
        try context.save()
        for store in context.persistentStoreCoordinator?.persistentStores ?? [] {
            try context.persistentStoreCoordinator?.remove(store)
        }
        let other = try Connection(path: url.path, mode: .readWrite)
        try other.execute("PRAGMA locking_mode = EXCLUSIVE")
        try other.execute("BEGIN EXCLUSIVE")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Notebook.model())
        let error = #expect(throws: NSError.self) {
            try coordinator.addPersistentStore(type: .sqlite, at: url, options: [NSPersistentStoreTimeoutOption: 0.2])
        }
        #expect(error?.code == NSPersistentStoreTimeoutError)
        withExtendedLifetime(other) {}
    }

    @Test("NSPersistentStoreRemoteChange: every write is told, with store, URL and history token")
    func remoteChanges() async throws {
        let description = NSPersistentStoreDescription(url: folder.file("Store"))
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        let container = try Library.container(Notebook.model(), description)
        let keys = await withCheckedContinuation { continuation in
            nonisolated(unsafe) var token: (any NSObjectProtocol)?  // set before anything is posted
            token = NotificationCenter.default.addObserver(
                forName: .NSPersistentStoreRemoteChange, object: container.persistentStoreCoordinator, queue: nil
            ) { notification in
                if let known = token {
                    NotificationCenter.default.removeObserver(known)
                    token = nil
                    continuation.resume(returning: notification.userInfo?.keys.compactMap { $0 as? String } ?? [])
                }
            }
            container.viewContext.make("Note")
            #expect(throws: Never.self) { try container.viewContext.save() }
        }
        #expect(Set(keys).isSuperset(of: [NSStoreUUIDKey, NSPersistentStoreURLKey, NSPersistentHistoryTokenKey]))
    }
}
