import CoreDataModel
import PostgresConnection
import SQLGeneration

extension Bookkeeping {
    /// The statements that record which entities and tables a store has, replacing the former record.
    package static func statements(of schema: SQLSchema, in name: String) -> [String] {
        let store = quotedText(name)
        let entities = schema.mappings.compactMap { $0 }.map { mapping -> String in
            let parent = mapping.layout.superentity.map { quotedText($0.name) } ?? "NULL"
            let table = quotedText(QualifiedName.name(mapping.table))
            return "(\(store), \(mapping.number), \(quotedText(mapping.layout.name)), \(parent), \(table))"
        }
        let tables = TableCreation(schema).tableNames.map { "(\(store), \(quotedText($0)))" }
        return [
            "DELETE FROM pippin.entities WHERE schema_name = \(store)",
            "DELETE FROM pippin.tables WHERE schema_name = \(store)",
        ]
            + (entities.isEmpty
                ? []
                : [
                    "INSERT INTO pippin.entities (schema_name, number, name, parent, table_name) VALUES "
                        + entities.joined(separator: ", ")
                ])
            + (tables.isEmpty
                ? [] : ["INSERT INTO pippin.tables (schema_name, table_name) VALUES \(tables.joined(separator: ", "))"])
    }
}
