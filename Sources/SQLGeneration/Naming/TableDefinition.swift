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
