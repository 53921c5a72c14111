@_exported public import CoreData
@_exported public import PostgresEngine
import StoreEngine

/// A store in a PostgreSQL database, with human-readable tables.
///
/// The type is registered when this constant is first read.
///
/// ```swift
/// import CoreDataPostgres
///
/// let description = NSPersistentStoreDescription(url: URL(string: "postgresql://app@db.example/books")!)
/// description.type = NSPostgreSQLStoreType
/// container.persistentStoreDescriptions = [description]
/// ```
public let NSPostgreSQLStoreType: String = {
    NSPersistentStoreCoordinator.registerStoreClass(
        EngineStore<PostgresFormat>.self, forStoreType: PostgresFormat.type)
    return PostgresFormat.type
}()

extension NSPersistentStore.StoreType {
    /// A store in a PostgreSQL database.
    public static var postgreSQL: NSPersistentStore.StoreType { .init(rawValue: NSPostgreSQLStoreType) }
}

extension NSPersistentStoreDescription {
    /// Creates a description of a store in a PostgreSQL database.
    ///
    /// ```swift
    /// container.persistentStoreDescriptions = [.init(postgreSQL: URL(string: "postgresql://app@db.example/books?schema=shop")!)]
    /// ```
    ///
    /// - Parameters:
    ///   - url: the database, as `libpq` reads it: user, host, port, name, and parameters such as `sslmode`. A password
    ///     is better kept in a password file or in the environment.
    ///   - schema: the schema of the store's tables; `nil` for the URL's parameter `schema`, or else `public`.
    public convenience init(postgreSQL url: URL, schema: String? = nil) {
        self.init(url: schema.map { StorePlace.url(url, schema: $0) } ?? url)
        type = NSPostgreSQLStoreType
    }

    /// Creates a description of a store in a PostgreSQL database given by a connection string, which can express more
    /// than a URL: several hosts with their ports, or a service.
    ///
    /// ```swift
    /// let description = NSPersistentStoreDescription(
    ///     postgreSQLConnection: "host=db1,db2 port=5432,5433 dbname=books target_session_attrs=read-write")
    /// ```
    ///
    /// - Parameters:
    ///   - string: the connection string.
    ///   - schema: the schema of the store's tables; `nil` for a URI's parameter `schema`, or else `public`.
    public convenience init(postgreSQLConnection string: String, schema: String? = nil) {
        let (url, option) = StorePlace.location(of: string, schema: schema)
        self.init(url: url)
        type = NSPostgreSQLStoreType
        if let (key, value) = option { setOption(value, forKey: key) }
    }
}
