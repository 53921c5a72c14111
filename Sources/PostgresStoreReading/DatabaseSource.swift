import CoreDataPostgres
import Foundation
import StoreReading

/// The location of a store in a database, and its model; it can open the store any number of times.
package struct DatabaseSource: Sendable {
    private let url: URL
    private let schema: String
    private let name: String
    private let candidate: ModelCandidate
    private let keepsHistory: Bool

    /// - Parameters:
    ///   - address: a connection string with a scheme (`postgresql://app@db.example/books?schema=shop`).
    ///   - schema: the database's schema; nil for the one in the address.
    ///   - model: the path of a model to read the store with; nil for the copy that the store keeps.
    /// - Throws: `CommandError` if there is no store, or no model for it, and the server's errors.
    package init(_ address: String, schema: String? = nil, model: String? = nil) throws {
        guard let url = URL(string: address) else { throw CommandError("the address of the database is not a URL") }
        var places: [AnyHashable: Any] = [:]
        if let schema { places[NSPostgreSQLSchemaOption] = schema }
        let place = try StorePlace(url, places)
        let stored = try DatabaseModel(in: place)
        self.url = url
        let candidate = try model.map { try ModelCandidate.file(at: $0) } ?? stored.candidate()
        self.candidate = candidate.limited(to: stored.entities)
        (self.schema, name, keepsHistory) = (place.schema, place.name, stored.keepsHistory)
    }

    /// Opens the store.
    ///
    /// - Parameters:
    ///   - isWritable: whether it can be changed.
    ///   - announcesChanges: whether changes by others are announced.
    /// - Returns: the store.
    /// - Throws: the server's errors, and 134100 for a model that is not the store's.
    package func open(isWritable: Bool, announcesChanges: Bool) throws -> DirectStore {
        var settings: [AnyHashable: Any] = [
            NSReadOnlyPersistentStoreOption: !isWritable, NSPostgreSQLSchemaOption: schema,
            NSPersistentStoreRemoteChangeNotificationPostOptionKey: announcesChanges,
        ]
        if keepsHistory { settings[NSPersistentHistoryTrackingKey] = true }
        return try DirectStore(
            named: name, type: NSPostgreSQLStoreType, url: url, candidate: candidate, options: settings)
    }
}
