import CompactCollections
import CoreDataModel
import SQLGeneration

/// Statements that fill columns of to-one relationships without a column in the source: if only the inverse existed
/// before, and if a to-many relationship became ordered; and statements that keep the owners of relationships without
/// inverse.
package enum RelationshipFills {
    package static func statements(_ pair: SchemaPair, tableName: (String) -> String) -> [SQLFragment] {
        pair.destinationMappings.flatMap { mapping -> [SQLFragment] in
            let inherited = mapping.layout.superentity?.relationships.count ?? 0
            return mapping.layout.relationships[inherited...].flatMap { relationship -> [SQLFragment] in
                guard relationship.slot >= 0, let column = mapping.columns[relationship.slot] else { return [] }
                return fromInverse(relationship, column, mapping, pair, tableName)
                    + order(relationship, column, mapping, pair)
            } + owners(mapping, pair, tableName)
        }
    }

    /// The owners by relationships without inverse: `UPDATE ZPET SET Z1PETS = p.Z_1USERS FROM Z_1PETS p WHERE … AND
    /// p.Z_2PETS = ZPET.Z_PK`, without removed ones.
    private static func owners(
        _ mapping: EntityMapping, _ pair: SchemaPair, _ tableName: (String) -> String
    ) -> [SQLFragment] {
        mapping.owners.filter { $0.relationship.destination === mapping.layout }.flatMap { owner -> [SQLFragment] in
            guard let former = pair.former(owner.relationship) else { return [] }
            let members = mapping.layout.selfAndSubentities.compactMap { pair.destination.mapping(of: $0) }
            let isCopied =
                pair.formerKey(owner).map { key in
                    members.allSatisfy { member in pair.former(member).map { $0.table == key.table } ?? true }
                } ?? false
            var statements: [SQLFragment] = []
            if !isCopied, let pairs = StoredPairs(former, in: pair.source, tableName: tableName) {
                let values = filled(owner.name, owner.orderColumn, from: pairs)
                statements.append(PairMoveSQL.connection(mapping, values: values, of: pairs, where: []))
            }
            if let owners = pair.mapping(losing: former.source, to: owner.relationship.source) {
                statements.append(PairMoveSQL.release(owner, in: mapping.table, from: owners))
            }
            if let column = owner.orderColumn, !former.isOrdered {
                statements.append(PairMoveSQL.order(column, by: owner.name, in: mapping.table))
            }
            return statements
        }
    }

    /// The values of a column of keys, and of the one with their places.
    private static func filled(
        _ column: String, _ orderColumn: String?, from pairs: StoredPairs
    ) -> [(column: String, value: SQLFragment)] {
        var values = [(column: column, value: pairs.sourceKey)]
        if let orderColumn, let order = pairs.order { values.append((orderColumn, order)) }
        return values
    }

    /// `UPDATE ZPET SET ZOWNER = p.Z_PK FROM ZUSER p WHERE p.ZPET NOT NULL AND p.ZPET = ZPET.Z_PK`
    private static func fromInverse(
        _ relationship: RelationshipLayout, _ column: SlotColumn, _ mapping: EntityMapping, _ pair: SchemaPair,
        _ tableName: (String) -> String
    ) -> [SQLFragment] {
        guard pair.former(relationship) == nil, let inverse = relationship.inverse, inverse !== relationship,
            let former = pair.former(inverse),
            let pairs = StoredPairs(former, in: pair.source, tableName: tableName),
            let target = pair.destination.mapping(of: relationship.destination)
        else { return [] }
        // The inverse leads from the destination to this object.
        let survives = pair.survives(pairs.sourceKey, formerly: former.source, now: relationship.destination)
        let values = filled(column.name, column.orderColumn, from: pairs)
        var statements = [
            PairMoveSQL.connection(mapping, values: values, of: pairs, where: survives.map { [$0] } ?? [])
        ]
        if let entity = column.entityColumn {
            statements.append(PairMoveSQL.entity(entity, of: column.name, in: mapping.table, target))
        }
        return statements
    }

    /// The order of a to-many relationship that had none: by primary keys.
    private static func order(
        _ relationship: RelationshipLayout, _ column: SlotColumn, _ mapping: EntityMapping, _ pair: SchemaPair
    ) -> [SQLFragment] {
        guard let order = column.orderColumn, let inverse = relationship.inverse else { return [] }
        let wasOrdered = pair.former(inverse)?.isOrdered ?? false
        guard !wasOrdered, pair.former(relationship) != nil || pair.former(inverse) != nil else { return [] }
        return [PairMoveSQL.order(order, by: column.name, in: mapping.table)]
    }
}
