import CompactCollections
import SQLGeneration

extension TableDefinition {
    /// `CREATE TABLE ZUSER ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )`
    package var creation: String {
        var parts = columns.map { "\(quoted($0.name)) \($0.declaredType)" }
        if !primaryKey.isEmpty { parts.append("PRIMARY KEY (\(primaryKey.map(quoted).joined(separator: ", ")))") }
        return "CREATE TABLE \(quoted(name)) ( \(parts.joined(separator: ", ")) )"
    }
}

extension IndexDefinition {
    /// `CREATE INDEX ZCAR_ZOWNER_INDEX ON ZCAR (ZOWNER)`
    package var creation: String {
        let kind: SQLFragment = isUnique ? "CREATE UNIQUE INDEX" : "CREATE INDEX"
        let restriction: SQLFragment = condition.map { " WHERE \($0)" } ?? ""
        let creation: SQLFragment = "\(kind) \(name: name) ON \(name: table) (\(.list(terms)))\(restriction)"
        return creation.rendered(by: SQLiteDialect()).text
    }
}
