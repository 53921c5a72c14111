import Foundation

extension NSPersistentStoreCoordinator {
    /// Opens a store, migrating it first where its model differs and the options ask for it.
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
        if type is SQLiteStore.Type, AutomaticMigration.isWanted(options) {
            MigrationWorkspace.removeLeftovers(of: url)
        }
        do { return try opened() } catch let error as NSError
            where error.code == CoreDataErrorCode.persistentStoreIncompatibleVersionHash
            && type is SQLiteStore.Type && AutomaticMigration.isWanted(options)
        {
            try AutomaticMigration.migrate(
                url, to: managedObjectModel, configuration: configuration, options: options)
            return try opened()
        }
    }
}
