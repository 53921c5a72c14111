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
    package var indexes: [String: Index] = [:]
    package var triggers: [String: Trigger] = [:]

    package init() {}

    /// A table's column names.
    package func columnNames(_ table: String) -> [String] { (tables[table] ?? []).map(\.name) }

    /// Whether the store keeps a history of changes.
    package var hasHistory: Bool { tables["ACHANGE"] != nil }
}
