import CoreDataModel
import MigrationPlans
import PostgresConnection
import SQLGeneration

/// How one table of the destination is made. Pure.
struct TablePlan {
    enum Action: Equatable {
        /// A new table without rows.
        case create
        /// The table stays, perhaps under another name; columns are added, removed and changed.
        case alter
        /// A new table receives the rows of former ones.
        case rebuild
    }

    /// The changes to the columns of a table that stays.
    struct Columns {
        /// New columns, each with the value that all rows get at once, if there is one.
        var added: [(name: String, kind: ColumnKind, value: SQLFragment?)] = []
        /// Columns whose values stay as they are, under another name.
        var renamed: [(old: String, new: String)] = []
        /// Columns that get another type.
        var changed: [(name: String, kind: ColumnKind, value: SQLFragment)] = []
        /// Columns that are no longer needed.
        var removed: [String] = []
        /// Other values that rows get, by entity.
        var moves: [RowMove] = []

        var isEmpty: Bool {
            added.isEmpty && renamed.isEmpty && changed.isEmpty && removed.isEmpty && moves.isEmpty
        }
    }

    let root: EntityMapping
    let action: Action
    /// The tables that its rows come from.
    let sources: [String]
    /// The sources of the columns of the entities that are not new, by name.
    let columnSources: [String: ColumnSources]
    /// The column changes of a table that stays.
    var columns = Columns()
    /// The row moves of a table that is rebuilt.
    var moves: [RowMove] = []

    var table: String { root.table }
    /// Whether the table stays unchanged.
    var isUntouched: Bool { action == .alter && sources == [table] && columns.isEmpty }

    /// - Throws: an `NSError` for a default value that cannot be stored.
    init(_ root: EntityMapping, in pair: SchemaPair) throws {
        self.root = root
        let members = pair.destinationMappings(in: root.table)
        var entities: [Member] = []
        for mapping in members {
            guard let former = pair.former(mapping), let plan = pair.plan(for: mapping) else { continue }
            let sources = try ColumnSources(mapping, from: former, plan: plan, in: pair)
            entities.append(Member(mapping: mapping, former: former, sources: sources))
        }
        columnSources = Dictionary(
            entities.map { ($0.mapping.layout.name, $0.sources) }, uniquingKeysWith: { first, _ in first })
        var tables: [String] = []
        for entity in entities where !tables.contains(entity.former.table) { tables.append(entity.former.table) }
        sources = tables
        guard let only = tables.first else {
            action = .create
            return
        }
        let receivers = Set(
            pair.sourceMappings(in: only).compactMap { pair.successor($0.layout)?.table })
        // A table that is partitioned differently must be rebuilt.
        let formerRoot = pair.sourceMappings(in: only).first { $0.layout.superentity == nil }
        let staysPartitioned = try Partitioning(root) == formerRoot.flatMap { try Partitioning($0) }
        if tables.count == 1, receivers.count == 1, staysPartitioned, !pair.leavesKeys(in: root.table),
            let columns = try Self.columns(of: root, members, entities, only, pair)
        {
            action = .alter
            self.columns = columns
        } else {
            action = .rebuild
            moves = RowMove.merged(entities.map { RowMove($0.mapping, from: $0.former, $0.sources) })
        }
    }

    /// An entity whose rows existed before.
    private struct Member {
        let mapping: EntityMapping
        let former: EntityMapping
        let sources: ColumnSources
    }

    /// What becomes of one column of a table that stays.
    private enum ColumnChange {
        /// It stays as it is.
        case keep
        /// It stays, and rows get other values.
        case update
        /// It is a former one, under another name.
        case rename(from: String)
        /// It is new. All rows get a value at once, if there is one; otherwise some may get values of their own.
        case add(SQLFragment?, isUpdated: Bool)
        /// It gets another type, and its values are computed.
        case retype(SQLFragment)
        /// It would have to take the name of a removed one, so that the table must be rebuilt.
        case needsNewTable
    }

    /// The column changes of a table that stays; nil if it must be rebuilt.
    private static func columns(
        of root: EntityMapping, _ members: [EntityMapping], _ entities: [Member], _ table: String, _ pair: SchemaPair
    ) throws -> Columns? {
        var result = Columns()
        let former = pair.sourceMappings(in: table)
        let kinds = Dictionary(
            TableCreation.columns(of: former).map { ($0.name, $0.kind) }, uniquingKeysWith: { first, _ in first })
        var kept: Set<String> = []
        var updated: Set<String> = []
        let attributes = Set(members.flatMap { Self.attributeColumns($0) })
        for (name, kind) in TableCreation.columns(of: members) {
            let change: ColumnChange
            if let existing = kinds[name] {
                kept.insert(name)
                change = try self.change(of: name, from: existing, to: kind, root, entities)
            } else {
                change = try addition(
                    of: name, kind, isAttribute: attributes.contains(name), former: kinds, root, entities, pair)
            }
            switch change {
            case .keep: break
            case .update: updated.insert(name)
            case .rename(let old):
                result.renamed.append((old, name))
                kept.insert(old)
            case .add(let value, let isUpdated):
                result.added.append((name, kind, value))
                if isUpdated { updated.insert(name) }
            case .retype(let value): result.changed.append((name, kind, value))
            case .needsNewTable: return nil
            }
        }
        result.removed = kinds.keys.filter { !kept.contains($0) }.sorted()
        result.moves = RowMove.merged(
            entities.map {
                var move = RowMove($0.mapping, from: $0.former, $0.sources)
                move.values = move.values.filter { updated.contains($0.key) }
                return move
            }
        ).filter { !$0.values.isEmpty }
        return result
    }

    /// The values that rows get in a column, each once.
    private static func values(of column: String, _ entities: [Member]) -> [MovedValue] {
        var values: [MovedValue] = []
        for entity in entities {
            if let value = entity.sources.values[column], !values.contains(value) { values.append(value) }
        }
        return values
    }

    /// What becomes of a column whose name the former table does not have.
    private static func addition(
        of name: String, _ kind: ColumnKind, isAttribute: Bool, former kinds: [String: ColumnKind],
        _ root: EntityMapping, _ entities: [Member], _ pair: SchemaPair
    ) throws -> ColumnChange {
        let values = values(of: name, entities)
        if values.count == 1, case .column(let old)? = values.first, kinds[old]?.type == kind.type, isAttribute,
            isOnlyUse(of: old, name, entities)
        {
            return .rename(from: old)
        }
        if values.count == 1, case .computed(let value)? = values.first, try isConstant(name, root, entities, pair) {
            return .add(value, isUpdated: false)
        }
        return .add(nil, isUpdated: values != [.nothing] && !values.isEmpty)
    }

    /// What becomes of a column whose name the former table has.
    private static func change(
        of name: String, from existing: ColumnKind, to kind: ColumnKind, _ root: EntityMapping, _ entities: [Member]
    ) throws -> ColumnChange {
        let values = values(of: name, entities)
        let origins = entities.compactMap {
            $0.sources.values[name] == nil ? nil : $0.sources.sourceColumns[name] ?? ""
        }
        if existing.type == kind.type {
            if values.allSatisfy({ $0 == .column(name) }) { return .keep }
            // The name belongs to a column whose values are no longer wanted.
            return origins.allSatisfy { $0 == name } ? .update : .needsNewTable
        }
        guard try Partitioning(root)?.column != name, values.count <= 1, origins.allSatisfy({ $0 == name }),
            declares(name, root), case .computed(let value)? = values.first ?? .computed("NULL")
        else { return .needsNewTable }
        return .retype(value)
    }

    private static func attributeColumns(_ mapping: EntityMapping) -> [String] {
        mapping.layout.slots.indices.flatMap { slot -> [String] in
            guard mapping.layout.slots[slot].attribute != nil, let column = mapping.columns[slot] else { return [] }
            return column.isComposite ? column.flattened.map(\.name) : [column.name]
        }
    }

    /// Whether no other column gets the values of the old one.
    private static func isOnlyUse(of old: String, _ name: String, _ entities: [Member]) -> Bool {
        entities.allSatisfy { entity in
            entity.sources.sourceColumns.allSatisfy { $0.key == name || $0.value != old }
                && entity.sources.values.allSatisfy { $0.key == name || $0.value != .column(old) }
        }
    }

    /// Whether the root entity has the column, so that all rows do.
    private static func declares(_ column: String, _ root: EntityMapping) -> Bool {
        attributeColumns(root).contains(column)
    }

    /// Whether all rows get the default value of a new attribute.
    private static func isConstant(
        _ column: String, _ root: EntityMapping, _ entities: [Member], _ pair: SchemaPair
    ) throws -> Bool {
        guard declares(column, root), let slot = root.columns.firstIndex(where: { $0?.name == column }) else {
            return false
        }
        let name = root.layout.slots[slot].name
        return entities.allSatisfy { pair.plan(for: $0.mapping)?.source(of: name) == nil }
    }
}
