import Foundation

/// Brings stores forward over several versions of a model, stage by stage.
///
/// ```swift
/// let manager = NSStagedMigrationManager([NSLightweightMigrationStage([v1, v2]), custom, NSLightweightMigrationStage([v3, v4])])
/// description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
/// ```
///
/// Each stage ends with a store of a known version: a migration that is interrupted goes on from there.
open class NSStagedMigrationManager: NSObject {
    // Used on the thread that adds the store.

    /// The stages, in the order of the versions.
    public let stages: [NSMigrationStage]

    /// The container of the store that is being migrated, for the handlers of custom stages; `nil` at other times.
    open internal(set) var container: NSPersistentContainer?

    /// Creates a manager of stages in the order of the versions.
    ///
    /// - Parameter stages: the stages.
    public init(_ stages: [NSMigrationStage]) {
        self.stages = stages
        super.init()
    }
}
