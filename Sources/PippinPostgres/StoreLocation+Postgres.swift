import CoreDataPostgres
@_exported public import Pippin

extension StoreLocation {
    /// A PostgreSQL database, with tables that people can read.
    ///
    /// ```swift
    /// import PippinPostgres
    ///
    /// let manager = PersistenceManager(models: Book.self, store: .postgres("postgresql://app@db.example/books"))
    /// ```
    ///
    /// The tables are made when the store is first opened. Others who work on the same database, on whatever machine, are observed as
    /// those who work on the same file are.
    ///
    /// - Parameters:
    ///   - connection: where the database is, as `libpq` reads it: a URI, or keywords and values (`host=db1,db2 dbname=books
    ///     target_session_attrs=read-write`). A password is better kept in a password file, or in the environment.
    ///   - schema: the schema of the store's tables, by which several stores can be in one database; `nil` for what the URI's parameter
    ///     `schema` says, or else `public`.
    ///   - connections: how many connections may read at the same time; one more writes, and one listens.
    ///   - isPooled: whether the connection leads to a pool that gives each transaction whichever of its own is free, as PgBouncer does
    ///     with `pool_mode = transaction`: nothing stays prepared on the server then. What others save is heard of only where the pool
    ///     gives each session a connection. See `NSPostgreSQLPooledOption`.
    /// - Returns: the location.
    public static func postgres(
        _ connection: String, schema: String? = nil, connections: Int? = nil, isPooled: Bool = false
    ) -> StoreLocation {
        let description = NSPersistentStoreDescription(postgreSQLConnection: connection, schema: schema)
        if isPooled { description.setOption(true as NSNumber, forKey: NSPostgreSQLPooledOption) }
        if let connections {
            description.setOption(connections as NSNumber, forKey: NSPersistentStoreConnectionPoolMaxSizeKey)
        }
        return StoreLocation(description)
    }
}
