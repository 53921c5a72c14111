import SQLiteEngine
import CoreDataModel
import SQLGeneration

/// The pairs of objects that a relationship of the source connects, as SQL.
struct RelationshipPairs {
    /// What selects the pairs, after `SELECT`, with the columns by their names below.
    let from: String
    let sourceKey: String
    let destinationKey: String
    /// The place of the destination among the source's objects; `nil` for an unordered relationship.
    let order: String?
    /// The place of the source among the destination's objects.
    let inverseOrder: String?

    /// The result is `nil` where the store has no pairs of the relationship.
    ///
    /// - Parameters:
    ///   - relationship: the relationship, of the source's model.
    ///   - schema: the store's tables.
    ///   - tableName: where a former table's rows are now.
    init?(_ relationship: RelationshipLayout, in schema: SQLSchema, tableName: (String) -> String) {
        guard let owner = schema.mapping(of: relationship.source) else { return nil }
        if !relationship.isToMany {
            guard relationship.slot >= 0, let column = owner.columns[relationship.slot] else { return nil }
            from = "FROM \(quoted(tableName(owner.table))) p WHERE p.\(quoted(column.name)) NOT NULL"
            sourceKey = "p.Z_PK"
            destinationKey = "p.\(quoted(column.name))"
            order = nil
            inverseOrder = column.orderColumn.map { "p.\(quoted($0))" }
            return
        }
        switch owner.toManys[relationship.index] {
        case .foreignKey(let key)?:
            from = "FROM \(quoted(tableName(key.table))) p WHERE p.\(quoted(key.column)) NOT NULL"
            sourceKey = "p.\(quoted(key.column))"
            destinationKey = "p.Z_PK"
            order = key.orderColumn.map { "p.\(quoted($0))" }
            inverseOrder = nil
        case .joinTable(let join)?:
            from = "FROM \(quoted(tableName(join.table))) p WHERE p.\(quoted(join.sourceColumn)) NOT NULL"
            sourceKey = "p.\(quoted(join.sourceColumn))"
            destinationKey = "p.\(quoted(join.destinationColumn))"
            order = join.orderColumn.map { "p.\(quoted($0))" }
            inverseOrder = RelationshipPairs.inverseOrder(relationship, schema)
        case nil: return nil
        }
    }

    private static func inverseOrder(_ relationship: RelationshipLayout, _ schema: SQLSchema) -> String? {
        guard let inverse = relationship.inverse, inverse !== relationship,
            let mapping = schema.mapping(of: inverse.source),
            case .joinTable(let join)? = mapping.toManys[inverse.index]
        else { return nil }
        return join.orderColumn.map { "p.\(quoted($0))" }
    }

    /// An order key for pairs that had none: Core Data's first key and distance, by primary keys.
    static func newOrder(partition: String, by key: String) -> String {
        "\(OrderKeys.first - OrderKeys.step) + \(OrderKeys.step) * row_number() OVER (PARTITION BY \(partition) ORDER BY \(key))"
    }
}

extension SchemaPair {
    /// What to add to a `WHERE` so that a key is one of an object that is still there; empty where all are.
    func survives(_ key: String, formerly entity: EntityLayout, now: EntityLayout) -> String {
        let stay = entity.selfAndSubentities.allSatisfy { member in
            guard source.mapping(of: member) != nil else { return true }
            return successor(member).map { $0.layout.isKind(of: now) } ?? false
        }
        guard !stay, let mapping = destination.mapping(of: now) else { return "" }
        return " AND EXISTS (SELECT 1 FROM \(quoted(mapping.table)) d WHERE d.Z_PK = \(key) AND "
            + "\(entityCondition(mapping.numbers, column: "d.Z_ENT")))"
    }
}
