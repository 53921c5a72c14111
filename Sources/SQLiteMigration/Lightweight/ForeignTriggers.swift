import CompactCollections
import SQLGeneration
import SQLiteEngine

/// Other programs' triggers on tables that are rebuilt: they are created again unchanged.
struct ForeignTriggers {
    /// Sorted by name.
    let names: [String]
    /// The statements that create them, and statements that are only compiled: a trigger that uses columns which no
    /// longer exist stops the migration, rather than each later save.
    let creations: [String]

    /// - Parameters:
    ///   - structure: the store's present structure.
    ///   - renamed: the tables that are replaced.
    ///   - tables: the tables after the migration.
    init(_ structure: StoreStructure, on renamed: [String], of tables: [TableDefinition]) {
        let renamed = Set(renamed)
        let foreign = structure.triggers.filter { !$0.key.hasPrefix("Z_DA_") && renamed.contains($0.value.table) }
            .sorted { $0.key < $1.key }
        names = foreign.map(\.key)
        let definitions = Dictionary(tables.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        var creations: [String] = []
        for (_, trigger) in foreign {
            // Removing a table has removed its triggers.
            guard let table = definitions[trigger.table] else { continue }
            creations.append(trigger.sql)
            creations += CompilationSQL.changes(of: table.name, table.columns.map(\.name)).map(\.sqlite.text)
        }
        self.creations = creations
    }
}
