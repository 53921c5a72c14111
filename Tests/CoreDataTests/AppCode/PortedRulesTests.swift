import CoreData
import TestSupport
import Testing

// What other implementations of Core Data found out by running their tests on Apple's framework: FreeCoreData, a port
// to GNUstep, and Charon, which brings newer members to older systems.
@Suite("Rules that ports of Core Data have found")
struct PortedRulesTests {
    @Test("A batch deletion asks for the IDs of what its request finds in the store (Charon)")
    func batchDeletion() throws {
        let fetch = NSFetchRequest<NSManagedObject>(entityName: "Book")
        fetch.propertiesToFetch = ["title"]
        fetch.relationshipKeyPathsForPrefetching = ["author"]
        fetch.fetchBatchSize = 5
        fetch.fetchLimit = 3
        let request = NSBatchDeleteRequest(fetchRequest: fetch).fetchRequest
        #expect(request.resultType == .managedObjectIDResultType && request.fetchLimit == 3)
        #expect(!request.includesPendingChanges && !request.includesPropertyValues && request.fetchBatchSize == 0)
        #expect(request.propertiesToFetch == nil && request.relationshipKeyPathsForPrefetching == nil)
    }

    @Test("A batch update without properties cannot be saved (Charon)")
    func batchUpdate() throws {
        let context = try Library.inMemory().viewContext
        let error = #expect(throws: NSError.self) { try context.execute(NSBatchUpdateRequest(entityName: "Book")) }
        #expect(error?.code == NSPersistentStoreSaveError)
    }

    @Test("A context without a coordinator cannot be pinned, with Core Data's general error (Charon)")
    func pinning() throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let error = #expect(throws: NSError.self) { try context.setQueryGenerationFrom(.current) }
        #expect(error?.code == NSCoreDataError)
    }

    @Test("An asynchronous fetch is sent to the stores of its fetch request (Charon)")
    func affectedStores() throws {
        let fetch = NSFetchRequest<NSManagedObject>(entityName: "Book")
        fetch.affectedStores = try Library.inMemory().persistentStoreCoordinator.persistentStores
        #expect(NSAsynchronousFetchRequest(fetchRequest: fetch).affectedStores == fetch.affectedStores)
    }
}

@Suite("Stand-ins for what a save reports")
struct ConflictStandInTests {
    private final class Conflict: NSMergeConflict {
        override var newVersionNumber: Int { 7 }
    }

    private final class Constraint: NSConstraintConflict {
        override var constraint: [String] { ["isbn"] }
        override var conflictingObjects: [NSManagedObject] { [] }
    }

    @Test("Conflicts that tests make override what they say")
    func overridden() throws {
        let book = try Library.inMemory().viewContext.make("Book", ["isbn": "1"])
        let conflict: NSMergeConflict = Conflict(
            source: book, newVersion: 2, oldVersion: 1, cachedSnapshot: nil, persistedSnapshot: nil)
        #expect(conflict.newVersionNumber == 7 && conflict.oldVersionNumber == 1)
        let constraint: NSConstraintConflict = Constraint()
        #expect(constraint.constraint == ["isbn"] && constraint.conflictingObjects.isEmpty)
    }

    @Test("A constraint conflict has the values of the last of its objects (Charon)")
    func values() throws {
        let context = try Library.inMemory().viewContext
        let books = ["1", "2"].map { context.make("Book", ["isbn": $0]) }
        let conflict = NSConstraintConflict(
            constraint: ["isbn"], database: nil, databaseSnapshot: nil, conflicting: books, conflictingSnapshots: [])
        #expect(conflict.constraintValues["isbn"] as? String == "2")
    }
}

/// Counts its preparations, and deletes others in each.
final class PreparedPair: NSManagedObject {
    var preparations = 0
    var others: [PreparedPair] = []

    override func prepareForDeletion() {
        super.prepareForDeletion()
        preparations += 1
        for other in others { managedObjectContext?.delete(other) }
    }
}

@MainActor @Suite("Deletions that objects prepare for")
struct PreparedDeletionTests {
    private func pairs(_ count: Int) throws -> (context: NSManagedObjectContext, pairs: [PreparedPair]) {
        let entity = NSEntityDescription()
        entity.name = "Pair"
        entity.managedObjectClassName = NSStringFromClass(PreparedPair.self)
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let context = try Library.inMemory(model).viewContext
        let pairs = (0..<count).map { _ in PreparedPair(context: context) }
        try context.save()
        return (context, pairs)
    }

    @Test("An object that is deleted twice is prepared twice (FreeCoreData)")
    func twice() throws {
        let (context, pairs) = try pairs(1)
        context.delete(pairs[0])
        context.delete(pairs[0])
        #expect(pairs[0].preparations == 2 && context.deletedObjects.count == 1)
        try context.save()
    }

    @Test("Objects that delete each other, or themselves, while they are prepared are all deleted")
    func eachOther() throws {
        let (context, pairs) = try pairs(2)
        for pair in pairs { pair.others = pairs }
        context.delete(pairs[0])
        #expect(context.deletedObjects.count == 2)
        try context.save()
        #expect(try context.count(for: NSFetchRequest<PreparedPair>(entityName: "Pair")) == 0)
    }
}

@Suite("What a coordinator asks of a store of the developer's own")
struct PortedStoreRulesTests {
    private final class OtherStore: NSIncrementalStore, @unchecked Sendable {
        // @unchecked Sendable: without state of its own.
        override func loadMetadata() throws { metadata = [NSStoreTypeKey: "Other", NSStoreUUIDKey: "1"] }
    }

    let folder: TestFolder
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())

    init() throws { folder = try TestFolder() }

    @Test("Its metadata name the type by which it is added (FreeCoreData)")
    func type() throws {
        NSPersistentStoreCoordinator.registerStoreClass(OtherStore.self, forStoreType: "Another")
        let error = #expect(throws: NSError.self) {
            try coordinator.addPersistentStore(type: .init(rawValue: "Another"), at: folder.store)
        }
        #expect(error?.code == NSPersistentStoreTypeMismatchError)
        #expect(coordinator.persistentStores.isEmpty)
    }

    @Test("A save without changes reaches it, with empty sets (FreeCoreData)")
    func emptySave() throws {
        NSPersistentStoreCoordinator.registerStoreClass(NotebookStore.self, type: NotebookStore.type)
        let store = try coordinator.addPersistentStore(type: NotebookStore.type, at: folder.store)
        let notebook = try #require(store as? NotebookStore)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try context.save() }
        #expect(notebook.lastSave?.insertedObjects == [] && notebook.lastSave?.deletedObjects == [])
    }
}
