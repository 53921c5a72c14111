import Foundation
@_exported public import Pippin
import PostgresEngine
import StoreSession

extension StoreLocation {
    /// A PostgreSQL database, with human-readable tables.
    ///
    /// ```swift
    /// import PippinPostgres
    ///
    /// let manager = PersistenceManager(models: Book.self, store: .postgres("postgresql://app@db.example/books"))
    /// ```
    ///
    /// The tables are created when the store is first opened. Changes by others who use the same database, on any
    /// machine, are observed like those of others who use the same file.
    ///
    /// - Parameters:
    ///   - connection: the database, as `libpq` reads it: a URI, or keywords and values (`host=db1,db2 dbname=books
    ///     target_session_attrs=read-write`). A password is better kept in a password file or in the environment.
    ///   - schema: the schema of the store's tables, so that one database can hold several stores; `nil` for the URI's
    ///     parameter `schema`, or else `public`.
    ///   - connections: the number of connections that may read at the same time; one more writes, and one listens.
    ///   - isPooled: whether the connection leads to a pool that gives each transaction any of its free server
    ///     connections, as PgBouncer does with `pool_mode = transaction`. Statements are then not kept prepared on the
    ///     server. Changes by others are only observed if the pool gives each session its own connection. See
    ///     `NSPostgreSQLPooledOption`.
    ///   - history: whether and how long the store keeps a history of its changes; nil for no history. A store that has
    ///     one goes on keeping it, and keeps what was before for the programs that ask for it here.
    ///   - author: who this program is in the history.
    /// - Returns: the location.
    public static func postgres(
        _ connection: String, schema: String? = nil, connections: Int? = nil, isPooled: Bool = false,
        keepsHistory history: HistoryKeeping? = nil, author: String? = nil
    ) -> StoreLocation {
        StoreFormats.register(PostgresFormat.self, ofType: PostgresFormat.type)
        let (url, option) = StorePlace.location(of: connection, schema: schema)
        let description = NSPersistentStoreDescription(url: url)
        description.type = PostgresFormat.type
        description.keepHistory(history, author: author)
        if let (key, value) = option { description.setOption(value, forKey: key) }
        if isPooled { description.setOption(true as NSNumber, forKey: NSPostgreSQLPooledOption) }
        if let connections {
            description.setOption(connections as NSNumber, forKey: NSPersistentStoreConnectionPoolMaxSizeKey)
        }
        return StoreLocation(description)
    }
}
