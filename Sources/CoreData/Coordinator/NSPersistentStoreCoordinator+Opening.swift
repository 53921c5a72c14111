import CompactCollections
import Foundation

extension NSPersistentStoreCoordinator {
    /// Opens a store, after migrating it if its model differs and the options request it.
    func openStore(
        _ type: NSPersistentStore.Type, _ configuration: String?, at url: URL, options: [AnyHashable: Any]?
    ) throws -> NSPersistentStore {
        func opened() throws -> NSPersistentStore {
            let store = type.init(
                persistentStoreCoordinator: self, configurationName: configuration, at: url, options: options)
            try store.loadMetadata()
            try store.loadContents()
            return store
        }
        // Every opening removes the leftovers of killed migrations.
        if url.isFileURL, !StoreSettings.flag(options, NSReadOnlyPersistentStoreOption) {
            type.removeLeftovers(of: url)
        }
        let migrate = type.automaticMigration(
            of: url, to: managedObjectModel, configuration: configuration, options: options)
        guard let migrate, StoreSettings.asksForMigration(options) else { return try opened() }
        do { return try opened() } catch let error as NSError
            where error.code == CoreDataErrorCode.persistentStoreIncompatibleVersionHash
        {
            do { try migrate() } catch let refusal as NSError
                where refusal.code == CoreDataErrorCode.persistentStoreTimeout
            {
                // Another process may have migrated the store meanwhile.
                guard let store = try? opened() else { throw refusal }
                return store
            }
            return try opened()
        }
    }
}
