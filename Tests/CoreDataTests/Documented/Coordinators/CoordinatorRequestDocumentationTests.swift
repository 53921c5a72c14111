import CoreData
import TestSupport
import Testing

/// Checks from the page of `NSPersistentStoreCoordinator`: IDs, metadata, requests, its queue, registered stores.
@MainActor @Suite("Documented: what coordinators answer")
struct CoordinatorRequestDocumentationTests {
    private let file: Notebook.File
    private let container: NSPersistentContainer
    private var coordinator: NSPersistentStoreCoordinator { container.persistentStoreCoordinator }
    private let store: NSPersistentStore

    init() throws {
        file = try Notebook.File()
        container = try file.container()
        store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    }

    // MARK: Object IDs

    @Test("managedObjectID(forURIRepresentation:) and managedObjectID(for:): the ID that a URI or its text stands for")
    func identifiers() throws {
        let note = container.viewContext.make("Note")
        try container.viewContext.save()
        let uri = note.objectID.uriRepresentation()
        #expect(coordinator.managedObjectID(forURIRepresentation: uri) == note.objectID)
        #expect(coordinator.managedObjectID(for: uri.absoluteString) == note.objectID)
        #expect(coordinator.managedObjectID(for: "nothing") == nil)
    }

    // MARK: Requests

    @Test("execute(_:with:): an array for a fetch request, an empty one for a save request")
    func executing() throws {
        let context = container.viewContext
        context.make("Note", ["title": "A"])
        let save = NSSaveChangesRequest(
            inserted: context.insertedObjects, updated: context.updatedObjects, deleted: context.deletedObjects,
            locked: nil)
        #expect((try coordinator.execute(save, with: context) as? [Any])?.isEmpty == true)
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
        #expect((try coordinator.execute(fetch, with: context) as? [NSManagedObject])?.count == 1)
        fetch.resultType = .managedObjectIDResultType
        #expect((try coordinator.execute(fetch, with: context) as? [NSManagedObjectID])?.count == 1)
        fetch.resultType = .dictionaryResultType
        fetch.propertiesToFetch = ["title"]
        #expect((try coordinator.execute(fetch, with: context) as? [NSDictionary])?.first?["title"] as? String == "A")
    }

    @Test("currentPersistentHistoryToken(fromStores:): for the stores, and for all of them with none or nil")
    func historyTokens() throws {
        let description = NSPersistentStoreDescription(url: file.folder.file("Tracked"))
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        let container = try Library.container(Notebook.model(), description)
        container.viewContext.make("Note")
        try container.viewContext.save()
        let coordinator = container.persistentStoreCoordinator
        let all = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        #expect(coordinator.currentPersistentHistoryToken(fromStores: []) == all)
        #expect(coordinator.currentPersistentHistoryToken(fromStores: coordinator.persistentStores) == all)
    }

    @Test("finishDeferredLightweightMigration and its single task: nothing to do where nothing was deferred")
    func nothingDeferred() throws {
        try coordinator.finishDeferredLightweightMigrationTask()
        try coordinator.finishDeferredLightweightMigration()
        #expect(store.metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] == nil)
    }

    // MARK: Metadata

    @Test("setMetadata(_:for:): type and UUID are added; nothing is on disk before the store is saved")
    func settingMetadata() throws {
        let identifier = try #require(store.identifier)
        coordinator.setMetadata(["mine": 1], for: store)
        let set = coordinator.metadata(for: store)
        #expect(set["mine"] as? Int == 1 && set[NSStoreTypeKey] as? String == NSSQLiteStoreType)
        #expect(set[NSStoreUUIDKey] as? String == identifier)
        func stored() throws -> Any? {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: file.url)["mine"]
        }
        #expect(try stored() == nil)
        try container.viewContext.save()
        #expect(try stored() as? Int == 1 && store.metadata[NSStoreModelVersionHashesKey] != nil)
    }

    @Test(
        "metadataForPersistentStore(ofType:at:): without a type, the file says which it is of; type and UUID are there")
    func metadataOfAnyType() throws {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: nil, at: file.url)
        #expect(metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
        #expect(metadata[NSStoreUUIDKey] as? String == store.identifier)
        #expect(throws: NSError.self) {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: nil, at: file.folder.file("None"))
        }
    }

    @Test("setMetadata(_:forPersistentStoreOfType:at:) and setMetadata(_:type:at:options:): written at once")
    func writingMetadata() throws {
        try coordinator.remove(store)
        try NSPersistentStoreCoordinator.setMetadata(["a": 1], forPersistentStoreOfType: nil, at: file.url)
        try NSPersistentStoreCoordinator.setMetadata(["b": 2], type: .sqlite, at: file.url, options: nil)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: file.url)
        #expect(metadata["b"] as? Int == 2 && metadata[NSStoreUUIDKey] != nil && metadata[NSStoreTypeKey] != nil)
    }

    @Test("NSStoreModelVersionIdentifiersKey: the version identifiers of the model that made the store")
    func versionIdentifiers() throws {
        let model = Notebook.model()
        model.versionIdentifiers = ["2.0"]
        let container = try Library.container(
            model, NSPersistentStoreDescription(url: file.folder.file("Versioned")))
        let metadata = container.persistentStoreCoordinator.persistentStores.first?.metadata
        #expect(metadata?[NSStoreModelVersionIdentifiersKey] as? [String] == ["2.0"])
        #expect((metadata?[NSStoreModelVersionHashesKey] as? [String: Data])?.count == 3)
    }

    // MARK: Its queue

    @Test("perform(_:) and performAndWait(_:): run a block, give back what it returns, and throw what it throws")
    func performing() async {
        coordinator.name = "main"
        let name = await withCheckedContinuation { continuation in
            coordinator.perform { [coordinator] in continuation.resume(returning: coordinator.name) }
        }
        #expect(name == "main")
        #expect(coordinator.performAndWait { 7 } == 7)
        #expect(throws: CocoaError.self) { try coordinator.performAndWait { throw CocoaError(.fileNoSuchFile) } }
    }

    @Test("perform(_:) with a result: gives it to whoever awaits it, or throws what the block throws")
    func awaiting() async {
        let coordinator = coordinator
        #expect(await coordinator.perform { 7 } == 7)
        #expect(await coordinator.perform { coordinator.performAndWait { coordinator.persistentStores.count } } == 1)
        await #expect(throws: CocoaError.self) { try await coordinator.perform { throw CocoaError(.fileNoSuchFile) } }
    }

    @Test("lock, tryLock and unlock: a second thread does not get a lock that one has", .ownThread)
    func locking() {
        coordinator.lock()
        #expect(coordinator.tryLock())
        coordinator.unlock()
        nonisolated(unsafe) var taken = true  // read when the other thread is done
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [coordinator] in
            taken = coordinator.tryLock()
            done.signal()
        }
        done.wait()
        #expect(!taken)
        coordinator.unlock()
    }

    // MARK: Registered stores

    @Test("registerStoreClass(_:type:): from then on there are stores of that type; nil takes it away")
    func registering() throws {
        final class Registered: NSAtomicStore, @unchecked Sendable {  // has nothing of its own
            override var type: String { "Registered" }
            override func loadMetadata() throws { metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: "R"] }
        }
        func add() throws {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Notebook.model())
            try coordinator.addPersistentStore(ofType: "Registered", configurationName: nil, at: file.folder.file("R"))
        }
        let types = ["SQLite", "XML", "Binary", "InMemory"]
        #expect(types.allSatisfy { NSPersistentStoreCoordinator.registeredStoreTypes[$0] != nil })
        #expect(throws: NSError.self) { try add() }
        NSPersistentStoreCoordinator.registerStoreClass(Registered.self, type: .init(rawValue: "Registered"))
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes["Registered"] != nil)
        try add()
        NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "Registered")
        #expect(throws: NSError.self) { try add() }
    }
}
