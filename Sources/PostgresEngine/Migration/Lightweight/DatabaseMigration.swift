import CoreDataModel
import MigrationPlans
import PostgresConnection
import SQLGeneration

/// A lightweight migration as a value: the steps that turn the tables of a store into those of another model, in order
/// and in one transaction. Pure.
///
/// No object is loaded. Afterwards the schema has the tables, columns, indexes and references of a new store of the
/// model.
package struct DatabaseMigration {
    /// The steps, in order.
    package var steps: [MigrationStep] = []
    let pair: SchemaPair
    let structure: DatabaseStructure
    let source: TableCreation
    let destination: TableCreation
    let tables: [TablePlan]
    let joins: JoinPlan
    /// The present name of each source table, while the new ones are filled.
    let places: [String: String]
    /// Whether rows are written, so that references would be checked.
    private let movesRows: Bool
    /// The sources of the columns of the entities that are not new, by name.
    private let columnSources: [String: ColumnSources]

    /// Works out the steps.
    ///
    /// - Parameters:
    ///   - plan: the migration of each entity.
    ///   - source: the present schema of the store.
    ///   - destination: the new schema.
    ///   - structure: the existing tables and columns.
    /// - Throws: an `NSError` for a default value or a derived attribute that the store cannot hold.
    package init(
        plan: MappingPlan, from source: SQLSchema, to destination: SQLSchema, structure: DatabaseStructure
    ) throws {
        let pair = SchemaPair(plan: plan, from: source, to: destination, PostgresColumns())
        self.pair = pair
        self.structure = structure
        self.source = TableCreation(source)
        self.destination = TableCreation(destination)
        let tables = try pair.destinationMappings.filter { $0.layout.superentity == nil }.map {
            try TablePlan($0, in: pair)
        }
        self.tables = tables
        var places: [String: String] = [:]
        for former in self.source.tables { places[former.table] = Self.formerName(former.table) }
        for table in tables where table.action == .alter { places[table.sources[0]] = table.table }
        let joins = JoinPlan(pair) { places[$0] ?? $0 }
        for join in joins.kept { places[join] = join }
        self.joins = joins
        self.places = places
        movesRows =
            tables.contains { $0.action == .rebuild || !$0.columns.moves.isEmpty } || !joins.insertions.isEmpty
            || pair.sourceMappings.contains { pair.successor($0.layout) == nil }
            || !RelationshipFills.steps(pair, tableName: { $0 }).isEmpty
        columnSources = Dictionary(tables.flatMap(\.columnSources), uniquingKeysWith: { first, _ in first })
        try build()
    }

    static func formerName(_ table: String) -> String {
        QualifiedName.make(
            schema: QualifiedName.schema(table), name: SnakeCase.distinct("_former_\(QualifiedName.name(table))"))
    }

    /// The tables whose rows move to new ones.
    var replaced: [TableCreation.TableStatement] {
        source.tables.filter { table in
            guard structure.columns[table.table] != nil, places[table.table] == Self.formerName(table.table) else {
                return false
            }
            let members = pair.sourceMappings(in: table.table)
            return members.isEmpty ? !joins.insertions.isEmpty : members.contains { pair.successor($0.layout) != nil }
        }
    }

    mutating func addStep(_ sql: String) { steps.append(.run(sql)) }
    mutating func addStep(_ fragments: [SQLFragment]) { steps += fragments.map { .run($0.postgres.text) } }
    func alter(_ table: String) -> String { "ALTER TABLE \(quotedName(table))" }

    /// The tables of the source that are removed.
    private var leaving: [String] {
        source.tables.map(\.table).filter { places[$0] == Self.formerName($0) }
    }

    private mutating func build() throws {
        addChecks()
        let droppedReferences = dropReferences()
        let droppedIndexes = dropIndexes()
        renameTables()
        for table in tables { fill(table) }
        for join in destination.tables where joins.created.contains(join.table) { addStep(join.creation) }
        addStep(joins.insertions)
        let places = places
        for step in RelationshipFills.steps(pair, tableName: { places[$0] ?? $0 }) {
            switch step {
            case .run(let statement): addStep([statement])
            case .check(let found): check([found])
            }
        }
        finishColumns()
        let former = leaving.map { quotedName(Self.formerName($0)) }
        if !former.isEmpty { addStep("DROP TABLE \(former.joined(separator: ", "))") }
        try addStep(
            DerivedColumn.all(in: pair.destination).filter(needsValues).compactMap {
                try $0.fill(in: pair.destination)
            })
        check(MandatoryChecks.checks(pair))
        for index in destination.indexes where !isKept(index) || droppedIndexes.contains(index.name) {
            addStep(index.creation)
        }
        addReferences(dropped: droppedReferences)
        grant()
        history()
    }

    // MARK: Checks before the first step

    /// Adds checks for rows that would be lost, or do not fit.
    private mutating func addChecks() {
        for table in source.tables {
            let members = pair.sourceMappings(in: table.table)
            guard !members.isEmpty, structure.columns[table.table] != nil else { continue }
            steps.append(
                .expectNone(
                    CheckSQL.strangers(in: table.table, among: members.map(\.number)).postgres.text,
                    MigrationViolation(
                        entity: members[0].layout.root.name,
                        reason:
                            "The table \(QualifiedName.name(table.table)) has rows of an entity that the source model does not know"
                    )))
        }
        check(FormerRowChecks.checks(pair))
    }

    private mutating func check(_ checks: [MigrationCheck]) {
        steps += checks.map { .expectNone($0.select.postgres.text, $0.violation) }
    }

    /// Drops the references, which are checked once all rows are there.
    private mutating func dropReferences() -> Bool {
        guard movesRows else {
            addStep("SET CONSTRAINTS ALL IMMEDIATE")
            return false
        }
        for table in source.tables {
            for name in structure.references[table.table] ?? [] {
                addStep("\(alter(table.table)) DROP CONSTRAINT \(quotedName(name))")
            }
        }
        addStep("SET CONSTRAINTS ALL IMMEDIATE")
        return true
    }

    /// Whether an index of the destination exists already, and stays.
    private func isKept(_ index: TableCreation.IndexStatement) -> Bool {
        let stays =
            joins.kept.contains(index.table)
            || tables.contains { $0.table == index.table && $0.action == .alter && $0.sources == [index.table] }
        return stays && source.indexes.contains(index)
            && structure.indexes[index.table]?.contains(index.name) ?? false
    }

    /// - Returns: the names of the dropped ones.
    private mutating func dropIndexes() -> Set<String> {
        var dropped: Set<String> = []
        for index in source.indexes where structure.indexes[index.table]?.contains(index.name) ?? false {
            // The indexes of a dropped table are dropped with it.
            guard places[index.table] != Self.formerName(index.table) else { continue }
            if let same = destination.indexes.first(where: { $0 == index }), isKept(same) { continue }
            addStep(index.removal)
            dropped.insert(index.name)
        }
        return dropped
    }

    private mutating func renameTables() {
        func rename(_ old: String, _ new: String) -> String {
            "\(alter(old)) RENAME TO \(quotedName(QualifiedName.name(new)))"
        }
        let present = leaving.filter { structure.columns[$0] != nil }
        for table in present {
            addStep(rename(table, Self.formerName(table)))
            // The partitions of the new table may need these names.
            for part in structure.parts[table] ?? [] { addStep(rename(part, Self.formerName(part))) }
        }
        let moving = tables.filter { $0.action == .alter && $0.sources[0] != $0.table }
        // Two tables may exchange their names.
        for table in moving { addStep(rename(table.sources[0], Self.formerName(table.sources[0]))) }
        for table in moving { addStep(rename(Self.formerName(table.sources[0]), table.table)) }
    }

    // MARK: Tables

    private mutating func fill(_ table: TablePlan) {
        switch table.action {
        case .create: addStep(creation(of: table))
        case .alter: change(table)
        case .rebuild:
            addStep(creation(of: table))
            let columns = TableCreation.columns(of: pair.destinationMappings(in: table.table))
            addStep(
                table.moves.map {
                    $0.insertion(
                        into: table.table, columns: columns.map(\.name), from: Self.formerName($0.sourceTable),
                        extra: [])
                })
            // No key may be assigned twice.
            let counts = table.sources.map {
                "pg_sequence_last_value(pg_get_serial_sequence(\(quotedText(quotedName(Self.formerName($0)))), '\(ColumnName.key)')::regclass)"
            }
            addStep(
                "SELECT setval(pg_get_serial_sequence(\(quotedText(quotedName(table.table))), '\(ColumnName.key)')::regclass, k) FROM "
                    + "(SELECT GREATEST(\(counts.joined(separator: ", "))) AS k) c WHERE k IS NOT NULL")
        }
    }

    private func creation(of table: TablePlan) -> String {
        destination.tables.first { $0.table == table.table }?.creation ?? ""
    }

    private mutating func change(_ table: TablePlan) {
        let columns = table.columns
        for (name, kind, value) in columns.added {
            let addition = "\(alter(table.table)) ADD COLUMN \(quotedName(name)) \(kind.declaration)"
            // All rows get the value without being rewritten.
            addStep(addition + (value.map { " DEFAULT \($0.postgres.text)" } ?? ""))
            if value != nil { addStep("\(alter(table.table)) ALTER COLUMN \(quotedName(name)) DROP DEFAULT") }
        }
        let removed = pair.sourceMappings(in: table.sources[0]).filter { pair.successor($0.layout) == nil }
        if !removed.isEmpty { addStep([RowMoveSQL.removal(of: removed.map(\.number), from: table.table)]) }
        addStep(columns.moves.compactMap { $0.update(of: table.table, newColumns: Set(columns.added.map(\.name))) })
        let former = pair.sourceMappings(in: table.sources[0]).first { $0.layout.superentity == nil }
        if let former, former.number != table.root.number {
            addStep("\(alter(table.table)) ALTER COLUMN \(ColumnName.entity) SET DEFAULT \(table.root.number)")
        }
    }

    /// Renames columns and changes their types, once nothing reads the former ones.
    private mutating func finishColumns() {
        for table in tables where table.action == .alter {
            for column in table.columns.removed { addStep("\(alter(table.table)) DROP COLUMN \(quotedName(column))") }
            for (old, new) in table.columns.renamed {
                addStep("\(alter(table.table)) RENAME COLUMN \(quotedName(old)) TO \(quotedName(new))")
            }
            for (name, kind, value) in table.columns.changed {
                addStep(
                    "\(alter(table.table)) ALTER COLUMN \(quotedName(name)) TYPE \(kind.declaration) USING \(value.postgres.text)"
                )
            }
        }
    }

    /// Whether a derived attribute is new, is computed differently or from an attribute that gets other values, or
    /// depends on other objects, which may have been removed.
    func needsValues(_ derived: DerivedColumn) -> Bool {
        guard case .object = derived.source else { return movesRows || !isFormer(derived) }
        return !isFormer(derived)
            || derived.input.map { !pair.keepsValues(of: $0, derived.mapping, by: columnSources) } ?? false
    }

    private func isFormer(_ derived: DerivedColumn) -> Bool {
        let slot = derived.mapping.layout.slots[derived.slot]
        guard let former = pair.former(derived.mapping),
            let index = pair.plan(for: derived.mapping)?.source(of: slot.name).flatMap({
                former.layout.slotIndex(forName: $0)
            })
        else { return false }
        return former.layout.slots[index].attribute?.derivation == slot.attribute?.derivation
    }
}

/// How the tables of many-to-many relationships are made. Pure.
struct JoinPlan {
    /// The tables that stay unchanged.
    private(set) var kept: Set<String> = []
    private(set) var created: [String] = []
    private(set) var insertions: [SQLFragment] = []

    /// - Parameters:
    ///   - pair: both versions of the tables.
    ///   - tableName: the present name of a table with rows.
    init(_ pair: SchemaPair, tableName: (String) -> String) {
        var done: Set<String> = []
        for mapping in pair.destinationMappings {
            let inherited = mapping.layout.superentity?.relationships.count ?? 0
            for relationship in mapping.layout.relationships[inherited...] {
                guard relationship.isManyToMany, case .joinTable(let join)? = mapping.toManys[relationship.index],
                    done.insert(join.table).inserted
                else { continue }
                add(relationship, join, pair, tableName)
            }
        }
    }

    private mutating func add(
        _ relationship: RelationshipLayout, _ join: JoinMapping, _ pair: SchemaPair, _ tableName: (String) -> String
    ) {
        let (formers, ofInverse) = (pair.formers(relationship), pair.formersOfInverse(relationship))
        if formers.count == 1, ofInverse.isEmpty, let former = formers.first?.layout,
            Self.isSame(former, relationship, join, in: pair), pair.keepsPairs(former, relationship)
        {
            kept.insert(join.table)
            return
        }
        created.append(join.table)
        insertions += PairMove.insertions(relationship, join, in: pair, tableName: tableName)
    }

    /// Whether the source has the same table with the same columns.
    private static func isSame(
        _ former: RelationshipLayout, _ relationship: RelationshipLayout, _ join: JoinMapping, in pair: SchemaPair
    ) -> Bool {
        guard let mapping = pair.source.mapping(of: former.source), former.isToMany,
            case .joinTable(let old)? = mapping.toManys[former.index]
        else { return false }
        return old.table == join.table && old.sourceColumn == join.sourceColumn
            && old.destinationColumn == join.destinationColumn && old.orderColumn == join.orderColumn
            && pair.source.inverseOrderColumn(of: former) == pair.destination.inverseOrderColumn(of: relationship)
    }
}
