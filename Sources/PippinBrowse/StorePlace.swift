import CoreData
import CoreDataPostgres
import StoreBrowser
import StoreReading

/// Where a store is: in a file, or in a database whose URL is given.
enum StorePlace {
    /// What opens the store, as often as that is needed.
    ///
    /// - Throws: an error for a place where there can be no store.
    static func opener(_ options: BrowseOptions) throws -> BrowserSession.Opener {
        guard options.store.hasPrefix("postgresql://") || options.store.hasPrefix("postgres://") else {
            let (path, model) = (options.store, options.model)
            return { isWritable, announcesChanges in
                var opening = DirectStore.Opening(path: path, modelPath: model)
                (opening.isWritable, opening.announcesChanges) = (isWritable, announcesChanges)
                return try DirectStore(opening)
            }
        }
        guard let url = URL(string: options.store) else { throw CommandError("the address of the database is no URL") }
        guard let model = options.model else {
            throw CommandError("a store in PostgreSQL needs the model to read it with: --model MODEL")
        }
        let (schema, type) = (options.schema, NSPostgreSQLStoreType)
        return { isWritable, announcesChanges in
            var settings: [AnyHashable: Any] = [
                NSReadOnlyPersistentStoreOption: !isWritable,
                NSPersistentStoreRemoteChangeNotificationPostOptionKey: announcesChanges,
            ]
            if isWritable { settings[NSPersistentHistoryTrackingKey] = true }
            if let schema { settings[NSPostgreSQLSchemaOption] = schema }
            return try DirectStore(
                named: name(url, schema), type: type, url: url, candidate: try ModelCandidate.file(at: model),
                options: settings)
        }
    }

    /// The database's name and host, without user and password.
    private static func name(_ url: URL, _ schema: String?) -> String {
        let database = url.path.split(separator: "/").first.map(String.init) ?? "PostgreSQL"
        return [database, schema, url.host.map { "on \($0)" }].compactMap { $0 }.joined(separator: " ")
    }
}
