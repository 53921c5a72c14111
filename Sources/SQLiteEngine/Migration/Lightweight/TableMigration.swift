import CoreDataModel
import MigrationPlans
import SQLGeneration

/// The migration of one table of the destination.
struct TableMigration {
    enum Action: Equatable {
        /// A new table without rows.
        case create
        /// The table stays; columns are added and values changed as needed.
        case extend
        /// A new table takes the rows of former ones.
        case rebuild
    }

    let definition: TableDefinition
    let action: Action
    let moves: [RowMove]
    /// The sources of the columns of the entities that are not new, by name.
    let columnSources: [String: ColumnSources]
    /// The tables of the rows.
    let sourceTables: [String]
    /// For an extended table, the columns that the former table lacks.
    let newColumns: [TableDefinition.Column]
    /// Columns that the source's model does not know, by table: they belong to other programs, and stay.
    let foreignColumns: [String: [TableDefinition.Column]]
    /// Other programs' columns that SQLite computes from others.
    let computedColumns: [TableDefinition.Column]
    /// For an extended table, the columns that the destination no longer needs.
    let unusedColumns: [String]

    /// - Parameters:
    ///   - definition: the destination's table.
    ///   - pair: both versions of the tables.
    ///   - structure: the existing tables.
    ///   - keepsColumns: whether columns that are no longer needed may stay for now.
    /// - Throws: an `NSError` that names a column whose source is unknown.
    init(_ definition: TableDefinition, in pair: SchemaPair, _ structure: StoreStructure, keepsColumns: Bool) throws {
        self.definition = definition
        var moves: [RowMove] = []
        var columnSources: [String: ColumnSources] = [:]
        for mapping in pair.destinationMappings(in: definition.name) {
            guard let former = pair.former(mapping), let plan = pair.plan(for: mapping) else { continue }
            let sources = try ColumnSources(mapping, from: former, plan: plan, in: pair)
            moves.append(RowMove(mapping, from: former, sources))
            columnSources[mapping.layout.name] = sources
        }
        self.columnSources = columnSources
        self.moves = RowMove.merged(moves)
        var tables: [String] = []
        for move in moves where !tables.contains(move.sourceTable) { tables.append(move.sourceTable) }
        sourceTables = tables
        var foreign: [String: [TableDefinition.Column]] = [:]
        var computed: [TableDefinition.Column] = []
        for table in tables {
            let known = Set(pair.source.tables.first { $0.name == table }?.columns.map(\.name) ?? [])
            let others = structure.foreignColumns(of: table, besides: known)
            foreign[table] = others.columns
            computed += others.computed
        }
        foreignColumns = foreign
        computedColumns = computed
        guard let only = tables.first else {
            action = .create
            newColumns = []
            unusedColumns = []
            return
        }
        let existing = structure.tables[only] ?? []
        newColumns = definition.columns.filter { column in !existing.contains { $0.name == column.name } }
        let stays =
            tables.count == 1 && only == definition.name
            && Self.staysInPlace(
                definition, existing, origins: columnSources.values.map(\.sourceColumns), pair: pair, keepsColumns)
        action = stays ? .extend : .rebuild
        unusedColumns = stays ? Self.unused(definition, pair) : []
    }

    /// Whether a table only needs new columns: no column is removed, changes its type, or takes another's values.
    private static func staysInPlace(
        _ definition: TableDefinition, _ existing: [TableDefinition.Column],
        origins: some Collection<[String: String]>, pair: SchemaPair, _ keepsColumns: Bool
    ) -> Bool {
        let types = Dictionary(existing.map { ($0.name, $0.declaredType) }, uniquingKeysWith: { first, _ in first })
        let wanted = Dictionary(
            definition.columns.map { ($0.name, $0.declaredType) }, uniquingKeysWith: { first, _ in first })
        guard keepsColumns || unused(definition, pair).isEmpty else { return false }
        // SQLite lists an INTEGER PRIMARY KEY as INTEGER.
        guard
            wanted.allSatisfy({ name, type in
                types[name].map { type.hasPrefix($0) || type == $0 } ?? true
            })
        else { return false }
        // The rows of an entity that moved to another table must be removed from this one.
        let leaves = pair.sourceMappings(in: definition.name).contains { former in
            pair.successor(former.layout).map { $0.table != definition.name } ?? false
        }
        if leaves || pair.leavesKeys(in: definition.name) { return false }
        let columns = Set(types.keys)
        return origins.allSatisfy { sources in
            sources.allSatisfy { column, source in column == source || !columns.contains(column) }
        } && !newInOldPlace(definition, pair)
    }

    /// The table's columns that the source's model has and the destination's does not.
    private static func unused(_ definition: TableDefinition, _ pair: SchemaPair) -> [String] {
        let known = pair.source.tables.first { $0.name == definition.name }?.columns.map(\.name) ?? []
        let wanted = Set(definition.columns.map(\.name))
        return known.filter { !wanted.contains($0) }
    }

    /// Whether a property is new, and its column contains another property's values.
    private static func newInOldPlace(_ definition: TableDefinition, _ pair: SchemaPair) -> Bool {
        pair.destinationMappings(in: definition.name).contains { mapping in
            guard let former = pair.former(mapping), let plan = pair.plan(for: mapping) else { return false }
            let used = Set(former.allColumns)
            return mapping.storedColumns.contains { column in
                let name = column.property.split(separator: ".").first.map(String.init) ?? column.property
                return plan.source(of: name) == nil && used.contains(column.name)
            }
        }
    }

    /// The name of a former table during the migration.
    static func temporaryName(_ table: String) -> String { "_T_" + table }
}
