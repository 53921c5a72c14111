import CompactCollections
import SQLGeneration

/// The structure of a store's database, as far as a migration needs it.
package struct StoreStructure: Equatable, Sendable {
    package struct Index: Equatable, Sendable {
        package var table: String
        /// `nil` for an index that SQLite made for a constraint.
        package var sql: String?
        package var columns: [String]
    }

    package struct Trigger: Equatable, Sendable {
        package var table: String
        package var sql: String
    }

    /// The tables with their columns, in order.
    package var tables: [String: [TableDefinition.Column]] = [:]
    /// The statements that created the tables.
    package var creations: [String: String] = [:]
    /// The names of columns that SQLite computes, by table; `tables` does not have them.
    package var generated: [String: [String]] = [:]
    package var indexes: [String: Index] = [:]
    package var triggers: [String: Trigger] = [:]

    package init() {}

    /// A table's column names.
    package func columnNames(_ table: String) -> [String] { (tables[table] ?? []).map(\.name) }

    /// The columns of a table that belong to other programs, as they were declared, and the computed ones.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - known: the names of the columns of the model.
    /// - Returns: the columns, in order; those that SQLite computes take no values.
    package func foreignColumns(
        of table: String, besides known: Set<String>
    ) -> (columns: [TableDefinition.Column], computed: [TableDefinition.Column]) {
        let declarations = creations[table].map(ColumnDeclarations.read) ?? [:]
        func declared(_ column: TableDefinition.Column) -> TableDefinition.Column {
            .init(name: column.name, declaredType: declarations[column.name.uppercased()] ?? column.declaredType)
        }
        let columns = (tables[table] ?? []).filter { !known.contains($0.name) }
        let computed = (generated[table] ?? []).map { TableDefinition.Column(name: $0, declaredType: "") }
        return (columns.map(declared), computed.map(declared))
    }

    /// Whether the store keeps a history of changes.
    package var hasHistory: Bool { tables["ACHANGE"] != nil }
}
