import Foundation

extension NSPersistentStoreCoordinator {
    /// The format of a type of stores, if they can be migrated in place.
    package static func migratableFormat(ofType type: String) -> (any MigratableFormat.Type)? {
        StoreTypes.type(named: type)?.migratableFormat
    }

    /// The format of a type of stores.
    ///
    /// - Throws: 134000 for an unknown type, 134070 for one whose stores cannot be migrated in place.
    static func migratableFormat(of type: String, _ url: URL) throws -> any MigratableFormat.Type {
        if let format = try storeClass(type, url).migratableFormat { return format }
        throw StoreError.unsupported("being migrated", storeType: type, url: url)
    }
}
