import Foundation
import SQLiteEngine

/// A store in memory, gone with its coordinator: the SQLite store on a database without a file, so that a fetch finds
/// the same as in a file.
package final class InMemoryStore: SQLiteStore, @unchecked Sendable {
    // @unchecked Sendable: confined to the coordinator's queue, like its superclass.

    package override var type: String { NSInMemoryStoreType }

    override func makeEngine() -> SQLiteEngine { SQLiteEngine(facts, isInMemory: true, leavesCodeToAsker: true) }

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

    package override class func automaticMigration(
        of url: URL, to model: NSManagedObjectModel, configuration: String?, options: [AnyHashable: Any]?
    ) -> (() throws -> Void)? { nil }
}
