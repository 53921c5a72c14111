import CompactCollections
import Foundation

/// Option (Boolean): migrate a store over the versions of its model, step by step, if its model differs.
///
/// Set it in addition to `NSMigratePersistentStoresAutomaticallyOption`. The versions are those of the coordinator's
/// model package (`.momd`) in the bundles; the steps are the compiled mapping models (`.cdm`) in the bundles, and what
/// can be inferred. The shortest chain that does not bypass a mapping model is used. Either the store is migrated to
/// the coordinator's model, or it is unchanged.
///
/// ```swift
/// description.setOption(true as NSNumber, forKey: PippinProgressiveMigrationOptionKey)
/// ```
///
/// Core Data has no such option.
public let PippinProgressiveMigrationOptionKey = "PippinProgressiveMigrationOption"

/// Reads the option.
enum ProgressiveOption {
    /// The versions to pass through; `nil` if the option is not set.
    ///
    /// Within the package, the value may also be the caller's own ``KnownVersions``.
    static func versions(_ options: [AnyHashable: Any]?, model: NSManagedObjectModel) throws -> KnownVersions? {
        if let known = options?[PippinProgressiveMigrationOptionKey] as? KnownVersions { return known }
        guard StoreSettings.flag(options, PippinProgressiveMigrationOptionKey) else { return nil }
        return try KnownVersions(of: model)
    }
}
