import PostgresStoreReading
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
                (opening.timeout, opening.salvages) = (BrowserSession.patience, true)
                return try DirectStore(opening)
            }
        }
        return try DatabaseSource(options.store, schema: options.schema, model: options.model).open
    }
}
