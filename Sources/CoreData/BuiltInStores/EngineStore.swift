import Foundation
import StoreSession

/// A store whose rows are in an engine.
package final class EngineStore<Format: StoreFormat>: NSPersistentStore, @unchecked Sendable {
    // @unchecked Sendable: used only under the coordinator's lock, like its superclass.
    private lazy var openable = Format.makeEngine(facts)

    /// The object by which programs see a store that its session has opened.
    package convenience init(showing store: SessionStore, in coordinator: NSPersistentStoreCoordinator) {
        self.init(
            persistentStoreCoordinator: coordinator, configurationName: nil,
            at: store.url ?? URL(fileURLWithPath: "/dev/null"))
        if let engine = store.engine as? any OpenableEngine { openable = engine }
        show(store)
    }

    package override var engine: any StoreEngine { openable }

    package override var type: String { Format.type }

    package override func loadMetadata() throws { try openable.open(persistentStoreCoordinator?.managedObjectModel) }

    package override func saveMetadata() throws { try openable.saveMetadata() }

    package override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
        openable.close()
        super.willRemove(from: coordinator)
    }

    // MARK: Stores that are not open

    package override class var format: (any StoreFormat.Type)? { Format.self }

    package override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try Format.metadata(at: url)
    }

    package override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        try Format.setMetadata(metadata, at: url)
    }

    package override class func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
        try Format.destroy(at: url, options: options)
    }

    package override class func replace(
        at destination: URL, from source: URL, options: [AnyHashable: Any]?, sourceOptions: [AnyHashable: Any]?
    ) throws { try Format.replace(at: destination, from: source, options: options, sourceOptions: sourceOptions) }

    package override func relocate(to url: URL) throws { try openable.relocate(to: url) }

    package override class var takesRows: Bool { true }

    package override class func automaticMigration(
        of url: URL, to model: NSManagedObjectModel, configuration: String?, options: [AnyHashable: Any]?
    ) -> (() throws -> Void)? {
        guard let format = migratableFormat else { return nil }
        let migration = AutomaticMigration(
            format: format, url: url, model: model, configuration: configuration, options: options)
        return { try migration.run() }
    }

    package override class func removeLeftovers(of url: URL) { migratableFormat?.removeLeftovers(of: url) }
}
