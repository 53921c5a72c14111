@_exported public import CoreData
@_exported public import PostgresEngine
import PostgresMigration
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
