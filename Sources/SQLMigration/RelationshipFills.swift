import CompactCollections
import CoreDataModel
import MigrationPlans
import SQLGeneration

/// Steps that fill columns of to-one relationships without a column in the source: if only the inverse existed before,
/// and if a to-many relationship became ordered; and steps that keep the owners of relationships without inverse.
///
/// A column keeps one object. Where several lead to the same row, none is chosen: the migration stops.
package enum RelationshipFills {
    package enum Step {
        case run(SQLFragment)
        case check(MigrationCheck)
    }

    package static func steps(_ pair: SchemaPair, tableName: (String) -> String) -> [Step] {
        pair.destinationMappings.flatMap { mapping -> [Step] in
            let inherited = mapping.layout.superentity?.relationships.count ?? 0
            return mapping.layout.relationships[inherited...].flatMap { relationship -> [Step] in
                guard relationship.slot >= 0, let column = mapping.columns[relationship.slot] else { return [] }
                return fromInverse(relationship, column, mapping, pair, tableName)
                    + order(relationship, column, mapping, pair)
            } + owners(mapping, pair, tableName)
        }
    }

    /// The owners by relationships without inverse: `UPDATE ZPET AS u SET Z1PETS = p.Z_1USERS FROM Z_1PETS p WHERE …
    /// AND p.Z_2PETS = u.Z_PK`, without removed ones.
    private static func owners(
        _ mapping: EntityMapping, _ pair: SchemaPair, _ tableName: (String) -> String
    ) -> [Step] {
        mapping.owners.filter { $0.relationship.destination === mapping.layout }.flatMap { owner -> [Step] in
            let formers = pair.formers(owner.relationship)
            guard !formers.isEmpty else { return [] }
            let members = mapping.layout.selfAndSubentities.compactMap { pair.destination.mapping(of: $0) }
            let isCopied =
                pair.formerKey(owner).map { key in
                    members.allSatisfy { member in pair.former(member).map { $0.table == key.table } ?? true }
                } ?? false
            var steps: [Step] = []
            if !isCopied {
                let violation = violation(owner.relationship)
                for former in formers {
                    guard let pairs = StoredPairs(former.layout, in: pair.source, tableName: tableName) else {
                        continue
                    }
                    let survives = pair.survives(
                        pairs.sourceKey, formerly: former.layout.source, now: owner.relationship.source)
                    steps += fill(
                        owner.name, owner.orderColumn, mapping, pairs,
                        where: (survives.map { [$0] } ?? []) + former.conditions(pairs.sourceKey),
                        isEmpty: formers.count == 1, violation)
                }
            }
            let lost = formers.lazy.compactMap {
                pair.mapping(losing: $0.layout.source, to: owner.relationship.source)
            }
            if let owners = lost.first {
                steps.append(.run(PairMoveSQL.release(owner, in: mapping.table, from: owners)))
            }
            return steps + order(owner.orderColumn, by: owner.name, in: mapping.table, formers)
        }
    }

    /// Fills the columns of a key and of its place with the sources of pairs. `isEmpty` says whether no row has a key
    /// before.
    private static func fill(
        _ column: String, _ orderColumn: String?, _ mapping: EntityMapping, _ pairs: StoredPairs,
        where conditions: [SQLFragment], isEmpty: Bool, _ violation: MigrationViolation
    ) -> [Step] {
        var values = [(column: column, value: pairs.sourceKey)]
        if let orderColumn, let order = pairs.order { values.append((orderColumn, order)) }
        var steps: [Step] = []
        if !pairs.haveOneSourceEach {
            steps.append(.check(.init(PairMoveSQL.shared(mapping, pairs, where: conditions), violation)))
        }
        if !isEmpty {
            steps.append(.check(.init(PairMoveSQL.taken(column, mapping, pairs, where: conditions), violation)))
        }
        return steps + [.run(PairMoveSQL.connection(mapping, values: values, of: pairs, where: conditions))]
    }

    private static func violation(_ relationship: RelationshipLayout) -> MigrationViolation {
        MigrationViolation(
            entity: relationship.source.name, property: relationship.name, isRelationship: true,
            reason: MigrationViolation.severalOwners)
    }

    /// `UPDATE ZPET AS u SET ZOWNER = p.Z_PK FROM ZUSER p WHERE p.ZPET NOT NULL AND p.ZPET = u.Z_PK`
    private static func fromInverse(
        _ relationship: RelationshipLayout, _ column: SlotColumn, _ mapping: EntityMapping, _ pair: SchemaPair,
        _ tableName: (String) -> String
    ) -> [Step] {
        guard let target = pair.destination.mapping(of: relationship.destination) else { return [] }
        let formers = pair.formersOfInverse(relationship)
        let isNew = formers.count == 1 && pair.formers(relationship).isEmpty
        var steps: [Step] = []
        for former in formers {
            guard let pairs = StoredPairs(former.layout, in: pair.source, tableName: tableName) else { continue }
            // The inverse leads from the destination to this object.
            let survives = pair.survives(
                pairs.sourceKey, formerly: former.layout.source, now: relationship.destination)
            steps += fill(
                column.name, column.orderColumn, mapping, pairs,
                where: (survives.map { [$0] } ?? []) + former.conditions(pairs.sourceKey), isEmpty: isNew,
                violation(relationship))
        }
        if let entity = column.entityColumn, !steps.isEmpty {
            steps.append(.run(PairMoveSQL.entity(entity, of: column.name, in: mapping.table, target)))
        }
        return steps
    }

    /// The order of a to-many relationship that had none: by primary keys.
    private static func order(
        _ relationship: RelationshipLayout, _ column: SlotColumn, _ mapping: EntityMapping, _ pair: SchemaPair
    ) -> [Step] {
        guard let inverse = relationship.inverse else { return [] }
        let formers = pair.formers(inverse) + pair.formersOfInverse(inverse)
        return order(column.orderColumn, by: column.name, in: mapping.table, formers)
    }

    /// Places for objects that had none. If some had one, they stay before the others.
    private static func order(
        _ column: String?, by key: String, in table: String, _ formers: [FormerRelationship]
    ) -> [Step] {
        guard let column, !formers.allSatisfy(\.layout.isOrdered) else { return [] }
        let isPartial = formers.contains(where: \.layout.isOrdered)
        return [.run(PairMoveSQL.order(column, by: key, in: table, isPartial: isPartial))]
    }
}
