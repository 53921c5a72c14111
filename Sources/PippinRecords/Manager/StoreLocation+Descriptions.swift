import CoreData
import Pippin

extension StoreLocation {
    /// A store given by a description: its type, options, whether it is read-only, and its migration.
    ///
    /// - Parameter description: the description, which is copied.
    /// - Returns: the location.
    public static func description(_ description: NSPersistentStoreDescription) -> StoreLocation {
        StoreLocation(description)
    }
}
