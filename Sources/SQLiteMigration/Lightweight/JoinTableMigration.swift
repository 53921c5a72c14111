import CompactCollections
import SQLiteEngine
import CoreDataModel
import SQLGeneration
import SQLMigration

/// The migration of the join tables of many-to-many relationships.
struct JoinTableMigration {
    /// The join tables of the source that stay unchanged.
    private(set) var kept: Set<String> = []
    private(set) var creations: [String] = []
    /// The names of the tables that are made.
    private(set) var created: [String] = []
    private(set) var insertions: [SQLFragment] = []

    init(_ pair: SchemaPair, _ structure: StoreStructure, tableName: (String) -> String) {
        var done: Set<String> = []
        for mapping in pair.destinationMappings {
            let inherited = mapping.layout.superentity?.relationships.count ?? 0
            for relationship in mapping.layout.relationships[inherited...] {
                guard relationship.isManyToMany, case .joinTable(let join)? = mapping.toManys[relationship.index],
                    done.insert(join.table).inserted,
                    let definition = pair.destination.joinTables.first(where: { $0.table.name == join.table })
                else { continue }
                add(relationship, join, definition.table, in: pair, structure, tableName: tableName)
            }
        }
    }

    private mutating func add(
        _ relationship: RelationshipLayout, _ join: JoinMapping, _ definition: TableDefinition, in pair: SchemaPair,
        _ structure: StoreStructure, tableName: (String) -> String
    ) {
        let (formers, ofInverse) = (pair.formers(relationship), pair.formersOfInverse(relationship))
        if formers.count == 1, ofInverse.isEmpty, let former = formers.first?.layout,
            isUnchanged(former, join, definition, in: pair, structure), pair.keepsPairs(former, relationship)
        {
            kept.insert(definition.name)
            return
        }
        creations.append(definition.creation)
        created.append(definition.name)
        insertions += PairMove.insertions(relationship, join, in: pair, tableName: tableName)
    }

    /// Whether the source has the same table with the same columns.
    private func isUnchanged(
        _ former: RelationshipLayout, _ join: JoinMapping, _ definition: TableDefinition, in pair: SchemaPair,
        _ structure: StoreStructure
    ) -> Bool {
        guard let mapping = pair.source.mapping(of: former.source), former.isToMany,
            case .joinTable(let old)? = mapping.toManys[former.index]
        else { return false }
        return old.table == definition.name && old.sourceColumn == join.sourceColumn
            && old.destinationColumn == join.destinationColumn && old.orderColumn == join.orderColumn
            && Set(structure.columnNames(old.table)) == Set(definition.columns.map(\.name))
    }
}
