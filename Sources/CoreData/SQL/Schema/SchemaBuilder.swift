import Ordering

/// Works out an ``SQLSchema``: first every entity's columns, then the relationships, which need the columns of both ends.
struct SchemaBuilder {
    let layout: ModelLayout
    let catalog: StoreCatalog?
    /// The entities in the store, in the order of the layout.
    let entities: [EntityLayout]
    let numbers: [String: Int]
    private(set) var mappings: [EntityMapping?] = []
    private(set) var tables: [TableDefinition] = []
    private(set) var joinTables: [JoinTableDefinition] = []

    private var tableNames: [String: String] = [:]
    /// The column of every property that an entity declares, by entity and property.
    private var ownColumns: [String: [String: SlotColumn]] = [:]
    /// The names that many-to-many relationships take in their root's table, by entity and property, without the Z.
    private var joinNames: [String: [String: String]] = [:]
    private var joinMappings: [String: [String: JoinMapping]] = [:]

    init(layout: ModelLayout, entityNames: Set<String>?, numbers: [String: Int]?, catalog: StoreCatalog?) {
        self.layout = layout
        self.catalog = catalog
        // Ancestors come along: the table is theirs.
        entities = layout.entities.filter { entity in
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
        self.numbers = given
    }

    mutating func build() {
        var names = ColumnNames()
        for root in entities where root.superentity == nil {
            tableNames[root.name] = names.next(for: root.name)
            nameColumns(of: root)
        }
        for root in entities where root.superentity == nil { tables.append(table(of: root)) }
        for entity in entities { nameJoinTables(of: entity) }
        mappings = layout.entities.map { entity in numbers[entity.name].map { mapping(of: entity, number: $0) } }
    }

    private func members(of root: EntityLayout) -> [EntityLayout] {
        root.selfAndSubentities.filter { numbers[$0.name] != nil }
    }

    private func number(_ entity: EntityLayout) -> Int { numbers[entity.name] ?? entity.number }

    // MARK: Columns

    private mutating func nameColumns(of root: EntityLayout) {
        var names = ColumnNames(reserved: ["Z_PK", "Z_ENT", "Z_OPT"])
        for entity in members(of: root) {
            var columns: [String: SlotColumn] = [:]
            let ownSlots = entity.slots[(entity.superentity?.slots.count ?? 0)...].filter { !$0.isTransient }
            for slot in ownSlots.ordered(by: { $0.name < $1.name }) {
                switch slot.kind {
                case .attribute(let attribute):
                    columns[slot.name] = Self.column(of: attribute, path: slot.name, names: &names)
                case .toOne(let relationship):
                    columns[slot.name] = column(of: relationship, names: &names)
                }
            }
            ownColumns[entity.name] = columns
            let ownRelationships = entity.relationships[(entity.superentity?.relationships.count ?? 0)...]
            for relationship in ownRelationships.ordered(by: { $0.name < $1.name })
            where relationship.isManyToMany && !relationship.isTransient {
                let name = names.next(for: relationship.name)
                joinNames[entity.name, default: [:]][relationship.name] = String(name.dropFirst())
            }
        }
    }

    private static func column(
        of attribute: AttributeLayout, path: String, names: inout ColumnNames
    ) -> SlotColumn? {
        if attribute.type == .compositeAttributeType {
            let elements = attribute.elements.ordered { $0.name < $1.name }.compactMap {
                Self.column(of: $0, path: path + "." + $0.name, names: &names)
            }
            guard !elements.isEmpty else { return nil }
            return SlotColumn(
                property: path, name: "", storage: .transformable(allowsExternal: false), elements: elements)
        }
        guard let storage = ColumnStorage(attribute) else { return nil }
        let name = names.next(for: path.replacing(".", with: "_"))
        var column = SlotColumn(property: path, name: name, storage: storage)
        column.isDerived = attribute.derivation != nil
        return column
    }

    private func column(of relationship: RelationshipLayout, names: inout ColumnNames) -> SlotColumn {
        let name = names.next(for: relationship.name)
        var column = SlotColumn(property: relationship.name, name: name, storage: .toOne)
        column.destination = relationship.destination
        if relationship.destination.selfAndSubentities.count > 1 {
            column.entityColumn = "Z\(number(relationship.destination))_\(name.dropFirst())"
        }
        if let inverse = relationship.inverse, inverse.isOrdered { column.orderColumn = "Z_FOK_\(name.dropFirst())" }
        return column
    }

    private func table(of root: EntityLayout) -> TableDefinition {
        var grouped: [(group: Int, column: TableDefinition.Column)] = []
        for entity in members(of: root) {
            let own = (ownColumns[entity.name] ?? [:]).values.ordered { $0.property < $1.property }
            for column in own.flatMap(\.flattened) where column.destination == nil {
                grouped.append(
                    (column.storage.group, .init(name: column.name, declaredType: column.storage.declaredType)))
            }
            for column in own where column.destination != nil {
                grouped.append((column.storage.group, .init(name: column.name, declaredType: "INTEGER")))
                if let name = column.entityColumn {
                    grouped.append((column.storage.group, .init(name: name, declaredType: "INTEGER")))
                }
                if let name = column.orderColumn {
                    grouped.append((ColumnStorage.orderGroup, .init(name: name, declaredType: "INTEGER")))
                }
            }
        }
        let fixed = [
            TableDefinition.Column(name: "Z_PK", declaredType: "INTEGER PRIMARY KEY"),
            TableDefinition.Column(name: "Z_ENT", declaredType: "INTEGER"),
            TableDefinition.Column(name: "Z_OPT", declaredType: "INTEGER"),
        ]
        let groups = Set(grouped.map(\.group)).sorted()
        let ordered = groups.flatMap { group in grouped.filter { $0.group == group }.map(\.column) }
        return TableDefinition(name: tableNames[root.name] ?? "", columns: fixed + ordered)
    }

    // MARK: Join tables

    private mutating func nameJoinTables(of entity: EntityLayout) {
        let own = entity.relationships[(entity.superentity?.relationships.count ?? 0)...]
        for relationship in own.ordered(by: { $0.name < $1.name })
        where relationship.isManyToMany && !relationship.isTransient && Self.namesTheTable(relationship)
            && numbers[relationship.destination.name] != nil
        {
            let join = JoinTableNames(
                relationship, source: number(entity), destination: number(relationship.destination),
                name: joinNames[entity.name]?[relationship.name] ?? relationship.name.uppercased(),
                inverseName: relationship.inverse.flatMap { joinNames[$0.source.name]?[$0.name] }, catalog: catalog)
            joinTables.append(join.definition(rootName: entity.root.name))
            joinMappings[entity.name, default: [:]][relationship.name] = join.mapping
            if let inverse = relationship.inverse, inverse !== relationship {
                joinMappings[inverse.source.name, default: [:]][inverse.name] = join.inverseMapping
            }
        }
    }

    /// Whether a many-to-many relationship is the one of the pair that its join table is named after: the one of the
    /// entity that comes first by name; within one entity, the one that comes last by name.
    private static func namesTheTable(_ relationship: RelationshipLayout) -> Bool {
        guard let inverse = relationship.inverse, inverse !== relationship else { return true }
        let source = relationship.source.name
        let other = inverse.source.name
        return source == other ? relationship.name > inverse.name : source < other
    }

    // MARK: Mappings

    private func mapping(of entity: EntityLayout, number: Int) -> EntityMapping {
        var lineage: [EntityLayout] = []
        var ancestor: EntityLayout? = entity
        while let current = ancestor {
            lineage.append(current)
            ancestor = current.superentity
        }
        let columns = entity.slots.map { slot in
            lineage.lazy.compactMap { ownColumns[$0.name]?[slot.name] }.first
        }
        let toManys = entity.relationships.map { relationship -> ToManyMapping? in
            guard relationship.isToMany, !relationship.isTransient else { return nil }
            if relationship.isManyToMany {
                return joinMappings[relationship.source.name]?[relationship.name].map(ToManyMapping.joinTable)
            }
            guard let inverse = relationship.inverse, let column = ownColumns[inverse.source.name]?[inverse.name] else {
                return nil
            }
            return .foreignKey(
                ForeignKeyMapping(
                    table: tableNames[inverse.source.root.name] ?? "", column: column.name,
                    entityColumn: column.entityColumn, orderColumn: column.orderColumn))
        }
        return EntityMapping(
            layout: entity, number: number, table: tableNames[entity.root.name] ?? "", columns: columns,
            toManys: toManys, numbers: members(of: entity).map { self.number($0) }.sorted(),
            sharesTable: members(of: entity.root).count > 1)
    }
}
