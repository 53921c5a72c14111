import CompactCollections
import Foundation

/// The options of a store during its migration.
enum StoreMigrationOptions {
    /// The options without those that request migration.
    static func plain(_ options: [AnyHashable: Any]?) -> [AnyHashable: Any] {
        let asking = [
            NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption,
            NSPersistentStoreStagedMigrationManagerOptionKey, NSPersistentStoreDeferredLightweightMigrationOptionKey,
            PippinProgressiveMigrationOptionKey,
        ]
        return (options ?? [:]).filter { key, _ in !asking.contains(key.base as? String ?? "") }
    }

    /// The options for a store that is being made: in addition, its changes are not announced, and it does not record
    /// its making in a history.
    static func unobserved(_ options: [AnyHashable: Any]?) -> [AnyHashable: Any] {
        let keys = [NSPersistentHistoryTrackingKey, NSPersistentStoreRemoteChangeNotificationPostOptionKey]
        return plain(options).filter { key, _ in !keys.contains(key.base as? String ?? "") }
    }
}
