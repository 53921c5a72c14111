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

/// A table of the store as `CREATE TABLE` makes it.
package struct TableDefinition: Sendable, Equatable {
    package struct Column: Sendable, Equatable {
        package let name: String
        package let declaredType: String

        package init(name: String, declaredType: String) {
            (self.name, self.declaredType) = (name, declaredType)
        }
    }

    package let name: String
    package var columns: [Column]
    /// The columns of the primary key of a join table; empty for an entity's table, whose key is `Z_PK`.
    package var primaryKey: [String] = []
}

/// An index of a table.
package struct IndexDefinition: Sendable, Equatable {
    package let name: String
    package let table: String
    /// The indexed columns, with collation and direction if given.
    package let terms: [SQLFragment]
    package var isUnique = false
    /// The condition of a partial index; nil for all rows.
    package var condition: SQLFragment?
}

/// A join table of a many-to-many relationship.
package struct JoinTableDefinition: Sendable, Equatable {
    package let table: TableDefinition
    /// The index over the second column, for following the relationship from its other end.
    package let index: IndexDefinition
    /// The name of the root entity whose table Core Data creates before this one.
    package let rootName: String
}

// How Core Data's own files declare and order columns, by which the columns of an existing store are recognized.
// Another format defines its own in its dialect.

extension ColumnStorage {
    /// The type in Core Data's `CREATE TABLE`.
    package var declaredType: String {
        switch self {
        case .integer, .boolean, .toOne: return "INTEGER"
        case .double, .float: return "FLOAT"
        case .date: return "TIMESTAMP"
        case .decimal: return "DECIMAL"
        case .string, .url: return "VARCHAR"
        case .uuid, .data, .transformable: return "BLOB"
        }
    }

    /// The position of the column's kind in Core Data's tables: columns are grouped by kind, and within a group ordered
    /// by entity, attributes before relationships, each by name.
    var group: Int {
        switch self {
        case .integer, .boolean, .toOne: return 0
        case .date, .double, .float: return 2
        case .decimal: return 3
        case .string: return 4
        case .uuid, .url: return 5
        case .data, .transformable: return 6
        }
    }

    /// The group of the columns that order to-many relationships, after the other integers.
    static let orderGroup = 1
}
