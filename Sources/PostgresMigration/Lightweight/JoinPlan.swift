import CoreDataModel
import PostgresEngine
import SQLGeneration
import SQLMigration

/// How the tables of many-to-many relationships are made. Pure.
struct JoinPlan {
    /// The tables that stay unchanged.
    private(set) var kept: Set<String> = []
    private(set) var created: [String] = []
    private(set) var insertions: [SQLFragment] = []

    /// - Parameters:
    ///   - pair: both versions of the tables.
    ///   - tableName: the present name of a table with rows.
    init(_ pair: SchemaPair, tableName: (String) -> String) {
        var done: Set<String> = []
        for mapping in pair.destinationMappings {
            let inherited = mapping.layout.superentity?.relationships.count ?? 0
            for relationship in mapping.layout.relationships[inherited...] {
                guard relationship.isManyToMany, case .joinTable(let join)? = mapping.toManys[relationship.index],
                    done.insert(join.table).inserted
                else { continue }
                add(relationship, join, pair, tableName)
            }
        }
    }

    private mutating func add(
        _ relationship: RelationshipLayout, _ join: JoinMapping, _ pair: SchemaPair, _ tableName: (String) -> String
    ) {
        let (formers, ofInverse) = (pair.formers(relationship), pair.formersOfInverse(relationship))
        if formers.count == 1, ofInverse.isEmpty, let former = formers.first?.layout,
            Self.isSame(former, relationship, join, in: pair), pair.keepsPairs(former, relationship)
        {
            kept.insert(join.table)
            return
        }
        created.append(join.table)
        insertions += PairMove.insertions(relationship, join, in: pair, tableName: tableName)
    }

    /// Whether the source has the same table with the same columns.
    private static func isSame(
        _ former: RelationshipLayout, _ relationship: RelationshipLayout, _ join: JoinMapping, in pair: SchemaPair
    ) -> Bool {
        guard let mapping = pair.source.mapping(of: former.source), former.isToMany,
            case .joinTable(let old)? = mapping.toManys[former.index]
        else { return false }
        return old.table == join.table && old.sourceColumn == join.sourceColumn
            && old.destinationColumn == join.destinationColumn && old.orderColumn == join.orderColumn
            && pair.source.inverseOrderColumn(of: former) == pair.destination.inverseOrderColumn(of: relationship)
    }
}
