import CoreDataModel
import Foundation
import StoreEngine

extension MigratableFormat {
    /// Migrates a store by an inferred mapping, if its options permit that.
    ///
    /// - Throws: 134140 if they do not, or no mapping can be inferred, and the errors of the migration.
    package static func migrateIfAllowed(
        _ url: URL, from source: NSManagedObjectModel, to model: NSManagedObjectModel, configuration: String?,
        options: [AnyHashable: Any]?
    ) throws {
        guard StoreSettings.flag(options, NSInferMappingModelAutomaticallyOption) else {
            throw MigrationError.missingMappingModel(url: url, source: source, destination: model, underlying: nil)
        }
        try migrateByInference(
            url, from: source, to: model, configuration: configuration, options: options,
            defersCleanup: StoreSettings.flag(options, NSPersistentStoreDeferredLightweightMigrationOptionKey))
    }

    /// Infers a mapping between two models, and migrates a store with it.
    ///
    /// - Throws: 134140 if no mapping can be inferred, and the errors of the migration.
    package static func migrateByInference(
        _ url: URL, from source: NSManagedObjectModel, to model: NSManagedObjectModel, configuration: String?,
        options: [AnyHashable: Any]?, defersCleanup: Bool = false
    ) throws {
        let plan: MappingPlan
        do { plan = try MappingInference.plan(from: source, to: model) } catch {
            throw MigrationError.missingMappingModel(url: url, source: source, destination: model, underlying: error)
        }
        let migration = InferredMigration(from: source, to: model, plan: plan, configuration: configuration)
        try migrate(url, by: migration, options: options, defersCleanup: defersCleanup, progress: { _ in })
    }
}
