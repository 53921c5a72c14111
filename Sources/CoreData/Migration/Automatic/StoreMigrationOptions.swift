import Foundation

/// The options of a store while it is migrated.
enum StoreMigrationOptions {
    /// The options without those that ask for migration.
    static func plain(_ options: [AnyHashable: Any]?) -> [AnyHashable: Any] {
        let asking = [
            NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption,
            NSPersistentStoreStagedMigrationManagerOptionKey, NSPersistentStoreDeferredLightweightMigrationOptionKey,
            PippinProgressiveMigrationOptionKey,
        ]
        return (options ?? [:]).filter { key, _ in !asking.contains(key.base as? String ?? "") }
    }

    /// The options for a store that is being made: besides, nobody hears of it, and it has no history of being made.
    static func unobserved(_ options: [AnyHashable: Any]?) -> [AnyHashable: Any] {
        let keys = [NSPersistentHistoryTrackingKey, NSPersistentStoreRemoteChangeNotificationPostOptionKey]
        return plain(options).filter { key, _ in !keys.contains(key.base as? String ?? "") }
    }
}
