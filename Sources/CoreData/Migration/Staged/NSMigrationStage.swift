import Foundation

/// A step of a staged migration; use ``NSLightweightMigrationStage`` or ``NSCustomMigrationStage``.
open class NSMigrationStage: NSObject {
    /// A name for logs and errors.
    open var label: String! = ""
}
