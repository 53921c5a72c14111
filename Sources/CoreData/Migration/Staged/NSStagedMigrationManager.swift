import Foundation

/// Migrates stores over several versions of a model, stage by stage.
///
/// ```swift
/// let manager = NSStagedMigrationManager([NSLightweightMigrationStage([v1, v2]), custom, NSLightweightMigrationStage([v3, v4])])
/// description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
/// ```
///
/// Each stage ends with a store of a known version, so that an interrupted migration continues from there.
open class NSStagedMigrationManager: NSObject {
    // Used on the thread that adds the store.

    /// The stages, in the order of the versions.
    public let stages: [NSMigrationStage]

    /// The container of the store during its migration, for the handlers of custom stages; `nil` at other times.
    open internal(set) var container: NSPersistentContainer?

    /// Creates a manager of stages in the order of the versions.
    ///
    /// - Parameter stages: the stages.
    public init(_ stages: [NSMigrationStage]) {
        self.stages = stages
        super.init()
    }
}
