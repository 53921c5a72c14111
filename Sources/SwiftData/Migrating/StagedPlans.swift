import CoreData

/// Makes Core Data's staged migrations of plans.
enum StagedPlans {
    /// - Returns: nil for a plan without steps.
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` for a version whose models cannot be kept.
    static func manager(of plan: any SchemaMigrationPlan.Type) throws -> NSStagedMigrationManager? {
        let stages = try plan.stages.map { stage -> NSMigrationStage in
            switch stage {
            case .lightweight(let old, let new):
                return NSLightweightMigrationStage([
                    try model(of: old).versionChecksum, try model(of: new).versionChecksum,
                ])
            case .custom(let old, let new, let willMigrate, let didMigrate):
                let custom = NSCustomMigrationStage(
                    migratingFrom: try reference(to: old), to: try reference(to: new))
                custom.willMigrateHandler = willMigrate.map { handler(old, $0) }
                custom.didMigrateHandler = didMigrate.map { handler(new, $0) }
                custom.label = "\(old.versionIdentifier) to \(new.versionIdentifier)"
                return custom
            }
        }
        return stages.isEmpty ? nil : NSStagedMigrationManager(stages)
    }

    private static func model(of version: any VersionedSchema.Type) throws -> NSManagedObjectModel {
        try ManagedModel.model(of: Schema(versionedSchema: version))
    }

    private static func reference(to version: any VersionedSchema.Type) throws -> NSManagedObjectModelReference {
        let model = try model(of: version)
        return NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }

    /// Runs a program's code with a context on the store as it is between two steps.
    private static func handler(
        _ version: any VersionedSchema.Type, _ code: @escaping @Sendable (ModelContext) throws -> Void
    ) -> (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void {
        { manager, _ in
            guard let coordinator = manager.container?.persistentStoreCoordinator else { return }
            let core = ContainerCore(Schema(versionedSchema: version), over: coordinator)
            let context = ModelContext(core, isMain: false)
            try code(context)
            if context.hasChanges { try context.save() }
        }
    }
}
