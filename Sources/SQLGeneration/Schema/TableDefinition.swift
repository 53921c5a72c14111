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

    /// `CREATE TABLE ZUSER ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )`
    package var creation: String {
        var parts = columns.map { "\(quoted($0.name)) \($0.declaredType)" }
        if !primaryKey.isEmpty { parts.append("PRIMARY KEY (\(primaryKey.map(quoted).joined(separator: ", ")))") }
        return "CREATE TABLE \(quoted(name)) ( \(parts.joined(separator: ", ")) )"
    }
}

/// An index of a table.
package struct IndexDefinition: Sendable, Equatable {
    package let name: String
    package let table: String
    /// The indexed columns as SQL, with collation and direction where they are given.
    package let terms: [String]
    package var isUnique = false
    /// What restricts the index to some rows, as SQL; nil for all rows.
    package var condition: String?

    /// `CREATE INDEX ZCAR_ZOWNER_INDEX ON ZCAR (ZOWNER)`
    package var creation: String {
        let kind = isUnique ? "CREATE UNIQUE INDEX" : "CREATE INDEX"
        let restriction = condition.map { " WHERE \($0)" } ?? ""
        return "\(kind) \(quoted(name)) ON \(quoted(table)) (\(terms.joined(separator: ", ")))\(restriction)"
    }
}
