import SQLiteEngine
import CoreDataModel
import SQLGeneration

/// Statements that fill the columns of to-one relationships that no column of the source has: where only the inverse was
/// there before, and where a to-many relationship became ordered; and those that keep the owners of relationships without inverse.
enum RelationshipFills {
    static func statements(_ pair: SchemaPair, tableName: (String) -> String) -> [String] {
        pair.destinationMappings.flatMap { mapping -> [String] in
            let inherited = mapping.layout.superentity?.relationships.count ?? 0
            return mapping.layout.relationships[inherited...].flatMap { relationship -> [String] in
                guard relationship.slot >= 0, let column = mapping.columns[relationship.slot] else { return [] }
                return fromInverse(relationship, column, mapping, pair, tableName)
                    + order(relationship, column, mapping, pair)
            } + owners(mapping, pair, tableName)
        }
    }

    /// The owners by relationships without inverse: `UPDATE ZPET SET Z1PETS = p.Z_1USERS FROM Z_1PETS p WHERE … AND p.Z_2PETS = ZPET.Z_PK`,
    /// and none that are gone.
    private static func owners(
        _ mapping: EntityMapping, _ pair: SchemaPair, _ tableName: (String) -> String
    ) -> [String] {
        mapping.owners.filter { $0.relationship.destination === mapping.layout }.flatMap { owner -> [String] in
            guard let former = pair.former(owner.relationship) else { return [] }
            let table = quoted(mapping.table)
            let members = mapping.layout.selfAndSubentities.compactMap { pair.destination.mapping(of: $0) }
            let isCopied =
                pair.formerKey(owner).map { key in
                    members.allSatisfy { member in pair.former(member).map { $0.table == key.table } ?? true }
                } ?? false
            var statements: [String] = []
            if !isCopied, let pairs = RelationshipPairs(former, in: pair.source, tableName: tableName) {
                var changes = "\(quoted(owner.name)) = \(pairs.sourceKey)"
                if let column = owner.orderColumn, let order = pairs.order {
                    changes += ", \(quoted(column)) = \(order)"
                }
                statements.append(
                    "UPDATE \(table) SET \(changes) \(pairs.from) AND \(pairs.destinationKey) = \(table).Z_PK AND "
                        + entityCondition(mapping.numbers, column: "\(table).Z_ENT"))
            }
            let survives = pair.survives(
                "\(table).\(quoted(owner.name))", formerly: former.source, now: owner.relationship.source)
            if !survives.isEmpty {
                let cleared = owner.columns.map { "\(quoted($0)) = NULL" }.joined(separator: ", ")
                statements.append(
                    "UPDATE \(table) SET \(cleared) WHERE \(quoted(owner.name)) NOT NULL AND NOT (1\(survives))")
            }
            if let column = owner.orderColumn, !former.isOrdered {
                let key = quoted(owner.name)
                statements.append(
                    "UPDATE \(table) SET \(quoted(column)) = o.Z_FOK FROM (SELECT Z_PK, "
                        + "\(RelationshipPairs.newOrder(partition: key, by: "Z_PK")) AS Z_FOK FROM \(table) "
                        + "WHERE \(key) NOT NULL) o WHERE o.Z_PK = \(table).Z_PK")
            }
            return statements
        }
    }

    /// `UPDATE ZPET SET ZOWNER = p.Z_PK FROM ZUSER p WHERE p.ZPET NOT NULL AND p.ZPET = ZPET.Z_PK`
    private static func fromInverse(
        _ relationship: RelationshipLayout, _ column: SlotColumn, _ mapping: EntityMapping, _ pair: SchemaPair,
        _ tableName: (String) -> String
    ) -> [String] {
        guard pair.former(relationship) == nil, let inverse = relationship.inverse, inverse !== relationship,
            let former = pair.former(inverse),
            let pairs = RelationshipPairs(former, in: pair.source, tableName: tableName),
            let target = pair.destination.mapping(of: relationship.destination)
        else { return [] }
        let table = quoted(mapping.table)
        // The inverse leads from the destination to this object.
        let condition = pair.survives(pairs.sourceKey, formerly: former.source, now: relationship.destination)
        var changes = "\(quoted(column.name)) = \(pairs.sourceKey)"
        if let order = column.orderColumn, let value = pairs.order { changes += ", \(quoted(order)) = \(value)" }
        var statements = [
            "UPDATE \(table) SET \(changes) \(pairs.from) AND \(pairs.destinationKey) = \(table).Z_PK AND "
                + "\(entityCondition(mapping.numbers, column: "\(table).Z_ENT"))\(condition)"
        ]
        if let entity = column.entityColumn {
            statements.append(
                "UPDATE \(table) SET \(quoted(entity)) = (SELECT t.Z_ENT FROM \(quoted(target.table)) t WHERE "
                    + "t.Z_PK = \(table).\(quoted(column.name))) WHERE \(quoted(column.name)) NOT NULL")
        }
        return statements
    }

    /// The order of a to-many relationship that had none: by primary keys.
    private static func order(
        _ relationship: RelationshipLayout, _ column: SlotColumn, _ mapping: EntityMapping, _ pair: SchemaPair
    ) -> [String] {
        guard let order = column.orderColumn, let inverse = relationship.inverse else { return [] }
        let wasOrdered = pair.former(inverse)?.isOrdered ?? false
        guard !wasOrdered, pair.former(relationship) != nil || pair.former(inverse) != nil else { return [] }
        let table = quoted(mapping.table)
        let key = quoted(column.name)
        return [
            "UPDATE \(table) SET \(quoted(order)) = o.Z_FOK FROM (SELECT Z_PK, "
                + "\(RelationshipPairs.newOrder(partition: key, by: "Z_PK")) AS Z_FOK FROM \(table) "
                + "WHERE \(key) NOT NULL) o WHERE o.Z_PK = \(table).Z_PK"
        ]
    }
}
