import CompactCollections

/// The content of an existing store: the numbers of its entities, its tables and their columns.
package struct StoreCatalog: Sendable {
    /// `Z_PRIMARYKEY`: entity names and their numbers.
    package var numbers: [String: Int]
    /// Tables and their columns, as the file spells them.
    package var tables: [String: [TableDefinition.Column]]

    package init(numbers: [String: Int], tables: [String: [TableDefinition.Column]]) {
        self.numbers = numbers
        self.tables = tables
    }
}
