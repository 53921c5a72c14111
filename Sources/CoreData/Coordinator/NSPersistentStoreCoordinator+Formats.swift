import Foundation

extension NSPersistentStoreCoordinator {
    /// The kind of stores of a type, where such can be migrated in their place.
    package static func migratableFormat(ofType type: String) -> (any MigratableFormat.Type)? {
        StoreTypes.type(named: type)?.migratableFormat
    }

    /// The kind of stores of a type.
    ///
    /// - Throws: 134000 for a type that there is not, 134070 for one whose stores cannot be migrated in their place.
    static func migratableFormat(of type: String, _ url: URL) throws -> any MigratableFormat.Type {
        if let format = try storeClass(type, url).migratableFormat { return format }
        throw StoreError.unsupported("being migrated", storeType: type, url: url)
    }
}
