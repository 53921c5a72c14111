import CoreDataPostgres
import Foundation
import PostgresEngine
@_exported public import SwiftData

extension ModelConfiguration {
    /// Creates a configuration of a store in a PostgreSQL database.
    ///
    /// ```swift
    /// import SwiftDataPostgres
    ///
    /// let container = try ModelContainer(
    ///     for: Book.self, configurations: ModelConfiguration(postgres: "postgresql://app@db.example/books"))
    /// ```
    ///
    /// The tables are created when the store is first opened.
    ///
    /// - Parameters:
    ///   - name: the name of the configuration; nil for `default`.
    ///   - schema: the models that the store keeps; nil for all of the container.
    ///   - connection: the database, as `libpq` reads it: a URI, or keywords and values (`host=db1,db2 dbname=books`).
    ///     A password is better kept in a password file or in the environment.
    ///   - databaseSchema: the schema of the store's tables, so that one database can hold several stores; nil for the
    ///     URI's parameter `schema`, or else `public`.
    ///   - allowsSave: whether it can be written.
    public init(
        _ name: String? = nil, schema: Schema? = nil, postgres connection: String, databaseSchema: String? = nil,
        allowsSave: Bool = true
    ) {
        let (url, option) = StorePlace.location(of: connection, schema: databaseSchema)
        var options: [String: String] = [:]
        if let (key, value) = option { options[key] = "\(value)" }
        self.init(
            name, schema: schema, url: url, allowsSave: allowsSave,
            server: Server(type: NSPostgreSQLStoreType, options: options))
    }
}
