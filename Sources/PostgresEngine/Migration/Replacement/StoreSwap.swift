import CoreDataModel
import Foundation
import MigrationPlans
import PostgresConnection
import SQLGeneration
import StoreEngine

/// Replaces the tables of a store by those of another one in the same database.
struct StoreSwap {
    private let place: StorePlace
    private let made: StorePlace
    private let connection: PostgresConnection

    init(_ place: StorePlace, _ made: StorePlace, _ connection: PostgresConnection) {
        (self.place, self.made, self.connection) = (place, made, connection)
    }

    private func parameters(_ texts: String...) -> PostgresParameters {
        var parameters = PostgresParameters()
        for text in texts { parameters.append(text) }
        return parameters
    }

    /// The partitions of a table that has moved already.
    private func parts(_ table: String) throws -> [String] {
        let result = try connection.query(
            "SELECT format('%I.%I', n.nspname, p.relname) FROM pg_inherits h JOIN pg_class p ON p.oid = h.inhrelid "
                + "JOIN pg_namespace n ON n.oid = p.relnamespace JOIN pg_class t ON t.oid = h.inhparent "
                + "WHERE n.nspname = $2 AND t.relname = $1 AND t.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $3)",
            parameters(table, made.schema, place.schema))
        return (0..<result.count).map { result.string($0, 0) }
    }

    /// - Throws: the server's errors: dependent objects, such as a view, keep the tables from being dropped.
    func run() throws {
        let grants = try TableGrants(place, connection)
        let former = grants.tables.map(quotedName)
        try connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        if !former.isEmpty { try connection.execute("DROP TABLE \(former.joined(separator: ", "))") }
        for table in try TableGrants.tables(made, connection) {
            let name = quotedName(QualifiedName.make(schema: made.schema, name: table))
            try connection.execute("ALTER TABLE \(name) SET SCHEMA \(quotedName(place.schema))")
            for part in try parts(table) {
                try connection.execute("ALTER TABLE \(part) SET SCHEMA \(quotedName(place.schema))")
            }
            try grants.grant(on: table)
        }
        // The changes of a history refer to its transactions.
        try connection.execute("SET CONSTRAINTS ALL DEFERRED")
        let both = parameters(place.schema, made.schema)
        for statement in Self.bookkeeping {
            try connection.query(statement, statement.contains("$2") ? both : parameters(place.schema))
        }
        try connection.query("DELETE FROM pippin.stores WHERE schema_name = $1", parameters(made.schema))
        try connection.query("SELECT pg_notify('\(Bookkeeping.schema)', $1)", parameters(place.schema))
    }

    /// `$1` is the store, `$2` its successor. A history of the successor replaces the former one; the numbering of
    /// transactions continues in any case.
    private static let bookkeeping = [
        "DELETE FROM pippin.entities WHERE schema_name = $1", "DELETE FROM pippin.tables WHERE schema_name = $1",
        "DELETE FROM pippin.transactions WHERE schema_name = $1",
        "UPDATE pippin.entities SET schema_name = $1 WHERE schema_name = $2",
        "UPDATE pippin.tables SET schema_name = $1 WHERE schema_name = $2",
        "UPDATE pippin.transactions SET schema_name = $1 WHERE schema_name = $2",
        "UPDATE pippin.changes SET schema_name = $1 WHERE schema_name = $2",
        """
        UPDATE pippin.stores s SET metadata = m.metadata, model = m.model, format = m.format, generation = s.generation + 1, \
        keeps_history = s.keeps_history OR m.keeps_history, latest = GREATEST(s.latest, m.latest), \
        latest_change = GREATEST(s.latest_change, m.latest_change) FROM pippin.stores m WHERE s.schema_name = $1 AND m.schema_name = $2
        """,
    ]
}
