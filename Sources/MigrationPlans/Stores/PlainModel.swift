import CoreDataModel
import StoreEngine

/// A model for migrations. Its objects are plain managed objects, since the application's present classes need not fit
/// an old version of the model, and must not act on objects in the middle of a migration.
package enum PlainModel {
    package static func make(of model: NSManagedObjectModel) -> NSManagedObjectModel {
        let plain = NSManagedObjectModel()
        plain.copyContents(of: model)
        // The entities keep the names of their classes, which a store's copy of its model has to say.
        plain.objectClassName = "NSManagedObject"
        return plain
    }

    /// Adds a configuration with the entities that a store of a configuration holds.
    ///
    /// - Parameters:
    ///   - model: the model of the store.
    ///   - metadata: the store's metadata.
    /// - Returns: the name of the configuration; nil for a store of all entities, and for one of another model.
    package static func addConfiguration(
        to model: NSManagedObjectModel, ofStoreWith metadata: [String: Any]
    ) -> String? {
        let stored = StoreMetadata.hashes(in: metadata)
        let held = model.entities.filter { stored[$0.name ?? ""] != nil }
        guard !held.isEmpty, held.count == stored.count, held.count < model.entities.count else { return nil }
        let name = "entities of the store"
        model.setEntities(held, forConfigurationName: name)
        return name
    }

    /// The name of the model's configuration whose entities a store holds; nil for a store of all entities, and for one
    /// of another model.
    package static func configuration(of model: NSManagedObjectModel, ofStoreWith metadata: [String: Any]) -> String? {
        let held = Set(StoreMetadata.hashes(in: metadata).keys)
        guard !held.isEmpty, held.count < model.entities.count else { return nil }
        return model.declaredConfigurations.first { name in
            let names = Set(model.entities(forConfigurationName: name)?.compactMap(\.name) ?? [])
            return StoreCompatibility.withStoredSubentities(names, of: model, metadata: metadata) == held
        }
    }

    /// The name of the configuration that a store keeps when it is migrated: the one whose entities it holds, if the
    /// new version has it, too.
    package static func keptConfiguration(
        from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        ofStoreWith metadata: [String: Any]
    ) -> String? {
        guard let name = configuration(of: source, ofStoreWith: metadata),
            destination.declaredConfigurations.contains(name)
        else { return nil }
        return name
    }
}

/// The options of a store during its migration.
package enum StoreMigrationOptions {
    /// The options without those that request migration.
    package static func plain(_ options: [AnyHashable: Any]?) -> [AnyHashable: Any] {
        let asking = [
            NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption,
            NSPersistentStoreStagedMigrationManagerOptionKey, NSPersistentStoreDeferredLightweightMigrationOptionKey,
            PippinProgressiveMigrationOptionKey,
        ]
        return (options ?? [:]).filter { key, _ in !asking.contains(key.base as? String ?? "") }
    }

    /// The options for a store that is being made: in addition, its changes are not announced, and it does not record
    /// its making in a history.
    package static func unobserved(_ options: [AnyHashable: Any]?) -> [AnyHashable: Any] {
        let keys = [NSPersistentHistoryTrackingKey, NSPersistentStoreRemoteChangeNotificationPostOptionKey]
        return plain(options).filter { key, _ in !keys.contains(key.base as? String ?? "") }
    }
}
