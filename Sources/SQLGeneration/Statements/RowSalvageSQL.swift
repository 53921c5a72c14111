/// The statements that copy what can be read of the tables of a damaged database, which is attached as `damaged`. Pure.
package enum RowSalvageSQL {
    /// The rows from a key on, whole: `SELECT _rowid_, * FROM damaged.ZCAR WHERE _rowid_ >= ?`. It is an error for a
    /// table without row IDs.
    package static func rows(of table: String) -> SQLFragment {
        "SELECT _rowid_, * FROM damaged.\(name: table) WHERE _rowid_ >= ?"
    }

    /// All rows: `SELECT * FROM damaged.PAGES`.
    package static func allRows(of table: String) -> SQLFragment { "SELECT * FROM damaged.\(name: table)" }

    /// Copies some rows, from a key on where there are row IDs. Nothing is read beyond them, as it would be to compare
    /// keys: `INSERT OR REPLACE INTO main.ZCAR (Z_PK, ZNAME) SELECT Z_PK, ZNAME FROM damaged.ZCAR WHERE _rowid_ >= 1
    /// LIMIT 1000`.
    package static func copy(
        _ table: String, _ columns: [String], from key: Int64? = nil, count: Int
    ) -> SQLFragment {
        let columns = SQLFragment.list(columns.map { "\(name: $0)" })
        let condition: SQLFragment = key.map { " WHERE _rowid_ >= \(number: $0)" } ?? .empty
        return
            "INSERT OR REPLACE INTO main.\(name: table) (\(columns)) SELECT \(columns) FROM damaged.\(name: table)\(condition) LIMIT \(number: count)"
    }

    /// The tables, indexes, triggers and views, but for virtual tables, and for what SQLite makes itself.
    package static let entries: SQLFragment = """
        SELECT type, name, sql FROM damaged.sqlite_master WHERE sql IS NOT NULL AND \(isOwn) AND NOT \(isVirtual)
        """

    /// Copies the entries of virtual tables, as they are: their rows are in tables of their own, and the module that
    /// makes them need not be there.
    package static let copyVirtualTables: SQLFragment = """
        INSERT INTO main.sqlite_master SELECT * FROM damaged.sqlite_master WHERE \(isVirtual)
        """

    private static let isOwn: SQLFragment = "name NOT LIKE 'sqlite~_%' ESCAPE '~'"
    private static let isVirtual: SQLFragment = "coalesce(sql LIKE 'CREATE VIRTUAL %', 0)"
}
