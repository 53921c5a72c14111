import Foundation

/// Option (Boolean): migrate a store over the versions of its model, step by step, when its model differs.
///
/// Set it besides `NSMigratePersistentStoresAutomaticallyOption`. The versions are those of the model package (`.momd`) in the
/// bundles that the coordinator's model is of, the steps the compiled mapping models (`.cdm`) in the bundles and what can be
/// inferred. The shortest chain is taken that does not pass over a mapping model. Either the store gets to the coordinator's
/// model, or it stays as it was.
///
/// ```swift
/// description.setOption(true as NSNumber, forKey: PippinProgressiveMigrationOptionKey)
/// ```
///
/// Core Data has no such option.
public let PippinProgressiveMigrationOptionKey = "PippinProgressiveMigrationOption"

/// Reads the option.
enum ProgressiveOption {
    /// The versions to go over; `nil` when the option does not ask for it.
    ///
    /// Inside the package, the value may also be a ``KnownVersions`` of the caller's.
    static func versions(_ options: [AnyHashable: Any]?, model: NSManagedObjectModel) throws -> KnownVersions? {
        if let known = options?[PippinProgressiveMigrationOptionKey] as? KnownVersions { return known }
        guard StoreSettings.flag(options, PippinProgressiveMigrationOptionKey) else { return nil }
        return try KnownVersions(of: model)
    }
}
