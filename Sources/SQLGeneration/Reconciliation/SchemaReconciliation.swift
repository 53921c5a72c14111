import CoreDataModel
import StoreEngine

/// Matches the names by the rules to those of an existing store. Pure.
///
/// The rules only predict how tables and columns are named; if the file differs, the file is right. A name that follows
/// the rules costs one dictionary lookup. Otherwise, tables are found by name and columns, columns by name and type,
/// and join tables by the numbers and names of both ends. Only unambiguous matches are accepted: everything else is
/// reported, and the rest of the store remains usable.
struct SchemaReconciliation {
    private let rule: SchemaNames
    private let entities: [EntityLayout]
    private let numbers: [String: Int]
    private let catalog: StoreCatalog
    private var names = SchemaNames()
    private var findings: [SchemaFinding] = []

    var result: (names: SchemaNames, findings: [SchemaFinding]) { (names, findings) }

    init(_ rule: SchemaNames, entities: [EntityLayout], numbers: [String: Int], catalog: StoreCatalog) {
        self.rule = rule
        self.entities = entities
        self.numbers = numbers
        self.catalog = catalog
        let roots = entities.filter { $0.superentity == nil }
        let wanted = roots.map { WantedTable($0, members: members(of: $0), names: rule) }
        let matches = TableMatching(catalog.tables).matches(wanted)
        var taken: Set<String> = []
        for (root, (wanted, match)) in zip(roots, zip(wanted, matches)) {
            switch match {
            case .found(let table):
                taken.insert(table)
                names.tables[root.name] = table
                reconcile(wanted, table: table)
            case .ambiguous(let names): report(root, nil, wanted.name, .ambiguous, names, isTable: true)
            case .missing: report(root, nil, wanted.name, .missing, isTable: true)
            }
        }
        reconcileJoins(taken: taken)
        reportInverses()
    }

    private func members(of root: EntityLayout) -> [EntityLayout] {
        root.selfAndSubentities.filter { numbers[$0.name] != nil }
    }

    private mutating func report(
        _ entity: EntityLayout, _ property: String?, _ expected: String, _ problem: SchemaFinding.Problem,
        _ candidates: [String] = [], isTable: Bool = false
    ) {
        // One finding per property is enough.
        guard !findings.contains(where: { $0.entity == entity.name && $0.property == property }) else { return }
        findings.append(
            SchemaFinding(
                entity: entity.name, property: property, expected: expected, isTable: isTable, problem: problem,
                candidates: candidates))
    }

    // MARK: Columns

    private mutating func reconcile(_ wanted: WantedTable, table: String) {
        let columns = catalog.tables[table] ?? []
        let matching = ColumnMatching(columns)
        let matches = matching.matches(wanted.columns.map(\.wanted))
        var found: [String: String] = [:]
        var taken: Set<String> = []
        for (column, match) in zip(wanted.columns, matches) {
            let expected = "\(table).\(column.wanted.name)"
            switch match {
            case .found(let name):
                found[column.wanted.name] = name
                taken.insert(name)
            case .ambiguous(let candidates):
                taken.formUnion(candidates)
                guard column.owner == nil else { continue }
                report(column.entity, column.property, expected, .ambiguous, candidates)
            case .missing:
                // A relationship without inverse may have a join table instead, which is looked for later.
                guard column.owner == nil else { continue }
                report(column.entity, column.property, expected, .missing)
            }
        }
        let dependents = DependentColumns(
            of: wanted, found: found, among: columns.filter { !taken.contains($0.name) },
            unused: catalog.unused[table] ?? [])
        for entity in members(of: wanted.root) {
            var resolved: [String: SlotColumn] = [:]
            for (property, column) in (rule.columns[entity.name] ?? [:]).sorted(by: { $0.key < $1.key }) {
                resolved[property] = renamed(column, found, dependents, entity, table)
            }
            names.columns[entity.name] = resolved
            names.owners[entity.name] = (rule.owners[entity.name] ?? []).compactMap { owner in
                guard let name = found[owner.name] else { return nil }
                return renamed(owner, to: name, dependents, table)
            }
        }
    }

    /// A column with the names of the store; nil if it is unknown.
    private mutating func renamed(
        _ column: SlotColumn, _ found: [String: String], _ dependents: DependentColumns, _ entity: EntityLayout,
        _ table: String
    ) -> SlotColumn? {
        if column.isComposite {
            let elements = column.elements.compactMap { renamed($0, found, dependents, entity, table) }
            guard elements.count == column.elements.count else { return nil }
            var composite = column
            composite.elements = elements
            return composite
        }
        guard let name = found[column.name] else { return nil }
        var result = column
        result.name = name
        if let expected = column.entityColumn {
            guard let name = accompanying(expected, dependents, entity, column.property, table) else { return nil }
            result.entityColumn = name
        }
        if let expected = column.orderColumn, let inverse = entity.relationship(named: column.property)?.inverse {
            result.orderColumn = accompanying(expected, dependents, inverse.source, inverse.name, table)
        }
        return result
    }

    private mutating func renamed(
        _ owner: OwnerColumn, to name: String, _ dependents: DependentColumns, _ table: String
    ) -> OwnerColumn {
        var result = owner
        result.name = name
        result.entityColumn = dependents.entityColumn(ofOwner: name)
        if let expected = owner.orderColumn {
            result.orderColumn = accompanying(
                expected, dependents, owner.relationship.source, owner.relationship.name, table)
        }
        return result
    }

    /// A column that accompanies a relationship's; nil if it is unknown, which is reported for a property.
    private mutating func accompanying(
        _ expected: String, _ dependents: DependentColumns, _ entity: EntityLayout, _ property: String, _ table: String
    ) -> String? {
        switch dependents.match(expected) {
        case .found(let name): return name
        case .ambiguous(let names): report(entity, property, "\(table).\(expected)", .ambiguous, names)
        case .missing: report(entity, property, "\(table).\(expected)", .missing)
        }
        return nil
    }

    // MARK: Join tables

    private mutating func reconcileJoins(taken: Set<String>) {
        let known = Set(names.owners.values.joined().map { ObjectIdentifier($0.relationship) })
        // For relationships without inverse whose destinations have no column for them, earlier versions of Pippin made
        // join tables.
        let rest = rule.owners.values.joined().filter { !known.contains(ObjectIdentifier($0.relationship)) }
            .sorted { ($0.relationship.source.name, $0.name) < ($1.relationship.source.name, $1.name) }
        let former = rest.map { formerJoin($0.relationship) }
        let matching = JoinTableMatching(
            catalog.tables.filter { !taken.contains($0.key) && !StoreTables.isReserved($0.key) }, numbers: numbers)
        let (matches, joins) = matching.matches(rule.joins + former)
        names.joins = joins.compactMap { $0 }
        for (index, (join, match)) in zip(rule.joins + former, matches).enumerated() {
            let relationship = join.relationship
            var expected = join.table
            var isTable = true
            if index >= rule.joins.count {
                let destination = relationship.destination.root
                // If the destination's table is unknown, that has been reported already.
                expected =
                    "\(names.tables[destination.name] ?? destination.name).\(rest[index - rule.joins.count].name)"
                isTable = false
            }
            switch match {
            case .found: break
            case .ambiguous(let candidates):
                report(relationship.source, relationship.name, expected, .ambiguous, candidates, isTable: isTable)
            case .missing: report(relationship.source, relationship.name, expected, .missing, isTable: isTable)
            }
        }
    }

    /// The join table that earlier versions of Pippin made for a relationship without inverse.
    private func formerJoin(_ relationship: RelationshipLayout) -> JoinTableNames {
        let source = numbers[relationship.source.name] ?? 0
        let destination = numbers[relationship.destination.name] ?? 0
        let name = relationship.name.uppercased()
        return JoinTableNames(
            relationship, table: "Z_\(source)\(name)",
            sourceColumn: "Z_\(source)\(relationship.source.name.uppercased())",
            destinationColumn: "Z_\(destination)\(name)")
    }

    /// Reports the inverses of unknown relationships, which share their column or table.
    private mutating func reportInverses() {
        for finding in findings {
            guard let property = finding.property,
                let entity = entities.first(where: { $0.name == finding.entity }),
                let relationship = entity.relationship(named: property), let inverse = relationship.inverse,
                inverse !== relationship, !relationship.isToMany || relationship.isManyToMany
            else { continue }
            // A to-one relationship has a column of its own, independent of the other end.
            guard inverse.isToMany else { continue }
            report(
                inverse.source, inverse.name, finding.expected, finding.problem, finding.candidates,
                isTable: finding.isTable)
        }
    }
}

/// Finds the columns that accompany those of relationships: the destination's entity, and the place in an order. Pure.
///
/// All of a table are looked for together, and only among the columns that no property has, so that none gets a column
/// that belongs to another.
struct DependentColumns {
    private let matches: [String: ColumnMatching.Match]
    private let free: [TableDefinition.Column]

    /// - Parameters:
    ///   - table: the relationships, with the names by the rules.
    ///   - found: the columns of the relationships in the store, by the names of the rules.
    ///   - columns: the columns that no property has.
    ///   - unused: the columns that are still to be removed.
    init(
        of table: WantedTable, found: [String: String], among columns: [TableDefinition.Column], unused: Set<String>
    ) {
        let entities = table.columns.map { column in
            column.entityColumn.flatMap { StoredName.numbered($0, prefix: "Z")?.number }
        }
        let known = Set(entities.compactMap { $0 })
        let others = columns.compactMap { column in
            StoredName.numbered(StoredName.key(column.name), prefix: "Z").map { (column.name, $0.number, $0.rest) }
        }.filter { !known.contains($0.1) }
        // Where entities' columns are numbered by their own names, as order columns are.
        var numbered = ColumnNames()
        var wanted: [ColumnMatching.Wanted] = []
        for (column, entity) in zip(table.columns, entities) {
            // The columns of a relationship that is unknown are looked for, too: they are not another's.
            let key = found[column.wanted.name] ?? column.wanted.name
            if let name = column.orderColumn { wanted.append(Self.order(name, column.wanted, key: key)) }
            if let name = column.entityColumn, let entity {
                let own = numbered.next(for: "\(entity)_\(column.wanted.stem.dropFirst())")
                let rest = StoredName.key("_\(key.dropFirst())")
                let renumbered = others.filter { $0.2 == rest }
                wanted.append(
                    Self.entity(
                        name, entity, column.wanted,
                        others: ["Z\(entity)_\(key.dropFirst())", own, renumbered.count == 1 ? renumbered[0].0 : name]))
            }
        }
        let result = ColumnMatching(columns, unused: unused).matches(wanted)
        matches = Dictionary(zip(wanted.map(\.name), result), uniquingKeysWith: { first, _ in first })
        var taken: Set<String> = []
        for match in result {
            switch match {
            case .found(let name): taken.insert(name)
            case .ambiguous(let names): taken.formUnion(names)
            case .missing: break
            }
        }
        free = columns.filter { !taken.contains($0.name) }
    }

    /// `Z_FOK_OWNER`. Earlier versions of Pippin gave it the number of the relationship's own column.
    private static func order(
        _ name: String, _ column: ColumnMatching.Wanted, key: String
    ) -> ColumnMatching.Wanted {
        ColumnMatching.Wanted(
            name: name, stem: "Z_FOK_\(column.stem.dropFirst())", others: ["Z_FOK_\(key.dropFirst())"],
            former: column.former.map { "Z_FOK_\($0.dropFirst())" }, type: "INTEGER",
            prefix: column.prefix.map { "\($0)_FOK_" })
    }

    /// `Z7_OWNER`, with the number of the relationship's own column, or with one of its own. The entity may have
    /// another number in the column's name than in the store.
    private static func entity(
        _ name: String, _ number: Int, _ column: ColumnMatching.Wanted, others: [String]
    ) -> ColumnMatching.Wanted {
        ColumnMatching.Wanted(
            name: name, stem: "Z\(number)_\(column.stem.dropFirst())", others: others,
            former: column.former.map { "Z\(number)_\($0.dropFirst())" }, type: "INTEGER", prefix: "Z")
    }

    /// The column that has a name by the rules.
    func match(_ expected: String) -> ColumnMatching.Match { matches[expected] ?? .missing }

    /// `Z7_1SPEC` for `Z1SPEC`, with any number: only stores of others have such a column.
    func entityColumn(ofOwner column: String) -> String? {
        let rest = StoredName.key("_" + column.dropFirst())
        let found = free.filter { StoredName.numbered(StoredName.key($0.name), prefix: "Z")?.rest == rest }
        return found.count == 1 ? found[0].name : nil
    }
}
