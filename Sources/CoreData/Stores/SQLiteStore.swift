import Foundation
import SQLiteEngine

/// A store in an SQLite database of Core Data's format.
package class SQLiteStore: NSPersistentStore, @unchecked Sendable {
    // @unchecked Sendable: confined to the coordinator's queue, like its superclass.
    private lazy var sqlite = makeEngine()

    func makeEngine() -> SQLiteEngine { SQLiteEngine(facts) }

    package override var engine: any StoreEngine { sqlite }

    package override var type: String { NSSQLiteStoreType }

    package override func loadMetadata() throws { try sqlite.open(persistentStoreCoordinator?.managedObjectModel) }

    package override func saveMetadata() throws { try sqlite.saveMetadata() }

    package override func didAdd(to coordinator: NSPersistentStoreCoordinator) {
        super.didAdd(to: coordinator)
        listen(for: coordinator)
    }

    package override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
        sqlite.close()
        super.willRemove(from: coordinator)
    }

    // MARK: Files

    package override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try StoreFiles.metadata(at: url)
    }

    package override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        try StoreFiles.write(metadata, at: url)
    }

    package override class func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
        try StoreFiles.destroy(at: url, options: options)
    }

    package override class func replace(at destination: URL, from source: URL, options: [AnyHashable: Any]?) throws {
        try StoreFiles.replace(at: destination, from: source, options: options)
    }

    package override func relocate(to url: URL) throws { try sqlite.relocate(to: url) }

    package override class var takesRows: Bool { true }

    package override class func automaticMigration(
        of url: URL, to model: NSManagedObjectModel, configuration: String?, options: [AnyHashable: Any]?
    ) -> (() throws -> Void)? {
        { try AutomaticMigration.migrate(url, to: model, configuration: configuration, options: options) }
    }
}
