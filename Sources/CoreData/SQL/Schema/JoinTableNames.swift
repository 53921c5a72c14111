/// The names in a join table: `Z_5TAGS ( Z_5NOTES, Z_13TAGS )` for `Note.tags` (entity 5) and `Tag.notes` (entity 13).
///
/// A column bears the number of the entity whose keys it holds and the name of the relationship that leads there. A
/// relationship that is its own inverse has the column `REFLEXIVE` for the other end.
struct JoinTableNames {
    private let relationship: RelationshipLayout
    private let table: String
    private let sourceColumn: String
    private let destinationColumn: String

    init(
        _ relationship: RelationshipLayout, source: Int, destination: Int, name: String, inverseName: String?,
        catalog: StoreCatalog?
    ) {
        self.relationship = relationship
        let isReflexive = relationship.inverse === relationship
        let inverse = inverseName ?? relationship.source.name.uppercased()
        var table = "Z_\(source)\(relationship.name.uppercased())"
        destinationColumn = "Z_\(destination)\(name)"
        sourceColumn = isReflexive ? "REFLEXIVE" : "Z_\(source)\(inverse)"
        if let catalog, catalog.tables[table] == nil {
            // An existing store may have named the table after the other end.
            let columns = Set([sourceColumn, destinationColumn])
            let known = catalog.tables.keys.sorted().first { columns.isSubset(of: catalog.tables[$0] ?? []) }
            table = known ?? table
        }
        self.table = table
    }

    private var isReflexive: Bool { relationship.inverse === relationship }

    private var orderColumn: String? {
        relationship.isOrdered ? "Z_FOK_\(destinationColumn.dropFirst(2))" : nil
    }

    private var inverseOrderColumn: String? {
        guard let inverse = relationship.inverse, inverse.isOrdered, !isReflexive else { return nil }
        return "Z_FOK_\(sourceColumn.dropFirst(2))"
    }

    var mapping: JoinMapping {
        JoinMapping(
            table: table, sourceColumn: sourceColumn, destinationColumn: destinationColumn, orderColumn: orderColumn,
            isReflexive: isReflexive)
    }

    var inverseMapping: JoinMapping {
        JoinMapping(
            table: table, sourceColumn: destinationColumn, destinationColumn: sourceColumn,
            orderColumn: inverseOrderColumn, isReflexive: isReflexive)
    }

    func definition(rootName: String) -> JoinTableDefinition {
        let first = isReflexive ? destinationColumn : sourceColumn
        let second = isReflexive ? sourceColumn : destinationColumn
        let columns = [first, second] + [orderColumn, inverseOrderColumn].compactMap { $0 }
        return JoinTableDefinition(
            table: TableDefinition(
                name: table, columns: columns.map { .init(name: $0, declaredType: "INTEGER") },
                primaryKey: [first, second]),
            index: IndexDefinition(
                name: "\(table)_\(second)_INDEX", table: table, terms: [quoted(second), quoted(first)]),
            rootName: rootName)
    }
}
