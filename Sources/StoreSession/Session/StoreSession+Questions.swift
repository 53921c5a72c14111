import CoreDataModel
import Foundation
import PredicateFormat
import StoreEngine

// Statements that people wrote, and searches. Both are for a session with one store.
extension StoreSession {
    /// Runs a statement that only reads in the only store, under the lock. See `SQLReadingEngine.read`.
    ///
    /// - Throws: an `NSError` if the store runs no statements, or is not the only one; what running it throws.
    package func read(
        _ sql: WrittenSQL, columns: ([String]) throws -> Void, row: (any CurrentRow) throws -> Bool
    ) throws {
        try withLock {
            guard stores.count == 1, let engine = stores[0].engine.sql else {
                throw StoreError.make(
                    CoreDataErrorCode.persistentStoreOperation,
                    stores.count == 1
                        ? "A store of the type “\(stores[0].type)” runs no SQL."
                        : "SQL is run with one store, and there are \(stores.count).",
                    suggestion: "Use a store in SQLite or PostgreSQL.")
            }
            try engine.read(sql, columns: columns, row: row)
        }
    }

    /// The rows that a query finds by an index of the only store, best first, under the lock. See
    /// `SearchingEngine.search`.
    ///
    /// - Returns: nil if there is no index that is up to date.
    package func search(_ query: SearchQuery, in fields: SearchedFields, limit: Int?) throws -> [SearchMatch]? {
        try withLock {
            guard stores.count == 1, let engine = stores[0].engine.searching else { return nil }
            return try engine.search(query, in: fields, limit: limit)
        }
    }
}
