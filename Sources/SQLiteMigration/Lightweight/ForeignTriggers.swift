import SQLGeneration
import SQLiteEngine

/// Triggers of somebody else's on tables that are made anew: they are made again, as they were.
struct ForeignTriggers {
    /// In the order of their names.
    let names: [String]
    /// The statements that make them, and some that are only compiled: one that names what the tables do not have any more stops the migration,
    /// and not each save after it.
    let creations: [String]

    /// - Parameters:
    ///   - structure: what the store has.
    ///   - renamed: the tables that give way to others.
    ///   - tables: the tables that there will be.
    init(_ structure: StoreStructure, on renamed: [String], of tables: [TableDefinition]) {
        let renamed = Set(renamed)
        let foreign = structure.triggers.filter { !$0.key.hasPrefix("Z_DA_") && renamed.contains($0.value.table) }
            .sorted { $0.key < $1.key }
        names = foreign.map(\.key)
        let definitions = Dictionary(tables.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        var creations: [String] = []
        for (_, trigger) in foreign {
            // A table that is there no more has taken its triggers with it.
            guard let table = definitions[trigger.table] else { continue }
            creations.append(trigger.sql)
            creations += CompilationSQL.changes(of: table.name, table.columns.map(\.name)).map(\.sqlite.text)
        }
        self.creations = creations
    }
}
