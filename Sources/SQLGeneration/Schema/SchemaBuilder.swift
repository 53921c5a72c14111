import CoreDataModel
import StoreEngine

/// Builds an ``SQLSchema``: first the names by the rules, then those of an existing store, and finally the mappings,
/// which need the columns of both ends of a relationship.
struct SchemaBuilder {
    let layout: ModelLayout
    /// The entities in the store, in the order of the layout.
    let entities: [EntityLayout]
    let numbers: [String: Int]
    private let names: SchemaNames
    let findings: [SchemaFinding]
    private let findingsByProperty: [String: [String: SchemaFinding]]
    private let joinMappings: [String: [String: JoinMapping]]

    init(
        layout: ModelLayout, entityNames: Set<String>?, numbers: [String: Int]?, catalog: StoreCatalog?,
        naming: (([EntityLayout], [String: Int]) -> SchemaNames)?
    ) {
        self.layout = layout
        // Superentities are included, as they own the table.
        let entities = layout.entities.filter { entity in
            guard let entityNames else { return true }
            return entity.selfAndSubentities.contains { entityNames.contains($0.name) }
        }
        var given: [String: Int] = [:]
        var next = (numbers?.values.filter { $0 < StoreTables.firstHistoryNumber }.max() ?? 0) + 1
        for entity in entities {
            if let number = numbers?[entity.name] {
                given[entity.name] = number
            } else {
                given[entity.name] = next
                next += 1
            }
        }
        var names = naming?(entities, given) ?? SchemaNaming(entities, numbers: given).names
        var findings: [SchemaFinding] = []
        if let catalog {
            (names, findings) = SchemaReconciliation(names, entities: entities, numbers: given, catalog: catalog).result
        }
        self.entities = entities
        self.numbers = given
        self.names = names
        self.findings = findings
        var byProperty: [String: [String: SchemaFinding]] = [:]
        for finding in findings { byProperty[finding.entity, default: [:]][finding.property ?? ""] = finding }
        findingsByProperty = byProperty
        var joins: [String: [String: JoinMapping]] = [:]
        for join in names.joins {
            let relationship = join.relationship
            var (mapping, inverseMapping) = (join.mapping, join.inverseMapping)
            // Up to Mac OS X 10.5, Core Data's join tables had neither types nor a key.
            mapping.isKeyless = catalog?.tables[join.table]?.allSatisfy(\.declaredType.isEmpty) ?? false
            inverseMapping.isKeyless = mapping.isKeyless
            joins[relationship.source.name, default: [:]][relationship.name] = mapping
            if let inverse = relationship.inverse, inverse !== relationship {
                joins[inverse.source.name, default: [:]][inverse.name] = inverseMapping
            }
        }
        joinMappings = joins
    }

    /// The mappings in the order of the layout's entities; nil for entities that the store does not hold.
    var mappings: [EntityMapping?] {
        layout.entities.map { entity in
            guard let number = numbers[entity.name], let table = names.tables[entity.root.name] else { return nil }
            return mapping(of: entity, number: number, table: table)
        }
    }

    /// The tables of the root entities, in the order of their numbers.
    var tables: [TableDefinition] {
        entities.compactMap { root in
            root.superentity == nil ? names.tables[root.name].map { table(named: $0, of: root) } : nil
        }
    }

    var joinTables: [JoinTableDefinition] {
        names.joins.map { $0.definition(rootName: $0.relationship.source.root.name) }
    }

    private func members(of root: EntityLayout) -> [EntityLayout] {
        root.selfAndSubentities.filter { numbers[$0.name] != nil }
    }

    private func number(_ entity: EntityLayout) -> Int { numbers[entity.name] ?? entity.number }

    // MARK: Tables

    private func table(named name: String, of root: EntityLayout) -> TableDefinition {
        var grouped: [(group: Int, column: TableDefinition.Column)] = []
        func add(_ name: String?, _ group: Int) {
            guard let name else { return }
            grouped.append((group, .init(name: name, declaredType: "INTEGER")))
        }
        for entity in members(of: root) {
            let own = (names.columns[entity.name] ?? [:]).values.sorted { $0.property < $1.property }
            for column in own.flatMap(\.flattened) where column.destination == nil {
                grouped.append(
                    (column.storage.group, .init(name: column.name, declaredType: column.storage.declaredType)))
            }
            for column in own where column.destination != nil {
                add(column.name, column.storage.group)
                add(column.entityColumn, column.storage.group)
                add(column.orderColumn, ColumnStorage.orderGroup)
            }
            for column in names.owners[entity.name] ?? [] {
                add(column.name, ColumnStorage.toOne.group)
                add(column.entityColumn, ColumnStorage.toOne.group)
                add(column.orderColumn, ColumnStorage.orderGroup)
            }
        }
        let fixed = [
            TableDefinition.Column(name: "Z_PK", declaredType: "INTEGER PRIMARY KEY"),
            TableDefinition.Column(name: "Z_ENT", declaredType: "INTEGER"),
            TableDefinition.Column(name: "Z_OPT", declaredType: "INTEGER"),
        ]
        let groups = Set(grouped.map(\.group)).sorted(by: <)
        let ordered = groups.flatMap { group in grouped.filter { $0.group == group }.map(\.column) }
        return TableDefinition(name: name, columns: fixed + ordered)
    }

    // MARK: Mappings

    private func mapping(of entity: EntityLayout, number: Int, table: String) -> EntityMapping {
        let lineage = entity.lineage
        let columns = entity.slots.map { slot in
            lineage.lazy.compactMap { names.columns[$0.name]?[slot.name] }.first
        }
        var unavailable: [String: SchemaFinding] = [:]
        for ancestor in lineage { unavailable.merge(findingsByProperty[ancestor.name] ?? [:]) { own, _ in own } }
        return EntityMapping(
            layout: entity, number: number, table: table, columns: columns,
            toManys: entity.relationships.map(toMany), owners: lineage.flatMap { names.owners[$0.name] ?? [] },
            numbers: members(of: entity).map { self.number($0) }.sorted(by: <),
            sharesTable: members(of: entity.root).count > 1, unavailable: unavailable)
    }

    private func toMany(_ relationship: RelationshipLayout) -> ToManyMapping? {
        guard relationship.isToMany, !relationship.isTransient,
            findingsByProperty[relationship.source.name]?[relationship.name] == nil
        else { return nil }
        if let join = joinMappings[relationship.source.name]?[relationship.name] { return .joinTable(join) }
        guard let table = names.tables[relationship.destination.root.name] else { return nil }
        if let inverse = relationship.inverse {
            guard let column = names.columns[inverse.source.name]?[inverse.name] else { return nil }
            return .foreignKey(
                ForeignKeyMapping(
                    table: table, column: column.name, entityColumn: column.entityColumn,
                    orderColumn: column.orderColumn, hasInverse: true))
        }
        let owners = names.owners[relationship.destination.name] ?? []
        return owners.first { $0.relationship === relationship }.map { column in
            .foreignKey(
                ForeignKeyMapping(
                    table: table, column: column.name, entityColumn: column.entityColumn,
                    orderColumn: column.orderColumn, hasInverse: false))
        }
    }
}

extension EntityLayout {
    /// The entity and its superentities, upwards.
    var lineage: [EntityLayout] {
        var lineage: [EntityLayout] = []
        var ancestor: EntityLayout? = self
        while let current = ancestor {
            lineage.append(current)
            ancestor = current.superentity
        }
        return lineage
    }
}
