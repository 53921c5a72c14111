import CompactCollections
import CoreDataModel
import SQLGeneration

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
