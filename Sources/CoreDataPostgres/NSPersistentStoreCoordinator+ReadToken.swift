import CoreData
import PostgresEngine

extension NSPersistentStoreCoordinator {
    /// A promise that covers all that was saved by this coordinator, for another process that reads from standbys
    /// (``NSPostgreSQLStandbyReadsOption``).
    ///
    /// - Parameter store: a store in PostgreSQL; `nil` for the first one.
    /// - Returns: the promise; `nil` where nothing was saved or promised, or no store is in PostgreSQL.
    /// - Throws: an `NSError` when the server cannot be asked.
    public func postgreSQLReadToken(for store: NSPersistentStore? = nil) throws -> NSPostgreSQLReadToken? {
        try performAndWait { try engine(of: store)?.readToken() }
    }

    /// Has query generations that are pinned after this, and blocks of `read` of Pippin's, see at least what a token promises.
    ///
    /// - Parameters:
    ///   - token: the promise.
    ///   - store: a store in PostgreSQL; `nil` for the first one.
    public func require(_ token: NSPostgreSQLReadToken, for store: NSPersistentStore? = nil) {
        performAndWait { engine(of: store)?.require(token) }
    }

    private func engine(of store: NSPersistentStore?) -> PostgresEngine? {
        let stores = store.map { [$0] } ?? persistentStores
        return stores.lazy.compactMap { $0.engine as? PostgresEngine }.first
    }
}
