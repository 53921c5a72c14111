import CoreDataModel

/// The rules by which Core Data names tables and columns: pure, from a model and the numbers of its entities.
struct SchemaNaming {
    private let entities: [EntityLayout]
    private let numbers: [String: Int]
    private(set) var names = SchemaNames()
    /// The relationships without inverse that lead to an entity, by its name.
    private var owning: [String: [RelationshipLayout]] = [:]

    /// - Parameters:
    ///   - entities: the entities in the store, each root followed by its subentities.
    ///   - numbers: their numbers, by name.
    init(_ entities: [EntityLayout], numbers: [String: Int]) {
        self.entities = entities
        self.numbers = numbers
        for entity in entities {
            for relationship in Self.declared(entity.relationships, by: entity)
            where relationship.isToMany && relationship.inverse == nil && !relationship.isTransient {
                owning[relationship.destination.name, default: []].append(relationship)
            }
        }
        var tables = ColumnNames()
        for root in entities where root.superentity == nil {
            names.tables[root.name] = tables.next(for: root.name)
            nameColumns(of: root)
        }
        nameJoinTables()
    }

    private func members(of root: EntityLayout) -> [EntityLayout] {
        root.selfAndSubentities.filter { numbers[$0.name] != nil }
    }

    private func number(_ entity: EntityLayout) -> Int { numbers[entity.name] ?? entity.number }

    /// The relationships that an entity declares itself, by name.
    private static func declared(
        _ relationships: [RelationshipLayout], by entity: EntityLayout
    ) -> [RelationshipLayout] {
        relationships[(entity.superentity?.relationships.count ?? 0)...].sorted { $0.name < $1.name }
    }

    // MARK: Columns

    private mutating func nameColumns(of root: EntityLayout) {
        var taken = ColumnNames(reserved: ["Z_PK", "Z_ENT", "Z_OPT"])
        for entity in members(of: root) {
            var columns: [String: SlotColumn] = [:]
            let ownSlots = entity.slots[(entity.superentity?.slots.count ?? 0)...].filter { !$0.isTransient }
            for slot in ownSlots.sorted(by: { $0.name < $1.name }) {
                switch slot.kind {
                case .attribute(let attribute):
                    columns[slot.name] = Self.column(of: attribute, path: slot.name, names: &taken)
                case .toOne(let relationship):
                    columns[slot.name] = column(of: relationship, names: &taken)
                }
            }
            names.columns[entity.name] = columns
            let owning = (owning[entity.name] ?? []).sorted { first, second in
                let numbers = (number(first.source), number(second.source))
                return numbers.0 == numbers.1 ? first.name < second.name : numbers.0 < numbers.1
            }
            names.owners[entity.name] = owning.map { relationship in
                let base = "\(number(relationship.source))\(relationship.name)"
                let name = taken.next(for: base)
                return OwnerColumn(
                    relationship: relationship, name: name, entityColumn: nil,
                    orderColumn: relationship.isOrdered ? taken.next(forOrderOf: base) : nil)
            }
        }
    }

    /// The column of an attribute. The elements of a composite attribute have columns under their own names, in
    /// declaration order.
    private static func column(
        of attribute: AttributeLayout, path: String, names: inout ColumnNames
    ) -> SlotColumn? {
        if attribute.type == .compositeAttributeType {
            let elements = attribute.elements.compactMap {
                Self.column(of: $0, path: path + "." + $0.name, names: &names)
            }
            guard !elements.isEmpty else { return nil }
            return SlotColumn(
                property: path, name: "", storage: .transformable(allowsExternal: false), elements: elements)
        }
        guard let storage = ColumnStorage(attribute) else { return nil }
        var column = SlotColumn(property: path, name: names.next(for: attribute.name), storage: storage)
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
        if let inverse = relationship.inverse, inverse.isOrdered {
            column.orderColumn = names.next(forOrderOf: relationship.name)
        }
        return column
    }

    // MARK: Join tables

    private mutating func nameJoinTables() {
        // The column with an entity's own keys, by entity and relationship. Columns of the same name are numbered in
        // the order of the relationships of the entity whose keys they hold.
        var keyColumns: [String: [String: String]] = [:]
        for root in entities where root.superentity == nil {
            var taken: Set<String> = []
            for entity in members(of: root) {
                for relationship in Self.declared(entity.relationships, by: entity)
                where relationship.isManyToMany && !relationship.isTransient {
                    guard let inverse = relationship.inverse, inverse !== relationship else { continue }
                    let base = "Z_\(number(entity))\(inverse.name.uppercased())"
                    var (name, digit) = (base, 0)
                    while !taken.insert(name).inserted {
                        digit += 1
                        name = base + String(digit)
                    }
                    keyColumns[entity.name, default: [:]][relationship.name] = name
                }
            }
        }
        var tables: Set<String> = []
        for entity in entities {
            for relationship in Self.declared(entity.relationships, by: entity)
            where relationship.isManyToMany && !relationship.isTransient && Self.namesTheTable(relationship)
                && numbers[relationship.destination.name] != nil
            {
                guard let inverse = relationship.inverse else { continue }
                let base = "Z_\(number(entity))\(relationship.name.uppercased())"
                var (table, digit) = (base, 0)
                // Two relationships may differ only in case.
                while !tables.insert(table).inserted {
                    digit += 1
                    table = base + String(digit)
                }
                names.joins.append(
                    JoinTableNames(
                        relationship, table: table,
                        sourceColumn: keyColumns[entity.name]?[relationship.name] ?? "REFLEXIVE",
                        destinationColumn: keyColumns[inverse.source.name]?[inverse.name] ?? table))
            }
        }
    }

    /// Whether a many-to-many relationship is the one of the pair that gives the join table its name: the one of the
    /// entity that comes first by name; within one entity, the one that comes last by name.
    private static func namesTheTable(_ relationship: RelationshipLayout) -> Bool {
        guard let inverse = relationship.inverse, inverse !== relationship else { return true }
        let source = relationship.source.name
        let other = inverse.source.name
        return source == other ? relationship.name > inverse.name : source < other
    }
}

/// Hands out the names of one table's columns, or of a store's tables, as Core Data does: `Z` and the name in capitals,
/// followed by a number if the name is taken.
struct ColumnNames {
    private var taken: Set<String>

    init(reserved: Set<String> = []) { taken = reserved }

    /// The name for a property or entity: `ZNAME`, or `ZNAME1`, `ZNAME2` if that is taken.
    mutating func next(for name: String) -> String {
        let base = "Z" + name.uppercased()
        var candidate = base
        var digit = 0
        while !taken.insert(candidate).inserted {
            digit += 1
            candidate = base + String(digit)
        }
        return candidate
    }

    /// The name for the order column of a relationship: `Z_FOK_OWNER`. It is numbered by itself, whatever the number of
    /// the relationship's own column is.
    mutating func next(forOrderOf name: String) -> String { next(for: "_FOK_\(name)") }
}

/// The names of a store's tables and columns, by entity and property: from the naming rules, or from an existing store.
package struct SchemaNames {
    /// The tables of the root entities.
    package var tables: [String: String] = [:]
    /// The column of every attribute and to-one relationship that an entity declares, by entity and property.
    package var columns: [String: [String: SlotColumn]] = [:]
    /// The columns in which an entity's rows keep the owners of to-many relationships without inverse that lead to it,
    /// by entity, in the order of the table.
    package var owners: [String: [OwnerColumn]] = [:]
    /// The join tables.
    package var joins: [JoinTableNames] = []

    package init() {}
}

/// The column in which a destination's row keeps its owner, for a to-many relationship without inverse: `Z1SPEC` for
/// the relationship `spec` of the entity with number 1.
package struct OwnerColumn: Sendable {
    package let relationship: RelationshipLayout
    package var name: String
    /// The column with the owner's `Z_ENT`, if a store has one. Pippin's own stores have none.
    package var entityColumn: String?
    /// The column with the place among the owner's objects, for an ordered relationship.
    package var orderColumn: String?

    package init(
        relationship: RelationshipLayout, name: String, entityColumn: String? = nil, orderColumn: String? = nil
    ) {
        (self.relationship, self.name, self.entityColumn, self.orderColumn) = (
            relationship, name, entityColumn, orderColumn
        )
    }

    /// All of them.
    package var columns: [String] { [name, entityColumn, orderColumn].compactMap { $0 } }
}

/// The tables that every store has in addition to those of its entities: `Z_PRIMARYKEY` numbers the entities and counts
/// keys; `Z_METADATA` has the store's UUID and metadata; `Z_MODELCACHE` has a copy of the model. Others belong to the
/// persistent history.
package enum StoreTables {
    /// Whether a table is one of these.
    package static func isReserved(_ table: String) -> Bool {
        ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"].contains(
            table.uppercased())
    }

    /// The first of the numbers of the history's entities, which are above those of any model.
    package static let firstHistoryNumber = 16001

    /// The history's entities as `Z_PRIMARYKEY` has them.
    package static let historyEntities: [(number: Int, name: String)] = [
        (16001, "CHANGE"), (16002, "TRANSACTION"), (16003, "TRANSACTIONSTRING"),
    ]
}
