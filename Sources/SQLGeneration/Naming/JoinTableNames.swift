import CompactCollections
import CoreDataModel

/// The names in a join table: `Z_5TAGS ( Z_5NOTES, Z_13TAGS )` for `Note.tags` (entity 5) and `Tag.notes` (entity 13).
///
/// A column's name contains the number of the entity whose keys it holds and the name of the relationship that leads
/// there. A relationship that is its own inverse has the column `REFLEXIVE` for the other end.
package struct JoinTableNames {
    /// The relationship of the pair that gives the table its name.
    package let relationship: RelationshipLayout
    package var table: String
    /// The column with the keys of the objects that have the relationship.
    package var sourceColumn: String
    /// The column with the keys of the objects that it leads to.
    package var destinationColumn: String
    /// The place of the destination, if the relationship is ordered.
    package var orderColumn: String?
    /// The place of the source, if the inverse is ordered.
    package var inverseOrderColumn: String?

    package init(_ relationship: RelationshipLayout, table: String, sourceColumn: String, destinationColumn: String) {
        self.relationship = relationship
        self.table = table
        self.sourceColumn = sourceColumn
        self.destinationColumn = destinationColumn
        if relationship.isOrdered { orderColumn = Self.orderColumn(of: destinationColumn) }
        if let inverse = relationship.inverse, inverse.isOrdered, inverse !== relationship {
            inverseOrderColumn = Self.orderColumn(of: sourceColumn)
        }
    }

    /// `Z_FOK_17PEOPLE` for `Z_17PEOPLE`
    static func orderColumn(of column: String) -> String { "Z_FOK_\(column.dropFirst(2))" }

    private var isReflexive: Bool { relationship.inverse === relationship }

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
        // If both ends are ordered, the source's order keys come first, as the columns do.
        let order = [inverseOrderColumn, orderColumn].compactMap { $0 }
        return JoinTableDefinition(
            table: TableDefinition(
                name: table, columns: ([first, second] + order).map { .init(name: $0, declaredType: "INTEGER") },
                primaryKey: [first, second]),
            index: IndexDefinition(
                name: "\(table)_\(second)_INDEX", table: table, terms: ["\(name: second)", "\(name: first)"]),
            rootName: rootName)
    }
}
