import Foundation
import SQLiteEngine
import SQLiteMigration

/// What happens when a store is added whose model is not the coordinator's.
enum AutomaticMigration {
    /// Whether the options ask for migration.
    static func isWanted(_ options: [AnyHashable: Any]?) -> Bool {
        flag(options, NSMigratePersistentStoresAutomaticallyOption) && !flag(options, NSReadOnlyPersistentStoreOption)
    }

    static func flag(_ options: [AnyHashable: Any]?, _ key: String) -> Bool {
        (options?[key] as? NSNumber)?.boolValue ?? (options?[key] as? Bool) ?? false
    }

    /// The model of a store, whose log is moved into its file on the way.
    private static func sourceModel(of url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel {
        let file = try StoreFile.open(url, mode: .readWrite, timeout: StoreSettings(options).timeout)
        try file.checkpoint()
        return try SourceModel.find(file)
    }

    /// Migrates an SQLite store to a model: in stages or over several versions where the options say so, by a mapping model of the bundles, or else by an inferred one.
    ///
    /// - Throws: 134130 when the store's model cannot be found, 134140 when there is no mapping, 134110 when the objects do
    ///   not fit. The store is as it was then.
    static func migrate(
        _ url: URL, to model: NSManagedObjectModel, configuration: String?, options: [AnyHashable: Any]?
    ) throws {
        if let manager = options?[NSPersistentStoreStagedMigrationManagerOptionKey] as? NSStagedMigrationManager {
            let migration = StagedMigration(
                manager: manager, url: url, model: model, configuration: configuration, options: options)
            return try migration.run()
        }
        if let known = try ProgressiveOption.versions(options, model: model) {
            let migration = try ProgressiveMigration(
                at: url, to: model, over: known, configuration: configuration, options: options)
            return try migration.run()
        }
        let source = try sourceModel(of: url, options: options)
        if let mapping = NSMappingModel(from: nil, forSourceModel: source, destinationModel: model) {
            let migration = MappedMigration(
                url: url, source: source, destination: model, mapping: mapping, configuration: configuration,
                options: options)
            return try migration.run()
        }
        guard flag(options, NSInferMappingModelAutomaticallyOption) else {
            throw MigrationError.missingMappingModel(url: url, source: source, destination: model, underlying: nil)
        }
        let plan: MappingPlan
        do { plan = try MappingInference.plan(from: source, to: model) } catch {
            throw MigrationError.missingMappingModel(url: url, source: source, destination: model, underlying: error)
        }
        let file = try StoreFile.open(url, mode: .readWrite, timeout: StoreSettings(options).timeout)
        try InPlaceMigrator(
            file, from: source, to: model, plan: plan, configuration: configuration,
            defersCleanup: flag(options, NSPersistentStoreDeferredLightweightMigrationOptionKey)
        ).run()
    }
}
