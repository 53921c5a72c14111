import SQLiteEngine
import CoreDataModel
import SQLGeneration

/// How the join tables of many-to-many relationships come about.
struct JoinTableMigration {
    /// The join tables of the source that stay as they are.
    private(set) var kept: Set<String> = []
    private(set) var creations: [String] = []
    private(set) var insertions: [SQLFragment] = []

    init(_ pair: SchemaPair, tableName: (String) -> String) {
        var done: Set<String> = []
        for mapping in pair.destinationMappings {
            let inherited = mapping.layout.superentity?.relationships.count ?? 0
            for relationship in mapping.layout.relationships[inherited...] {
                guard relationship.isManyToMany, case .joinTable(let join)? = mapping.toManys[relationship.index],
                    done.insert(join.table).inserted,
                    let definition = pair.destination.joinTables.first(where: { $0.table.name == join.table })
                else { continue }
                add(relationship, join, definition.table, in: pair, tableName: tableName)
            }
        }
    }

    private mutating func add(
        _ relationship: RelationshipLayout, _ join: JoinMapping, _ definition: TableDefinition, in pair: SchemaPair,
        tableName: (String) -> String
    ) {
        let former = pair.former(relationship)
        let formerInverse = relationship.inverse.flatMap { $0 === relationship ? nil : pair.former($0) }
        if let former, isUnchanged(former, join, definition, in: pair), stays(former, relationship, in: pair) {
            kept.insert(definition.name)
            return
        }
        creations.append(definition.creation)
        if let former, let pairs = StoredPairs(former, in: pair.source, tableName: tableName) {
            insert(pairs, former, relationship, join, isReversed: false, in: pair)
        } else if let formerInverse, let inverse = relationship.inverse,
            let pairs = StoredPairs(formerInverse, in: pair.source, tableName: tableName)
        {
            insert(pairs, formerInverse, inverse, join, isReversed: true, in: pair)
        }
    }

    /// Whether the source has the same table with the same columns.
    private func isUnchanged(
        _ former: RelationshipLayout, _ join: JoinMapping, _ definition: TableDefinition, in pair: SchemaPair
    ) -> Bool {
        guard let mapping = pair.source.mapping(of: former.source), former.isToMany,
            case .joinTable(let old)? = mapping.toManys[former.index]
        else { return false }
        return old.table == definition.name && old.sourceColumn == join.sourceColumn
            && old.destinationColumn == join.destinationColumn && old.orderColumn == join.orderColumn
            && Set(pair.structure.columnNames(old.table)) == Set(definition.columns.map(\.name))
    }

    private func stays(_ former: RelationshipLayout, _ relationship: RelationshipLayout, in pair: SchemaPair) -> Bool {
        pair.mapping(losing: former.source, to: relationship.source) == nil
            && pair.mapping(losing: former.destination, to: relationship.destination) == nil
    }

    /// `INSERT OR IGNORE INTO Z_1TAGS (Z_1BOOKS, Z_4TAGS) SELECT p.ZBOOK, p.Z_PK FROM ZTAG p WHERE …`
    private mutating func insert(
        _ pairs: StoredPairs, _ former: RelationshipLayout, _ relationship: RelationshipLayout,
        _ join: JoinMapping,
        isReversed: Bool, in pair: SchemaPair
    ) {
        // What the table's naming relationship calls source and destination.
        let source = isReversed ? pairs.destinationKey : pairs.sourceKey
        let destination = isReversed ? pairs.sourceKey : pairs.destinationKey
        let order = isReversed ? pairs.inverseOrder : pairs.order
        let inverseOrder = isReversed ? pairs.order : pairs.inverseOrder
        var values = [(column: join.sourceColumn, value: source), (join.destinationColumn, destination)]
        if let column = join.orderColumn {
            values.append((column, order ?? StoredPairs.newOrder(partition: source, by: destination)))
        }
        if let column = (isReversed ? relationship.inverse : relationship).flatMap(pair.destination.inverseOrderColumn)
        {
            values.append((column, inverseOrder ?? StoredPairs.newOrder(partition: destination, by: source)))
        }
        let conditions = [
            pair.survives(pairs.sourceKey, formerly: former.source, now: relationship.source),
            pair.survives(pairs.destinationKey, formerly: former.destination, now: relationship.destination),
        ].compactMap { $0 }
        insertions.append(PairMoveSQL.insertion(into: join.table, values: values, of: pairs, where: conditions))
        if join.isReflexive, !(former.inverse === former) {
            let reversed = [(column: join.sourceColumn, value: destination), (join.destinationColumn, source)]
            insertions.append(PairMoveSQL.insertion(into: join.table, values: reversed, of: pairs, where: conditions))
        }
    }
}
