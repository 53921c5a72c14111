import CoreData
import PostgresEngine

extension NSPersistentStoreCoordinator {
    /// A token that covers everything this coordinator has saved, for another process that reads from standbys
    /// (``NSPostgreSQLStandbyReadsOption``).
    ///
    /// - Parameter store: a store in PostgreSQL; `nil` for the first one.
    /// - Returns: the token; `nil` if nothing was saved or required, or no store is in PostgreSQL.
    /// - Throws: an `NSError` if the server cannot be asked.
    public func postgreSQLReadToken(for store: NSPersistentStore? = nil) throws -> NSPostgreSQLReadToken? {
        try performAndWait { try engine(of: store)?.readToken() }
    }

    /// Makes query generations that are pinned after this, and `read` blocks of Pippin's, see at least what a token
    /// covers.
    ///
    /// - Parameters:
    ///   - token: the token.
    ///   - store: a store in PostgreSQL; `nil` for the first one.
    public func require(_ token: NSPostgreSQLReadToken, for store: NSPersistentStore? = nil) {
        performAndWait { engine(of: store)?.require(token) }
    }

    private func engine(of store: NSPersistentStore?) -> PostgresEngine? {
        let stores = store.map { [$0] } ?? persistentStores
        return stores.lazy.compactMap { $0.engine as? PostgresEngine }.first
    }
}
