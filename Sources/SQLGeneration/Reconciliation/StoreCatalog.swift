/// The content of an existing store: the numbers of its entities, its tables and their columns.
package struct StoreCatalog: Sendable {
    /// `Z_PRIMARYKEY`: entity names and their numbers.
    package var numbers: [String: Int]
    /// Tables and their columns, as the file spells them.
    package var tables: [String: [TableDefinition.Column]]
    /// Columns that nothing uses any more, by table: a migration has deferred their removal.
    package var unused: [String: Set<String>]

    package init(
        numbers: [String: Int], tables: [String: [TableDefinition.Column]], unused: [String: Set<String>] = [:]
    ) {
        (self.numbers, self.tables, self.unused) = (numbers, tables, unused)
    }
}
