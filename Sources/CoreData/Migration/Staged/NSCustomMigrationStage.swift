/// A step of a staged migration with code before and after it.
///
/// The step itself is a lightweight migration from one model to the next; the handlers prepare the data for it, and
/// complete it.
open class NSCustomMigrationStage: NSMigrationStage {
    /// The model before the step.
    public let currentModel: NSManagedObjectModelReference
    /// The model after the step.
    public let nextModel: NSManagedObjectModelReference

    /// Called before the step; the manager's container has the store open with the current model.
    open var willMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?
    /// Called after the step; the manager's container has the store open with the next model.
    ///
    /// The step itself is complete then: if the handler throws or the process ends, the store stays of the next model,
    /// and the handler is not called again. What must not be missed is done by `willMigrateHandler`, or by work that
    /// finds out for itself whether it was done.
    open var didMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?

    /// Creates a stage from one version of a model to another.
    ///
    /// - Parameters:
    ///   - currentModel: the version before the stage.
    ///   - nextModel: the version after it.
    public init(migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference)
    {
        self.currentModel = currentModel
        self.nextModel = nextModel
        super.init()
    }
}
