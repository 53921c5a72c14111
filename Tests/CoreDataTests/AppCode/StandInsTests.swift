import CoreData
import TestSupport
import Testing

/// Stands in for a coordinator, as SwiftDatastore's does.
private final class SpyingCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
    // @unchecked Sendable: used by one test, on one thread.
    var calls: [String] = []

    override class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] { ["by": "spy"] }

    override class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {}

    override func destroyPersistentStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil)
        throws
    {
        calls.append("destroy")
    }

    override func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws { calls.append("replace") }

    override func migratePersistentStore(
        _ store: NSPersistentStore, to URL: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
    ) throws -> NSPersistentStore {
        calls.append("migrate")
        return store
    }

    override func metadata(for store: NSPersistentStore) -> [String: Any] { ["by": "spy"] }

    override func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) { calls.append("set") }

    override func setURL(_ url: URL, for store: NSPersistentStore) -> Bool { false }

    override func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? { nil }

    override func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        calls.append("add")
        block(storeDescription, nil)
    }
}

private final class SpyingContext: NSManagedObjectContext, @unchecked Sendable {
    // @unchecked Sendable: used by one test, on one thread.
    nonisolated(unsafe) static var merged = 0

    override class func mergeChanges(
        fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
    ) { merged += 1 }
}

private final class DeletionResult: NSBatchDeleteResult {
    override var result: Any? { 7 }
}
private final class UpdateResult: NSBatchUpdateResult {}
private final class InsertionResult: NSBatchInsertResult {}
private final class HistoryResult: NSPersistentHistoryResult {}
private final class OtherID: NSManagedObjectID, @unchecked Sendable {
    // @unchecked Sendable: as its superclass, it is immutable.
    override var isTemporaryID: Bool { false }
}
private final class ResultsController: NSFetchedResultsController<NSManagedObject> {
    override var fetchedObjects: [NSManagedObject]? { [] }
}

@Suite("Classes that stand in for Core Data's in tests of apps")
struct StandInsTests {
    @Test("What a coordinator does to stores and their files can be overridden, and is called in each spelling")
    func coordinator() throws {
        let spy = SpyingCoordinator(managedObjectModel: Library.model())
        let url = URL(fileURLWithPath: "/tmp/none.sqlite")
        try spy.destroyPersistentStore(at: url, type: .sqlite)
        try spy.replacePersistentStore(at: url, withPersistentStoreFrom: url, type: .sqlite)
        let store = try spy.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        try spy.migratePersistentStore(store, to: url, type: .sqlite)
        spy.setMetadata(nil, for: store)
        spy.addPersistentStore(with: NSPersistentStoreDescription()) { _, _ in }
        #expect(spy.calls == ["destroy", "replace", "migrate", "set", "add"])
        #expect(spy.metadata(for: store)["by"] as? String == "spy")
        #expect(!spy.setURL(url, for: store))
        #expect(spy.currentPersistentHistoryToken(fromStores: nil) == nil)
        let metadata = try SpyingCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(metadata["by"] as? String == "spy")
        SpyingCoordinator.registerStoreClass(nil, type: .sqlite)
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes[NSSQLiteStoreType] != nil)
    }

    @Test("A context class can override the merging of changes from elsewhere")
    func context() {
        SpyingContext.mergeChanges(fromRemoteContextSave: [:], into: [])
        #expect(SpyingContext.merged == 1)
    }

    @Test("Results, IDs and results controllers can be made without content; fetching with such a controller throws")
    func madeWithoutContent() {
        #expect(DeletionResult().result as? Int == 7)
        #expect(UpdateResult().result == nil)
        #expect(InsertionResult().resultType == .statusOnly)
        #expect(HistoryResult().result == nil)
        let identifiers = [OtherID(), OtherID()]
        #expect(identifiers[0] != identifiers[1])
        #expect(!identifiers[0].isTemporaryID)
        let controller = ResultsController()
        #expect(controller.fetchedObjects == [])
        #expect(controller.sections == nil)
        #expect(throws: (any Error).self) { try NSFetchedResultsController<NSManagedObject>().performFetch() }
    }
}
