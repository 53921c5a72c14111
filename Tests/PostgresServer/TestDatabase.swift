import Foundation
import PostgresConnection

/// A database for one test.
package final class TestDatabase: Sendable {
    package let server: PostgresServer
    package let name: String

    init(_ server: PostgresServer, name: String) throws {
        (self.server, self.name) = (server, name)
        try PostgresConnection(ConnectionTarget(server.uri(database: "postgres"))).execute("CREATE DATABASE \(name)")
    }

    deinit {
        // The server goes with the process, and takes along what could not be dropped.
        try? PostgresConnection(ConnectionTarget(server.uri(database: "postgres")))
            .execute("DROP DATABASE \(name) WITH (FORCE)")
    }

    /// The database of the shared server.
    package convenience init() throws {
        let server = try PostgresServer.shared()
        try self.init(server, name: server.nextDatabaseName())
    }

    /// Where the database is, for a role.
    package func uri(user: String = "postgres") -> String { server.uri(database: name, user: user) }

    /// The same as a URL.
    package func url(user: String = "postgres") -> URL {
        URL(string: uri(user: user)) ?? URL(fileURLWithPath: "/nowhere")
    }

    package func connect(user: String = "postgres") throws -> PostgresConnection {
        try PostgresConnection(ConnectionTarget(uri(user: user)))
    }

    /// The rows that plain SQL finds, each value as text.
    package func rows(_ sql: String) throws -> [[String]] {
        let connection = try connect()
        let result = try connection.query("SELECT array_to_json(array_agg(r))::text FROM (\(sql)) r")
        guard result.count == 1, !result.isNull(0, 0) else { return [] }
        let list = try JSONSerialization.jsonObject(with: result.data(0, 0)) as? [[String: Any]] ?? []
        let described = try connection.query("SELECT * FROM (\(sql)) r LIMIT 0")
        let names = (0..<described.columnCount).map(described.columnName)
        return list.map { row in names.map { row[$0].map { $0 is NSNull ? "null" : "\($0)" } ?? "" } }
    }
}
