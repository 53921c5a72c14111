import CoreData
import TestSupport
import Testing

/// Checks from the pages of `NSPersistentStore`, `NSAtomicStore` and `NSAtomicStoreCacheNode`.
@MainActor @Suite("Documented: stores and atomic stores")
struct AtomicStoreDocumentationTests {
    private let folder: TestFolder
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Notebook.model())
    private var url: URL { folder.file("List") }

    /// A store of lists that can be told apart from the ones of other tests, and tells what becomes of it.
    private final class ToldStore: NSAtomicStore, @unchecked Sendable {
        // @unchecked Sendable: confined to the coordinator's queue, like its superclass.
        var told: [String] = []
        override var type: String { "Told" }
        override func loadMetadata() throws {
            told.append("loadMetadata")
            metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: "T"]
        }
        override func load() throws { told.append("load") }
        override func save() throws { told.append("save") }
        override func didAdd(to coordinator: NSPersistentStoreCoordinator) {
            super.didAdd(to: coordinator)
            told.append("didAdd \(persistentStoreCoordinator === coordinator)")
        }
        override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
            told.append("willRemove \(coordinator?.persistentStores.contains(self) == true)")
            super.willRemove(from: coordinator)
        }
    }

    init() throws {
        folder = try TestFolder()
        NSPersistentStoreCoordinator.registerStoreClass(ListStore.self, type: ListStore.type)
        NSPersistentStoreCoordinator.registerStoreClass(ToldStore.self, forStoreType: "Told")
    }

    private func listStore() throws -> (ListStore, NSManagedObjectContext) {
        let store = try coordinator.addPersistentStore(type: ListStore.type, at: url)
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = coordinator
        return (try #require(store as? ListStore), context)
    }

    // MARK: NSPersistentStore

    @Test("A store is told when it was added, and before it is removed")
    func comingAndGoing() throws {
        let store = try coordinator.addPersistentStore(type: .init(rawValue: "Told"), at: url)
        let told = try #require(store as? ToldStore)
        #expect(told.told == ["loadMetadata", "load", "didAdd true"])
        told.told = []
        try coordinator.remove(store)
        #expect(told.told == ["willRemove true"] && store.persistentStoreCoordinator == nil)
    }

    @Test("init(persistentStoreCoordinator:configurationName:at:options:): the store has what it was made with")
    func making() {
        let store = ListStore(
            persistentStoreCoordinator: coordinator, configurationName: "Some", at: url, options: ["key": 1])
        #expect(store.persistentStoreCoordinator === coordinator && store.configurationName == "Some")
        #expect(store.url == url && store.options?["key"] as? Int == 1 && !store.isReadOnly)
        #expect(store.identifier.isEmpty == false)
    }

    @Test("metadata: the UUID in them is the store's identifier, and a part of the IDs of its objects")
    func metadata() throws {
        let (store, context) = try listStore()
        #expect(store.metadata[NSStoreUUIDKey] as? String == store.identifier)
        #expect(store.metadata[NSStoreTypeKey] as? String == "List")
        let note = context.make("Note")
        try context.save()
        #expect(note.objectID.uriRepresentation().host == store.identifier)
    }

    @Test("metadataForPersistentStore(with:) and setMetadata(_:forPersistentStoreAt:): of the file of a URL")
    func metadataOfFiles() throws {
        let xml = folder.file("Store")
        let store = try coordinator.addPersistentStore(ofType: NSXMLStoreType, configurationName: nil, at: xml)
        let type = type(of: store)
        try type.setMetadata(["mine": "value"], forPersistentStoreAt: xml)
        let metadata = try type.metadataForPersistentStore(with: xml)
        #expect(metadata["mine"] as? String == "value" && metadata[NSStoreUUIDKey] as? String == store.identifier)
    }

    @Test("migrationManagerClass(): NSMigrationManager, unless a subclass says otherwise")
    func migrationManagers() {
        #expect(
            ObjectIdentifier(NSPersistentStore.migrationManagerClass()) == ObjectIdentifier(NSMigrationManager.self))
        #expect(ObjectIdentifier(ListStore.migrationManagerClass()) == ObjectIdentifier(NSMigrationManager.self))
    }

    // MARK: NSAtomicStore

    @Test("load() is called once as the store is added; the nodes that it adds are the store's objects")
    func loading() throws {
        let (first, context) = try listStore()
        context.make("Note", ["title": "A"])
        try context.save()
        try coordinator.remove(first)
        let (store, again) = try listStore()
        #expect(store.calls == ["load"] && store.cacheNodes().count == 1)
        #expect(try again.all("Note").map { $0.shown("title") } == ["A"])
    }

    @Test("A save asks for a reference and a node for each new object, and then to save")
    func inserting() throws {
        let (store, context) = try listStore()
        store.calls = []
        let note = context.make("Note", ["title": "A"])
        try context.save()
        #expect(store.calls == ["reference", "new node", "save"])
        let node = try #require(store.cacheNode(for: note.objectID))
        #expect(store.cacheNodes() == [node] && node.value(forKey: "title") as? String == "A")
    }

    @Test("A save has the nodes of changed objects updated, and reports those of deleted ones before it saves")
    func changing() throws {
        let (store, context) = try listStore()
        let (changed, deleted) = (context.make("Note"), context.make("Note"))
        try context.save()
        store.calls = []
        changed.setValue("B", forKey: "title")
        context.delete(deleted)
        try context.save()
        #expect(Set(store.calls.dropLast()) == ["update node", "remove 1"] && store.calls.last == "save")
        #expect(store.cacheNode(for: changed.objectID)?.value(forKey: "title") as? String == "B")
        #expect(store.cacheNode(for: deleted.objectID) == nil)
    }

    @Test("objectID(for:withReferenceObject:) and referenceObject(for:) are inverse")
    func references() throws {
        let (store, context) = try listStore()
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Note", in: context))
        let identifier = store.objectID(for: entity, withReferenceObject: "some key")
        #expect(identifier.entity === entity && !identifier.isTemporaryID && identifier.persistentStore === store)
        #expect(store.referenceObject(for: identifier) as? String == "some key")
        #expect(store.objectID(for: entity, withReferenceObject: "some key") == identifier)
    }

    @Test(
        "addCacheNodes(_:), newCacheNode(for:), updateCacheNode(_:from:), willRemoveCacheNodes(_:), newReferenceObject(for:)"
    )
    func byHand() throws {
        let (store, context) = try listStore()
        let note = context.make("Note", ["title": "A"])
        try context.save()
        let reference = try #require(store.newReferenceObject(for: note) as? String)
        #expect(reference != store.newReferenceObject(for: note) as? String)
        let node = store.newCacheNode(for: note)
        #expect(node.objectID == note.objectID && node.value(forKey: "title") as? String == "A")
        note.setValue("B", forKey: "title")
        store.updateCacheNode(node, from: note)
        #expect(node.value(forKey: "title") as? String == "B")
        let other = NSAtomicStoreCacheNode(objectID: store.objectID(for: note.entity, withReferenceObject: reference))
        store.addCacheNodes([other])
        #expect(store.cacheNodes().contains(other) && store.cacheNode(for: other.objectID) === other)
        store.willRemoveCacheNodes([other])
        #expect(store.calls.last == "remove 1")
    }

    // MARK: NSAtomicStoreCacheNode

    @Test("propertyCache: nil until it is set, or a value that is not nil")
    func propertyCache() throws {
        let (store, context) = try listStore()
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Note", in: context))
        let identifier = store.objectID(for: entity, withReferenceObject: "k")
        let node = NSAtomicStoreCacheNode(objectID: identifier)
        #expect(node.objectID == identifier && node.propertyCache == nil)
        node.setValue(nil, forKey: "title")
        #expect(node.propertyCache == nil && node.value(forKey: "title") == nil)
        node.setValue("A", forKey: "title")
        #expect(node.propertyCache == ["title": "A"] && node.value(forKey: "title") as? String == "A")
        node.propertyCache = ["title": "B"]
        #expect(node.value(forKey: "title") as? String == "B")
    }

    @Test("A node's to-one relationship is another node, a to-many one a collection of them")
    func nodesOfRelationships() throws {
        let (store, context) = try listStore()
        let folder = context.make("Folder")
        let note = context.make("Note", ["folder": folder])
        try context.save()
        let (parent, child) = (store.cacheNode(for: folder.objectID), store.cacheNode(for: note.objectID))
        #expect(child?.value(forKey: "folder") as? NSAtomicStoreCacheNode === parent)
        #expect(parent?.value(forKey: "notes") as? Set<NSAtomicStoreCacheNode> == [try #require(child)])
    }
}
