import CoreDataModel
import MigrationPlans

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

/// A relationship of the source whose pairs a relationship of the destination takes over.
package struct FormerRelationship {
    package let layout: RelationshipLayout
    /// The table and the entities of the objects that had it; nil if all objects with pairs of the relationship did.
    let restriction: (table: String, numbers: [Int])?

    /// The conditions on a pair that its source, whose key is given, is one of these objects.
    func conditions(_ key: SQLFragment) -> [SQLFragment] {
        restriction.map { [PairMoveSQL.exists(key, in: $0.table, $0.numbers)] } ?? []
    }
}

extension SchemaPair {
    /// The former relationships of a destination's relationship, by the entities that inherit it: several if properties
    /// of subentities became one.
    package func formers(_ relationship: RelationshipLayout) -> [FormerRelationship] {
        known.formers(relationship) { foundFormers(relationship) }
    }

    private func foundFormers(_ relationship: RelationshipLayout) -> [FormerRelationship] {
        var found: [(layout: RelationshipLayout, members: [EntityMapping])] = []
        var positions: [ObjectIdentifier: Int] = [:]
        // How many of the relationships the objects of an entity and its subentities have.
        var counts: [ObjectIdentifier: Int] = [:]
        for member in relationship.source.selfAndSubentities {
            guard let mapping = destination.mapping(of: member), let former = former(mapping),
                let layout = plan(for: mapping)?.source(of: relationship.name).flatMap({
                    former.layout.relationship(named: $0)
                })
            else { continue }
            if let position = positions[ObjectIdentifier(layout)] {
                found[position].members.append(mapping)
                continue
            }
            positions[ObjectIdentifier(layout)] = found.count
            found.append((layout, [mapping]))
            for entity in sequence(first: layout.source, next: \.superentity) {
                counts[ObjectIdentifier(entity), default: 0] += 1
            }
        }
        return found.map { layout, members in
            // Objects of a subentity may have the pairs of another relationship than those of its parent.
            let isShared = counts[ObjectIdentifier(layout.source), default: 0] > 1
            return FormerRelationship(
                layout: layout, restriction: isShared ? (members[0].table, members.map(\.number)) : nil)
        }
    }

    /// The former relationships of the inverse whose pairs no former relationship of this side has: for a relationship
    /// that becomes its own inverse, what it was itself.
    package func formersOfInverse(_ relationship: RelationshipLayout) -> [FormerRelationship] {
        guard let inverse = relationship.inverse else { return [] }
        let own = formers(relationship)
        return formers(inverse).filter { former in !own.contains { $0.layout === former.layout.inverse } }
    }
}

/// The pairs of a relationship that go into a join table. Pure.
package struct PairMove {
    private let pairs: StoredPairs
    private let former: FormerRelationship
    private let relationship: RelationshipLayout
    private let join: JoinMapping
    private let isReversed: Bool

    /// - Parameters:
    ///   - pairs: the pairs in the store.
    ///   - former: the relationship with the pairs.
    ///   - relationship: the relationship that it became.
    ///   - join: the table, from the side of the relationship after which it is named.
    ///   - isReversed: whether that is the inverse of `relationship`.
    private init(
        _ pairs: StoredPairs, _ former: FormerRelationship, _ relationship: RelationshipLayout, _ join: JoinMapping,
        isReversed: Bool
    ) {
        (self.pairs, self.former, self.relationship) = (pairs, former, relationship)
        (self.join, self.isReversed) = (join, isReversed)
    }

    /// `INSERT OR IGNORE INTO Z_1TAGS (Z_1BOOKS, Z_4TAGS) SELECT p.ZBOOK, p.Z_PK FROM ZTAG p WHERE …`
    ///
    /// - Parameters:
    ///   - pair: both versions of the tables.
    ///   - isFirst: whether the table is empty; otherwise pairs without an order come after those that are there.
    /// - Returns: the statement.
    private func insertion(in pair: SchemaPair, isFirst: Bool) -> SQLFragment {
        func newOrder(_ column: String, of owners: String, _ partition: SQLFragment, by key: SQLFragment) -> SQLFragment
        {
            isFirst
                ? StoredPairs.newOrder(partition: partition, by: key)
                : PairMoveSQL.furtherOrder(column, of: owners, in: join.table, source: partition, destination: key)
        }
        // The source and destination, from the side of the relationship after which the table is named.
        let source = isReversed ? pairs.destinationKey : pairs.sourceKey
        let destination = isReversed ? pairs.sourceKey : pairs.destinationKey
        let order = isReversed ? pairs.inverseOrder : pairs.order
        let inverseOrder = isReversed ? pairs.order : pairs.inverseOrder
        var values = [(column: join.sourceColumn, value: source), (join.destinationColumn, destination)]
        if let column = join.orderColumn {
            values.append((column, order ?? newOrder(column, of: join.sourceColumn, source, by: destination)))
        }
        if let column = (isReversed ? relationship.inverse : relationship).flatMap(pair.destination.inverseOrderColumn)
        {
            values.append(
                (column, inverseOrder ?? newOrder(column, of: join.destinationColumn, destination, by: source)))
        }
        let conditions =
            [
                pair.survives(pairs.sourceKey, formerly: former.layout.source, now: relationship.source),
                pair.survives(pairs.destinationKey, formerly: former.layout.destination, now: relationship.destination),
            ].compactMap { $0 } + former.conditions(pairs.sourceKey)
        return PairMoveSQL.insertion(into: join.table, values: values, of: pairs, where: conditions)
    }
}

extension PairMove {
    /// Fills a new join table with the pairs of all relationships that became this one or its inverse.
    ///
    /// - Parameters:
    ///   - relationship: the relationship after which the table is named.
    ///   - join: the table, from this side.
    ///   - pair: both versions of the tables.
    ///   - tableName: the present name of a table with rows.
    /// - Returns: the statements.
    package static func insertions(
        _ relationship: RelationshipLayout, _ join: JoinMapping, in pair: SchemaPair, tableName: (String) -> String
    ) -> [SQLFragment] {
        var insertions: [SQLFragment] = []
        func add(_ formers: [FormerRelationship], _ relationship: RelationshipLayout, isReversed: Bool) {
            for former in formers {
                guard let pairs = StoredPairs(former.layout, in: pair.source, tableName: tableName) else { continue }
                let move = PairMove(pairs, former, relationship, join, isReversed: isReversed)
                insertions.append(move.insertion(in: pair, isFirst: insertions.isEmpty))
            }
        }
        add(pair.formers(relationship), relationship, isReversed: false)
        if let inverse = relationship.inverse {
            add(pair.formersOfInverse(relationship), inverse, isReversed: true)
        }
        return insertions
    }
}

extension SchemaPair {
    /// Whether all objects that a relationship connects still exist afterwards.
    package func keepsPairs(_ former: RelationshipLayout, _ relationship: RelationshipLayout) -> Bool {
        mapping(losing: former.source, to: relationship.source) == nil
            && mapping(losing: former.destination, to: relationship.destination) == nil
    }
}
