import CompactCollections
import Foundation

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
