import CoreData
import Pippin

extension StoreLocation {
    /// A store as a description has it: its type, options, read-only or not, migration.
    ///
    /// - Parameter description: the description, of which a copy is kept.
    /// - Returns: the location.
    public static func description(_ description: NSPersistentStoreDescription) -> StoreLocation {
        StoreLocation(description)
    }
}
