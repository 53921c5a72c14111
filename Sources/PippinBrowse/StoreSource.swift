import CoreDataPostgres
import Foundation
import StoreBrowser
import StoreReading

/// Where a store is: in a file, or in a database whose URL is given.
enum StoreSource {
    /// What opens the store, as often as that is needed.
    ///
    /// - Throws: an error for a place where there is no store.
    static func opener(_ options: BrowseOptions) throws -> BrowserSession.Opener {
        guard options.store.hasPrefix("postgresql://") || options.store.hasPrefix("postgres://") else {
            let (path, model) = (options.store, options.model)
            return { isWritable, announcesChanges in
                var opening = DirectStore.Opening(path: path, modelPath: model)
                (opening.isWritable, opening.announcesChanges) = (isWritable, announcesChanges)
                return try DirectStore(opening)
            }
        }
        return try database(options)
    }

    private static func database(_ options: BrowseOptions) throws -> BrowserSession.Opener {
        guard let url = URL(string: options.store) else { throw CommandError("the address of the database is no URL") }
        var places: [AnyHashable: Any] = [:]
        if let schema = options.schema { places[NSPostgreSQLSchemaOption] = schema }
        let place = try StorePlace(url, places)
        let stored = try DatabaseModel(in: place)
        let candidate = try options.model.map { try ModelCandidate.file(at: $0) } ?? stored.candidate()
        let (schema, type, name, keepsHistory) = (place.schema, NSPostgreSQLStoreType, place.name, stored.keepsHistory)
        return { isWritable, announcesChanges in
            var settings: [AnyHashable: Any] = [
                NSReadOnlyPersistentStoreOption: !isWritable, NSPostgreSQLSchemaOption: schema,
                NSPersistentStoreRemoteChangeNotificationPostOptionKey: announcesChanges,
            ]
            if keepsHistory { settings[NSPersistentHistoryTrackingKey] = true }
            return try DirectStore(named: name, type: type, url: url, candidate: candidate, options: settings)
        }
    }
}
