import CompactCollections
import MigrationPlans
import SQLGeneration
import SQLiteEngine

/// Other programs' triggers on the store's tables, and those on other tables that name a rebuilt one: they are created
/// again unchanged. While rows are moved or changed, the former would fire for them, and the latter find no table.
struct ForeignTriggers {
    /// Sorted by name.
    let names: [String]
    /// The statements that create them, and statements that are only compiled: a trigger that uses tables or columns
    /// which no longer exist stops the migration, rather than each later save.
    let creations: [MigrationStep]

    /// - Parameters:
    ///   - structure: the store's present structure.
    ///   - renamed: the tables that are replaced.
    ///   - kept: the tables whose rows may get other values where they are.
    ///   - tables: the tables after the migration.
    init(_ structure: StoreStructure, on renamed: [String], and kept: [String], of tables: [TableDefinition]) {
        let (replaced, names) = (Set(renamed), Set(renamed.map { $0.uppercased() }))
        let kept = Set(kept)
        func needsTables(_ trigger: StoreStructure.Trigger) -> Bool {
            replaced.contains(trigger.table) || !names.isDisjoint(with: Self.words(of: trigger.sql))
        }
        let foreign = structure.triggers.filter { name, trigger in
            !name.hasPrefix("Z_DA_") && (kept.contains(trigger.table) || needsTables(trigger))
        }
        .sorted { $0.key < $1.key }
        self.names = foreign.map(\.key)
        let definitions = Dictionary(tables.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        var creations: [MigrationStep] = []
        for (name, trigger) in foreign {
            let definition = definitions[trigger.table]
            // Removing a table has removed its triggers.
            if definition == nil, replaced.contains(trigger.table) { continue }
            creations.append(.run(trigger.sql))
            guard needsTables(trigger) else { continue }
            // Views have no columns here.
            let columns = definition?.columns.map(\.name) ?? structure.columnNames(trigger.table)
            guard !columns.isEmpty else { continue }
            creations += CompilationSQL.changes(of: trigger.table, columns).map {
                .compile($0.sqlite.text, trigger: name)
            }
        }
        self.creations = creations
    }

    /// The words of a statement, as SQLite compares names. A word in a text is found, too, which does no harm.
    private static func words(of sql: String) -> [String] {
        sql.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "$" }.map { $0.uppercased() }
    }
}
