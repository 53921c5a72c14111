import Foundation
import StoreEngine
import StoreSession
import Synchronization

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

/// The migration of a store that is added with another model than the coordinator's.
struct AutomaticMigration {
    let format: any MigratableFormat.Type
    let url: URL
    let model: NSManagedObjectModel
    let configuration: String?
    let options: [AnyHashable: Any]?

    /// Migrates the store to the model: in stages or over several versions if the options request it, by a mapping
    /// model from the bundles, or else by an inferred one.
    ///
    /// - Throws: 134130 if the store's model cannot be found, 134140 if there is no mapping, 134110 if the objects do
    ///   not fit. The store is then unchanged.
    func run() throws {
        if let manager = options?[NSPersistentStoreStagedMigrationManagerOptionKey] as? NSStagedMigrationManager {
            let migration = StagedMigration(
                manager: manager, format: format, url: url, model: model, configuration: configuration,
                options: options)
            return try migration.run()
        }
        if let known = try ProgressiveOption.versions(options, model: model) {
            let migration = try ProgressiveMigration(
                of: format, at: url, to: model, over: known, configuration: configuration, options: options)
            return try migration.run()
        }
        try format.prepareMigration(of: url, options: options)
        let source = try format.sourceModel(of: url, near: model, options: options)
        if let mapping = NSMappingModel(from: nil, forSourceModel: source, destinationModel: model) {
            let migration = MappedMigration(
                format: format, url: url, source: source, destination: model, mapping: mapping,
                configuration: configuration, options: options)
            return try migration.run()
        }
        try format.migrateIfAllowed(url, from: source, to: model, configuration: configuration, options: options)
    }
}

/// The classes of stores, by their types.
enum StoreTypes {
    private static let registered = Mutex<[String: NSPersistentStore.Type]>([:])

    /// The class for a type: a registered one, or a built-in one.
    static func type(named name: String) -> NSPersistentStore.Type? {
        if let type = registered.withLock({ $0[name] }) { return type }
        return documents[name] ?? StoreFormats.format(ofType: name).map(storeClass)
    }

    /// The class for a type that comes with Core Data, whose name may be written in another case, such as “sqlite”.
    static func type(namedInAnyCase name: String) -> NSPersistentStore.Type? {
        [NSSQLiteStoreType, NSInMemoryStoreType, NSXMLStoreType, NSBinaryStoreType]
            .first { $0.lowercased() == name.lowercased() }.flatMap(type(named:))
    }

    static func register(_ type: NSPersistentStore.Type?, for name: String) {
        registered.withLock { $0[name] = type }
        StoreFormats.register(type?.format, ofType: name)
    }

    /// All types by name.
    static var all: [String: NSPersistentStore.Type] {
        StoreFormats.all.mapValues(storeClass).merging(documents) { $1 }.merging(registered.withLock { $0 }) { $1 }
    }

    /// The names of all types, sorted.
    static var names: [String] { all.keys.sorted() }

    /// A class as a value for a Foundation dictionary.
    static func value(of type: NSPersistentStore.Type) -> NSValue {
        NSNumber(value: UInt(bitPattern: ObjectIdentifier(type)))
    }

    private static let documents: [String: NSPersistentStore.Type] = [
        NSXMLStoreType: XMLStore.self, NSBinaryStoreType: BinaryStore.self,
    ]

    private static func storeClass(_ format: any StoreFormat.Type) -> NSPersistentStore.Type {
        func make<Format: StoreFormat>(_ format: Format.Type) -> NSPersistentStore.Type { EngineStore<Format>.self }
        return make(format)
    }
}
