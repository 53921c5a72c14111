import SQLGeneration
import SQLMigration
import SQLiteEngine

/// How one table of the destination comes about.
struct TableMigration {
    enum Way: Equatable {
        /// A new table without rows.
        case create
        /// The table stays; columns are added and values changed where needed.
        case extend
        /// A new table takes the rows of former ones.
        case rebuild
    }

    let definition: TableDefinition
    let way: Way
    let moves: [RowMove]
    /// The tables that rows come from.
    let sourceTables: [String]
    /// The columns that are not in the former table, for a table that is extended.
    let newColumns: [TableDefinition.Column]
    /// Columns that the source's model does not know, by table: they belong to somebody else, and stay.
    let foreignColumns: [String: [TableDefinition.Column]]
    /// Columns of a table that is extended which the destination does not need any more.
    let unusedColumns: [String]

    /// - Parameters:
    ///   - definition: the destination's table.
    ///   - pair: both versions of the tables.
    ///   - structure: the tables that there are.
    ///   - keepsColumns: whether columns that are not needed any more may stay for a while.
    /// - Throws: an `NSError` that names a column whose source is not known.
    init(_ definition: TableDefinition, in pair: SchemaPair, _ structure: StoreStructure, keepsColumns: Bool) throws {
        self.definition = definition
        var moves: [RowMove] = []
        var origins: [String: [String: String]] = [:]
        for mapping in pair.destinationMappings where mapping.table == definition.name {
            guard let former = pair.former(mapping), let plan = pair.plan(for: mapping) else { continue }
            let sources = try ColumnSources(mapping, from: former, plan: plan, in: pair)
            moves.append(RowMove(mapping, from: former, sources))
            origins[mapping.layout.name] = sources.sourceColumns
        }
        self.moves = RowMove.merged(moves)
        var tables: [String] = []
        for move in moves where !tables.contains(move.sourceTable) { tables.append(move.sourceTable) }
        sourceTables = tables
        var foreign: [String: [TableDefinition.Column]] = [:]
        for table in tables {
            let known = Set(pair.source.tables.first { $0.name == table }?.columns.map(\.name) ?? [])
            foreign[table] = (structure.tables[table] ?? []).filter { !known.contains($0.name) }
        }
        foreignColumns = foreign
        guard let only = tables.first else {
            way = .create
            newColumns = []
            unusedColumns = []
            return
        }
        let existing = structure.tables[only] ?? []
        newColumns = definition.columns.filter { column in !existing.contains { $0.name == column.name } }
        let stays =
            tables.count == 1 && only == definition.name
            && Self.staysInPlace(definition, existing, origins: origins.values, pair: pair, keepsColumns)
        way = stays ? .extend : .rebuild
        unusedColumns = stays ? Self.unused(definition, pair) : []
    }

    /// Whether a table needs nothing but new columns: no column goes, changes its type, or takes another's values.
    private static func staysInPlace(
        _ definition: TableDefinition, _ existing: [TableDefinition.Column],
        origins: some Collection<[String: String]>, pair: SchemaPair, _ keepsColumns: Bool
    ) -> Bool {
        let types = Dictionary(existing.map { ($0.name, $0.declaredType) }, uniquingKeysWith: { first, _ in first })
        let wanted = Dictionary(
            definition.columns.map { ($0.name, $0.declaredType) }, uniquingKeysWith: { first, _ in first })
        guard keepsColumns || unused(definition, pair).isEmpty else { return false }
        // An INTEGER PRIMARY KEY is listed as INTEGER.
        guard
            wanted.allSatisfy({ name, type in
                types[name].map { type.hasPrefix($0) || type == $0 } ?? true
            })
        else { return false }
        // The rows of an entity that moved to another table must leave this one.
        let leaves = pair.sourceMappings.contains { former in
            former.table == definition.name
                && pair.successor(former.layout).map { $0.table != definition.name } ?? false
        }
        if leaves { return false }
        let columns = Set(types.keys)
        return origins.allSatisfy { sources in
            sources.allSatisfy { column, source in column == source || !columns.contains(column) }
        } && !newInOldPlace(definition, columns, origins, pair)
    }

    /// The columns that the source's model has in the table, and the destination's has not.
    private static func unused(_ definition: TableDefinition, _ pair: SchemaPair) -> [String] {
        let known = pair.source.tables.first { $0.name == definition.name }?.columns.map(\.name) ?? []
        let wanted = Set(definition.columns.map(\.name))
        return known.filter { !wanted.contains($0) }
    }

    /// Whether a property is new, and its column has another one's values.
    private static func newInOldPlace(
        _ definition: TableDefinition, _ columns: Set<String>, _ origins: some Collection<[String: String]>,
        _ pair: SchemaPair
    ) -> Bool {
        pair.destinationMappings.contains { mapping in
            guard mapping.table == definition.name, let former = pair.former(mapping),
                let plan = pair.plan(for: mapping)
            else { return false }
            let used = Set(former.allColumns)
            return mapping.storedColumns.contains { column in
                let name = column.property.split(separator: ".").first.map(String.init) ?? column.property
                return plan.source(of: name) == nil && used.contains(column.name)
            }
        }
    }

    /// The name of a former table while the new ones are made.
    static func temporaryName(_ table: String) -> String { "_T_" + table }
}
