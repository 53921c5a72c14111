import CoreData
import TestSupport
import Testing

/// Checks from the pages of `NSIncrementalStore`, `NSIncrementalStoreNode`, `NSSaveChangesRequest` and
/// `NSPersistentStoreRequest`.
@MainActor @Suite("Documented: incremental stores")
struct IncrementalStoreDocumentationTests {
    /// A store of one kind of row, that writes down what it is asked.
    final class AskedStore: NSIncrementalStore, @unchecked Sendable {
        // @unchecked Sendable: confined to the coordinator's queue, like its superclass.
        var asked: [String] = []
        var saves: [NSSaveChangesRequest] = []
        var titles: [Int: String] = [1: "A", 2: "B"]
        var registered = 0

        override var type: String { "Asked" }
        override class func identifierForNewStore(at storeURL: URL) -> Any { "ASKED" }
        override func loadMetadata() throws { metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: identifier as Any] }

        override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any
        {
            if let save = request as? NSSaveChangesRequest {
                asked.append("save")
                saves.append(save)
                for object in save.insertedObjects ?? [] { titles[key(object.objectID)] = object.string("title") }
                return []
            }
            guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>, let entity = fetch.entity else {
                return try super.execute(request, with: context)
            }
            asked.append("fetch")
            let keys = entity.name == "Note" ? titles.keys.sorted() : []
            let identifiers = keys.map { newObjectID(for: entity, referenceObject: $0) }
            switch fetch.resultType {
            case .countResultType: return [NSNumber(value: keys.count)]
            case .managedObjectIDResultType: return identifiers
            default: return identifiers.compactMap { context?.object(with: $0) }
            }
        }

        private func key(_ identifier: NSManagedObjectID) -> Int { referenceObject(for: identifier) as? Int ?? 0 }

        override func newValuesForObject(
            with objectID: NSManagedObjectID, with context: NSManagedObjectContext
        ) throws -> NSIncrementalStoreNode {
            asked.append("values")
            guard let title = titles[key(objectID)] else { throw CocoaError(.managedObjectReferentialIntegrity) }
            return NSIncrementalStoreNode(objectID: objectID, withValues: ["title": title, "none": 1], version: 1)
        }

        override func newValue(
            forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
            with context: NSManagedObjectContext?
        ) throws -> Any {
            asked.append(relationship.name)
            return relationship.isToMany ? [NSManagedObjectID]() : NSNull()
        }

        override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
            asked.append("permanent")
            return array.enumerated().map { newObjectID(for: $1.entity, referenceObject: 10 + $0) }
        }

        override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
            registered += objectIDs.count
        }

        override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
            registered -= objectIDs.count
        }
    }

    private let store: AskedStore
    private let context = NSManagedObjectContext(.mainQueue)
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Notebook.model())

    init() throws {
        NSPersistentStoreCoordinator.registerStoreClass(AskedStore.self, forStoreType: "Asked")
        let url = try #require(URL(string: "asked://somewhere"))
        store = try #require(
            try coordinator.addPersistentStore(ofType: "Asked", configurationName: nil, at: url) as? AskedStore)
        context.persistentStoreCoordinator = coordinator
    }

    // MARK: The store

    @Test("identifierForNewStore(at:): what a new store is told to be called")
    func identifiers() {
        #expect(store.identifier == "ASKED" && store.metadata[NSStoreUUIDKey] as? String == "ASKED")
    }

    @Test("execute(_:with:): objects, IDs or a number in an array for a fetch, by its result type")
    func fetching() throws {
        let notes = try context.all("Note")
        #expect(notes.count == 2 && store.asked == ["fetch"])
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
        request.resultType = .managedObjectIDResultType
        #expect(try context.fetch(request).count == 2)
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 2)
    }

    @Test("newValuesForObject(with:with:): asked as a fault fires; what the entity does not have is left out")
    func values() throws {
        let note = try #require(try context.all("Note").first)
        store.asked = []
        #expect(note.shown("title") == "A" && store.asked.first == "values")
    }

    @Test("newValue(forRelationship:forObjectWith:with:): asked for a relationship that the values do not have")
    func relationships() throws {
        let note = try #require(try context.all("Note").first)
        store.asked = []
        #expect(note.objects("marks").isEmpty && store.asked.contains("marks"))
        #expect(note.value(forKey: "folder") == nil && store.asked.contains("folder"))
    }

    @Test("obtainPermanentIDs(for:): asked before the save, and the IDs are in the order of the objects")
    func saving() throws {
        let note = context.make("Note", ["title": "New"])
        try context.save()
        #expect(store.asked == ["permanent", "save"] && store.referenceObject(for: note.objectID) as? Int == 10)
        #expect(store.titles[10] == "New")
    }

    @Test(
        "A save request has the objects that were inserted, updated and deleted, and those that conflicts are looked for"
    )
    func saveRequests() throws {
        let notes = try context.all("Note")
        let new = context.make("Note")
        notes[0].setValue("Z", forKey: "title")
        context.delete(notes[1])
        try context.save()
        let request = try #require(store.saves.first)
        #expect(request.requestType == .saveRequestType)
        #expect(request.insertedObjects == [new] && request.updatedObjects == [notes[0]])
        #expect(request.deletedObjects == [notes[1]] && request.lockedObjects?.isEmpty != false)
    }

    @Test("A save request without sets asks to save the metadata")
    func savingMetadata() throws {
        coordinator.setMetadata(["mine": 1], for: store)
        try context.save()
        let request = try #require(store.saves.first)
        #expect(store.asked == ["save"] && store.metadata["mine"] as? Int == 1)
        #expect(request.insertedObjects == nil && request.updatedObjects == nil && request.deletedObjects == nil)
    }

    @Test("A request that a store does not know: NSPersistentStoreUnsupportedRequestTypeError")
    func unknownRequests() {
        let error = #expect(throws: NSError.self) {
            try context.execute(NSBatchInsertRequest(entityName: "Note", objects: [["title": "X"]]))
        }
        #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
    }

    @Test("A fault that the store does not find: existingObject(with:) throws what the store threw")
    func lost() throws {
        let entity = try #require(coordinator.managedObjectModel.entitiesByName["Note"])
        let error = #expect(throws: NSError.self) {
            try context.existingObject(with: store.newObjectID(for: entity, referenceObject: 99))
        }
        #expect(error?.code == NSManagedObjectReferentialIntegrityError)
    }

    @Test("newObjectID(for:referenceObject:) and referenceObject(for:) are inverse")
    func references() throws {
        let entity = try #require(coordinator.managedObjectModel.entitiesByName["Note"])
        let (text, number) = (
            store.newObjectID(for: entity, referenceObject: "text"), store.newObjectID(for: entity, referenceObject: 7)
        )
        #expect(text.entity === entity && text.persistentStore === store && text != number)
        #expect(store.referenceObject(for: text) as? String == "text")
        #expect(store.referenceObject(for: number) as? Int == 7)
    }

    @Test("Contexts tell which objects they use, and which no more, as often as they came")
    func registering() async throws {
        try autoreleasepool { _ = try context.all("Note").map { $0.shown("title") } }
        let first = try context.all("Note")
        // The store hears of it on the coordinator's queue.
        func registered() -> Int { coordinator.performAndWait { store.registered } }
        _ = try await eventually { registered() == 2 }
        #expect(registered() == 2)
        withExtendedLifetime(first) {}
    }

    // MARK: Nodes

    @Test("NSIncrementalStoreNode: ID, version and values, which update(withValues:version:) replaces")
    func nodes() throws {
        let entity = try #require(coordinator.managedObjectModel.entitiesByName["Note"])
        let (title, stars) = (
            try #require(entity.propertiesByName["title"]), try #require(entity.propertiesByName["stars"])
        )
        let identifier = store.newObjectID(for: entity, referenceObject: 1)
        let node = NSIncrementalStoreNode(objectID: identifier, withValues: ["title": "A"], version: 1)
        #expect(node.objectID == identifier && node.version == 1)
        #expect(node.value(for: title) as? String == "A" && node.value(for: stars) == nil)
        node.update(withValues: ["title": "B", "stars": 2], version: 2)
        #expect(node.version == 2 && node.value(for: title) as? String == "B" && node.value(for: stars) as? Int == 2)
    }

    // MARK: Requests

    @Test("requestType: each request says what it is; affectedStores: all, unless some are named")
    func requestTypes() {
        let requests: [(NSPersistentStoreRequest, NSPersistentStoreRequestType, UInt)] = [
            (NSFetchRequest<NSManagedObject>(entityName: "Note"), .fetchRequestType, 1),
            (NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil), .saveRequestType, 2),
            (NSBatchInsertRequest(entityName: "Note", objects: []), .batchInsertRequestType, 5),
            (NSBatchUpdateRequest(entityName: "Note"), .batchUpdateRequestType, 6),
            (NSBatchDeleteRequest(objectIDs: []), .batchDeleteRequestType, 7),
        ]
        for (request, type, number) in requests {
            #expect(request.requestType == type && type.rawValue == number && request.affectedStores == nil)
            request.affectedStores = [store]
            #expect(request.affectedStores == [store])
        }
    }
}
