import Foundation

/// Migrates a store by a mapping model: object by object into a new store beside it, which then takes its place.
struct MappedMigration {
    let url: URL
    let source: NSManagedObjectModel
    let destination: NSManagedObjectModel
    let mapping: NSMappingModel
    let configuration: String?
    let options: [AnyHashable: Any]?

    /// - Throws: the errors of `NSMigrationManager.migrateStore`; the store is as it was then.
    func run() throws {
        let folder = url.deletingLastPathComponent().appendingPathComponent(
            ".\(url.lastPathComponent).migration-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // What is left behind is never read again.
        defer { try? FileManager.default.removeItem(at: folder) }
        let migrated = folder.appendingPathComponent(url.lastPathComponent)
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        manager.configuration = configuration
        let plain = (options ?? [:]).filter { key, _ in
            ![NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption].contains(
                key.base as? String ?? "")
        }
        try manager.migrateStore(
            from: url, sourceType: NSSQLiteStoreType, options: plain, with: mapping, toDestinationURL: migrated,
            destinationType: NSSQLiteStoreType, destinationOptions: plain)
        manager.reset()
        try StoreReplacement.replace(url, with: migrated, timeout: StoreSettings(options).timeout)
    }
}
