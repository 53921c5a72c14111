import SQLiteEngine
import CoreDataModel
import SQLGeneration

/// How the join tables of many-to-many relationships come about.
struct JoinTableMigration {
    /// The join tables of the source that stay as they are.
    private(set) var kept: Set<String> = []
    private(set) var creations: [String] = []
    private(set) var insertions: [String] = []

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
        if let former, let pairs = RelationshipPairs(former, in: pair.source, tableName: tableName) {
            insert(pairs, former, relationship, join, isReversed: false, in: pair)
        } else if let formerInverse, let inverse = relationship.inverse,
            let pairs = RelationshipPairs(formerInverse, in: pair.source, tableName: tableName)
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
        pair.survives("x", formerly: former.source, now: relationship.source).isEmpty
            && pair.survives("x", formerly: former.destination, now: relationship.destination).isEmpty
    }

    /// `INSERT OR IGNORE INTO Z_1TAGS (Z_1BOOKS, Z_4TAGS) SELECT p.ZBOOK, p.Z_PK FROM ZTAG p WHERE …`
    private mutating func insert(
        _ pairs: RelationshipPairs, _ former: RelationshipLayout, _ relationship: RelationshipLayout,
        _ join: JoinMapping,
        isReversed: Bool, in pair: SchemaPair
    ) {
        // What the table's naming relationship calls source and destination.
        let source = isReversed ? pairs.destinationKey : pairs.sourceKey
        let destination = isReversed ? pairs.sourceKey : pairs.destinationKey
        let order = isReversed ? pairs.inverseOrder : pairs.order
        let inverseOrder = isReversed ? pairs.order : pairs.inverseOrder
        var columns = [join.sourceColumn, join.destinationColumn]
        var values = [source, destination]
        if let column = join.orderColumn {
            columns.append(column)
            values.append(order ?? RelationshipPairs.newOrder(partition: source, by: destination))
        }
        if let column = Self.inverseOrderColumn(isReversed ? relationship.inverse : relationship, in: pair) {
            columns.append(column)
            values.append(inverseOrder ?? RelationshipPairs.newOrder(partition: destination, by: source))
        }
        let condition =
            pair.survives(pairs.sourceKey, formerly: former.source, now: relationship.source)
            + pair.survives(pairs.destinationKey, formerly: former.destination, now: relationship.destination)
        let text = "INSERT OR IGNORE INTO \(quoted(join.table)) "
        insertions.append(
            text + "(\(columns.map(quoted).joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) "
                + pairs.from + condition)
        if join.isReflexive, !(former.inverse === former) {
            insertions.append(
                text + "(\(columns.prefix(2).map(quoted).joined(separator: ", "))) SELECT \(destination), \(source) "
                    + pairs.from + condition)
        }
    }

    /// The column that orders the inverse of the relationship that names the table.
    private static func inverseOrderColumn(_ relationship: RelationshipLayout?, in pair: SchemaPair) -> String? {
        guard let relationship, let inverse = relationship.inverse, inverse !== relationship,
            let mapping = pair.destination.mapping(of: inverse.source),
            case .joinTable(let join)? = mapping.toManys[inverse.index]
        else { return nil }
        return join.orderColumn
    }
}
