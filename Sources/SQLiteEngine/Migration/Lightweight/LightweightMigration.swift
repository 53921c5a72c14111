import CoreDataModel
import Foundation
import MigrationPlans
import SQLGeneration

/// A lightweight migration as a value: the statements, in order and for one transaction, that convert a store to
/// another model.
///
/// No object is loaded. Afterwards the tables have the names, columns, indexes and triggers of a new store of the
/// model, and the entities its numbers.
package struct LightweightMigration: Equatable, Sendable {
    /// The steps, in order.
    package let steps: [MigrationStep]
    /// The cleanup that the steps defer.
    package let deferred: DeferredCleanup

    /// Computes the steps.
    ///
    /// - Parameters:
    ///   - plan: the mapping of each entity.
    ///   - source: the store's schema.
    ///   - destination: the schema after the migration.
    ///   - structure: the existing tables, indexes and triggers.
    ///   - left: the deferred cleanup of an earlier migration, which is done first.
    ///   - defersCleanup: whether removing what is no longer needed is deferred.
    /// - Throws: an `NSError` for a default value or a derived attribute that the store cannot hold.
    package init(
        plan: MappingPlan, from source: SQLSchema, to destination: SQLSchema, structure: StoreStructure,
        after left: DeferredCleanup = DeferredCleanup(), defersCleanup: Bool = false
    ) throws {
        var builder = LightweightMigrationBuilder(
            pair: SchemaPair(plan: plan, from: source, to: destination, SQLiteColumns()), structure: structure,
            defersCleanup: defersCleanup)
        let built = try builder.build()
        steps = left.tasks.map { .run($0.sql) } + built
        deferred = DeferredCleanup(builder.deferred)
    }
}

/// Orders the parts of a lightweight migration.
private struct LightweightMigrationBuilder {
    let pair: SchemaPair
    let structure: StoreStructure
    let defersCleanup: Bool
    private var steps: [MigrationStep] = []
    private(set) var deferred: [DeferredCleanup.Task] = []

    init(pair: SchemaPair, structure: StoreStructure, defersCleanup: Bool) {
        self.pair = pair
        self.structure = structure
        self.defersCleanup = defersCleanup
    }

    mutating func build() throws -> [MigrationStep] {
        let tables = try pair.destination.tables.map {
            try TableMigration($0, in: pair, structure, keepsColumns: defersCleanup)
        }
        let extended = Set(tables.filter { $0.action == .extend }.map(\.definition.name))
        let joins = JoinTableMigration(pair, structure) { name in self.currentName(name, extended: extended) }
        let formerTables = pair.source.tables.map(\.name).filter { structure.tables[$0] != nil }
        let formerJoins = pair.source.joinTables.map(\.table.name).filter { structure.tables[$0] != nil }
        let set = formerTables.filter { !extended.contains($0) } + formerJoins.filter { !joins.kept.contains($0) }

        // Triggers of derived attributes are created again. Other programs' triggers would fire for rows that are
        // moved or changed, and be removed with their tables.
        let foreign = ForeignTriggers(
            structure, on: set, and: extended.union(joins.kept).sorted(),
            of: tables.map(\.definition) + pair.destination.joinTables.map(\.table))
        let derived = structure.triggers.keys.filter { $0.hasPrefix("Z_DA_") }.sorted()
        run((derived + foreign.names).map { "DROP TRIGGER \(quoted($0))" })
        checkStrays(formerTables)
        check(FormerRowChecks.checks(pair))
        let kept = extended.union(joins.kept)
        try dropIndexes(keeping: kept)
        run(set.map { "ALTER TABLE \(quoted($0)) RENAME TO \(quoted(TableMigration.temporaryName($0)))" })
        for table in tables { move(table) }
        makeRoom(for: joins.created, formerJoins)
        run(joins.creations)
        run(joins.insertions)
        for step in RelationshipFills.steps(pair, tableName: { name in self.currentName(name, extended: extended) }) {
            switch step {
            case .run(let statement): run([statement])
            case .check(let found): check([found])
            }
        }
        if defersCleanup {
            // Removing a table would free the names of its indexes, but it is not removed yet.
            let names = structure.indexes.filter { set.contains($0.value.table) && $0.value.sql != nil }.keys
            run(names.sorted().map { "DROP INDEX \(quoted($0))" })
            deferred =
                set.map { .table(TableMigration.temporaryName($0)) }
                + tables.flatMap { table in
                    table.unusedColumns.map { .column($0, table: table.definition.name) }
                }
        } else {
            run(set.map { "DROP TABLE \(quoted(TableMigration.temporaryName($0)))" })
        }
        try createIndexes(tables, kept: kept)
        let sources = Dictionary(tables.flatMap(\.columnSources), uniquingKeysWith: { first, _ in first })
        run(DerivedFills.statements(pair, sources))
        check(MandatoryChecks.checks(pair))
        run(try pair.destination.derivedAttributeTriggers().map(\.creation))
        steps += foreign.creations
        steps += Bookkeeping.history(pair, structure)
        run(Bookkeeping.primaryKeys(pair))
        return steps
    }

    private mutating func run(_ statements: [String]) { steps += statements.map(MigrationStep.run) }
    private mutating func run(_ statements: [SQLFragment]) { run(statements.map(\.sqlite.text)) }

    private mutating func check(_ checks: [MigrationCheck]) {
        steps += checks.map { .expectNone($0.select.sqlite.text, $0.violation) }
    }

    /// The name of a former table while the new ones are filled.
    private func currentName(_ table: String, extended: Set<String>) -> String {
        let isJoin = pair.source.joinTables.contains { $0.table.name == table }
        return extended.contains(table) && !isJoin ? table : TableMigration.temporaryName(table)
    }

    /// Rows that belong to no entity would be lost, so they stop the migration.
    private mutating func checkStrays(_ tables: [String]) {
        for table in tables {
            let numbers = pair.sourceMappings(in: table).map(\.number)
            guard !numbers.isEmpty else { continue }
            steps.append(
                .expectNone(
                    CheckSQL.strangers(in: table, among: numbers).sqlite.text,
                    MigrationViolation(
                        entity: pair.sourceMappings(in: table).first?.layout.root.name ?? table,
                        reason: "The table \(table) has rows of an entity that the source model does not know")))
        }
    }

    /// A join table that is left of an earlier version stays, unless a new one needs its name. Its pairs would be lost,
    /// so they stop the migration.
    private mutating func makeRoom(for joins: [String], _ former: [String]) {
        for table in joins where structure.tables[table] != nil && !former.contains(table) {
            steps.append(
                .expectNone(
                    CheckSQL.rows(of: table).sqlite.text,
                    MigrationViolation(
                        entity: pair.destination.joinTables.first { $0.table.name == table }?.rootName ?? table,
                        reason: "The table \(table), whose name the new model needs, has rows, and belongs to no "
                            + "relationship of the source model")))
            run(["DROP TABLE \(quoted(table))"])
        }
    }

    // MARK: Tables

    private mutating func move(_ table: TableMigration) {
        let name = table.definition.name
        switch table.action {
        case .create: run([table.definition.creation])
        case .extend:
            run(
                table.newColumns.map {
                    "ALTER TABLE \(quoted(name)) ADD COLUMN \(quoted($0.name)) \($0.declaredType)"
                })
            let removed = pair.sourceMappings(in: name).filter { pair.successor($0.layout) == nil }
            if !removed.isEmpty { run([RowMoveSQL.removal(of: removed.map(\.number), from: name)]) }
            let new = Set(table.newColumns.map(\.name))
            run(table.moves.compactMap { $0.update(of: name, newColumns: new) })
            let numbers = EntityNumbers(table.moves.flatMap(\.numbers.pairs)).changing
            if !numbers.isEmpty { run([RowMoveSQL.renumbering(of: name, numbers)]) }
        case .rebuild:
            var definition = table.definition
            for column in table.sourceTables.flatMap({ table.foreignColumns[$0] ?? [] }) + table.computedColumns
            where !definition.columns.contains(where: { $0.name == column.name }) {
                definition.columns.append(column)
            }
            create(definition, table)
            let columns = table.definition.columns.map(\.name)
            run(
                table.moves.map {
                    $0.insertion(
                        into: name, columns: columns, from: TableMigration.temporaryName($0.sourceTable),
                        extra: (table.foreignColumns[$0.sourceTable] ?? []).map(\.name).filter { !columns.contains($0) }
                    )
                })
        }
    }

    /// Creates a table that takes the rows of others; one that other programs' columns do not fit stops the migration.
    private mutating func create(_ definition: TableDefinition, _ table: TableMigration) {
        let columns = table.foreignColumns.values.flatMap { $0 } + table.computedColumns
        guard !columns.isEmpty else { return run([definition.creation]) }
        let names = columns.map { "“\($0.name)”" }.sorted().joined(separator: ", ")
        steps.append(.create(definition.creation, columns: "\(definition.name): \(names)"))
    }

    // MARK: Indexes

    /// Drops the model's indexes on tables that stay, if the new model has no such index.
    private mutating func dropIndexes(keeping kept: Set<String>) throws {
        let wanted = Dictionary(
            pair.destination.indexes.map { ($0.name, $0.creation) }, uniquingKeysWith: { first, _ in first })
        let former = Set(pair.source.indexes.map(\.name))
        for (name, index) in structure.indexes.sorted(by: { $0.key < $1.key })
        where kept.contains(index.table) && index.sql != nil {
            guard former.contains(name) || wanted[name] != nil, wanted[name] != index.sql else { continue }
            run(["DROP INDEX \(quoted(name))"])
        }
    }

    private mutating func createIndexes(_ tables: [TableMigration], kept: Set<String>) throws {
        let wanted = pair.destination.indexes
        for index in wanted {
            let existing = structure.indexes[index.name]
            let stays = existing.map { kept.contains($0.table) && $0.sql == index.creation } ?? false
            if !stays { run([index.creation]) }
        }
        // Other programs' indexes on a table that was rebuilt.
        let known = Set((pair.source.indexes + wanted).map(\.name))
        for (name, index) in structure.indexes.sorted(by: { $0.key < $1.key }) where !known.contains(name) {
            guard let sql = index.sql, let columns = columns(of: index.table, tables, kept: kept) else { continue }
            if columns.isSuperset(of: index.columns) { run([sql]) }
        }
    }

    /// The columns of a table that was rebuilt; nil for any other.
    private func columns(of table: String, _ tables: [TableMigration], kept: Set<String>) -> Set<String>? {
        if let migration = tables.first(where: { $0.definition.name == table }) {
            guard migration.action == .rebuild else { return nil }
            return Set(
                migration.definition.columns.map(\.name) + migration.computedColumns.map(\.name)
                    + migration.foreignColumns.values.flatMap { $0.map(\.name) })
        }
        guard !kept.contains(table) else { return nil }
        return pair.destination.joinTables.first { $0.table.name == table }.map { Set($0.table.columns.map(\.name)) }
    }
}

/// The values of rows in SQLite's SQL.
struct SQLiteColumns: ColumnMoving {
    func literal(
        _ value: StoredValue, _ column: SlotColumn, _ attribute: AttributeLayout?, _ mapping: EntityMapping,
        _ schema: SQLSchema
    ) throws -> SQLFragment {
        let value = try RowWriter(mapping, schema: schema).encoded(value, column, attribute: attribute, files: nil)
        if case .blob(let data) = value, case .data(true) = column.storage {
            return "\(literal: .blob(ExternalData.inline(data)))"
        }
        return "\(literal: value)"
    }

    func moved(
        _ column: SlotColumn, _ source: AttributeLayout, to destination: SlotColumn, _ attribute: AttributeLayout,
        fallback: SQLFragment?
    ) -> MovedValue {
        ColumnConversion.value(
            column.name, from: source, column.storage, to: attribute, destination.storage, fallback: fallback)
    }

    func nested(_ column: String, _ path: [String], _ element: AttributeLayout) -> SQLFragment {
        NestedJSON.sql(column, path, element)
    }

    func nestedIsPresent(_ column: String, _ path: [String]) -> SQLFragment { NestedJSON.isPresent(column, path) }
}

/// Statements that compute derived attributes of existing objects: new ones, ones with a changed expression, ones whose
/// attribute gets other values, and ones that depend on other objects, which may have been removed.
enum DerivedFills {
    /// - Parameters:
    ///   - pair: both versions of the tables.
    ///   - sources: the sources of the columns of the entities that are not new, by name.
    /// - Returns: the statements.
    static func statements(_ pair: SchemaPair, _ sources: [String: ColumnSources]) -> [SQLFragment] {
        pair.destinationMappings.flatMap { mapping -> [SQLFragment] in
            let inherited = mapping.layout.superentity?.slots.count ?? 0
            return mapping.layout.slots[inherited...].compactMap { slot -> SQLFragment? in
                guard let attribute = slot.attribute?.description as? NSDerivedAttributeDescription, !slot.isTransient,
                    let expression = attribute.derivationExpression, let column = mapping.column(named: slot.name),
                    let derivation = Derivation(expressionTree(of: expression))
                else { return nil }
                guard needsValue(slot, derivation, mapping, pair, sources) else { return nil }
                return DerivationSQL.fill(column.name, derivation, mapping, pair.destination)
            }
        }
    }

    private static func needsValue(
        _ slot: SlotLayout, _ derivation: Derivation, _ mapping: EntityMapping, _ pair: SchemaPair,
        _ sources: [String: ColumnSources]
    ) -> Bool {
        switch derivation {
        case .aggregate: return true
        case .value(let path, _):
            if path.count > 1 || !pair.keepsValues(of: path[0], mapping, by: sources) { return true }
        case .now: break
        }
        guard let former = pair.former(mapping), let name = pair.plan(for: mapping)?.source(of: slot.name),
            let index = former.layout.slotIndex(forName: name)
        else { return true }
        return former.layout.slots[index].attribute?.derivation != slot.attribute?.derivation
    }
}

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

/// The migration of the join tables of many-to-many relationships.
struct JoinTableMigration {
    /// The join tables of the source that stay unchanged.
    private(set) var kept: Set<String> = []
    private(set) var creations: [String] = []
    /// The names of the tables that are made.
    private(set) var created: [String] = []
    private(set) var insertions: [SQLFragment] = []

    init(_ pair: SchemaPair, _ structure: StoreStructure, tableName: (String) -> String) {
        var done: Set<String> = []
        for mapping in pair.destinationMappings {
            let inherited = mapping.layout.superentity?.relationships.count ?? 0
            for relationship in mapping.layout.relationships[inherited...] {
                guard relationship.isManyToMany, case .joinTable(let join)? = mapping.toManys[relationship.index],
                    done.insert(join.table).inserted,
                    let definition = pair.destination.joinTables.first(where: { $0.table.name == join.table })
                else { continue }
                add(relationship, join, definition.table, in: pair, structure, tableName: tableName)
            }
        }
    }

    private mutating func add(
        _ relationship: RelationshipLayout, _ join: JoinMapping, _ definition: TableDefinition, in pair: SchemaPair,
        _ structure: StoreStructure, tableName: (String) -> String
    ) {
        let (formers, ofInverse) = (pair.formers(relationship), pair.formersOfInverse(relationship))
        if formers.count == 1, ofInverse.isEmpty, let former = formers.first?.layout,
            isUnchanged(former, join, definition, in: pair, structure), pair.keepsPairs(former, relationship)
        {
            kept.insert(definition.name)
            return
        }
        creations.append(definition.creation)
        created.append(definition.name)
        insertions += PairMove.insertions(relationship, join, in: pair, tableName: tableName)
    }

    /// Whether the source has the same table with the same columns.
    private func isUnchanged(
        _ former: RelationshipLayout, _ join: JoinMapping, _ definition: TableDefinition, in pair: SchemaPair,
        _ structure: StoreStructure
    ) -> Bool {
        guard let mapping = pair.source.mapping(of: former.source), former.isToMany,
            case .joinTable(let old)? = mapping.toManys[former.index]
        else { return false }
        return old.table == definition.name && old.sourceColumn == join.sourceColumn
            && old.destinationColumn == join.destinationColumn && old.orderColumn == join.orderColumn
            && Set(structure.columnNames(old.table)) == Set(definition.columns.map(\.name))
    }
}
