import Foundation

/// A store in memory, gone with its coordinator: the SQLite store on a database without a file, so that a fetch finds
/// the same as in a file.
package final class InMemoryStore: SQLiteStore, @unchecked Sendable {
    // @unchecked Sendable: confined to the coordinator's queue, like its superclass.

    package override var type: String { NSInMemoryStoreType }

    override var isInMemory: Bool { true }

    // What is code comes without its condition and order: the context that asks has the objects to evaluate it with.

    package override func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row> {
        try super.fetchRows(plan.withoutCode)
    }

    package override func readRows(_ plan: FetchPlan, _ body: (consuming Row) -> Void) throws {
        try super.readRows(plan.withoutCode, body)
    }

    package override func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
        try super.fetchIdentifiers(plan.withoutCode)
    }

    package override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        throw StoreError.unsupported("reading metadata while it is not open", storeType: NSInMemoryStoreType, url: nil)
    }

    package override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw StoreError.unsupported("writing metadata while it is not open", storeType: NSInMemoryStoreType, url: nil)
    }

    package override class func destroy(at url: URL, options: [AnyHashable: Any]?) throws {}

    package override class func replace(at destination: URL, from source: URL, options: [AnyHashable: Any]?) throws {
        throw StoreError.unsupported("replacing", storeType: NSInMemoryStoreType, url: nil)
    }
}
