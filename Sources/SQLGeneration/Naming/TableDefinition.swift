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
    /// The indexed columns, with collation and direction where they are given.
    package let terms: [SQLFragment]
    package var isUnique = false
    /// What restricts the index to some rows; nil for all rows.
    package var condition: SQLFragment?
}

/// A join table of a many-to-many relationship.
package struct JoinTableDefinition: Sendable, Equatable {
    package let table: TableDefinition
    /// The index over the second column, for going through the relationship from its other end.
    package let index: IndexDefinition
    /// The name of the root entity after whose table Core Data makes this one.
    package let rootName: String
}
