import Foundation
import PostgresConnection
import PostgresServer

/// All that a database holds of its own: schemas, columns, indexes, constraints, rows, and what Pippin knows of its
/// stores.
struct DatabaseContent: Equatable, CustomStringConvertible {
    let description: String

    init(_ database: TestDatabase) throws {
        let connection = try database.connect()
        func rows(_ sql: String) throws -> [String] {
            let result = try connection.query(sql)
            return (0..<result.count).map { row in
                (0..<result.columnCount).map { result.isNull(row, $0) ? "–" : result.string(row, $0) }
                    .joined(separator: " ")
            }
        }
        let own = "NOT LIKE ALL (ARRAY['pg\\_%', 'information\\_schema'])"
        var lines = try rows("SELECT nspname::text FROM pg_namespace WHERE nspname \(own) ORDER BY 1")
        lines += try rows(
            """
            SELECT table_schema::text, table_name::text, column_name::text, data_type::text, is_nullable::text, column_default::text \
            FROM information_schema.columns WHERE table_schema \(own) ORDER BY 1, 2, 3
            """)
        lines += try rows("SELECT schemaname::text, indexdef FROM pg_indexes WHERE schemaname \(own) ORDER BY 1, 2")
        lines += try rows(
            """
            SELECT conrelid::regclass::text, conname::text, pg_get_constraintdef(oid) FROM pg_constraint \
            WHERE connamespace::regnamespace::text \(own) ORDER BY 1, 2
            """)
        let tables = try rows(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname \(own) ORDER BY 1")
        for table in tables where !table.hasSuffix(".saves") {
            lines.append(table)
            lines += try rows("SELECT t::text FROM \(table) t ORDER BY 1")
        }
        description = lines.joined(separator: "\n")
    }
}
