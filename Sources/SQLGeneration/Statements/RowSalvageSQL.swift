/// The statements that copy what can be read of the tables of a damaged database, which is attached as `damaged`. Pure.
package enum RowSalvageSQL {
    /// The rows from a key on, whole: `SELECT rowid, * FROM damaged.ZCAR WHERE rowid >= ?`.
    package static func rows(of table: String) -> SQLFragment {
        "SELECT rowid, * FROM damaged.\(name: table) WHERE rowid >= ?"
    }

    /// Copies some rows from a key on. Nothing is read beyond them, as it would be to compare keys: `INSERT OR REPLACE
    /// INTO main.ZCAR SELECT * FROM damaged.ZCAR WHERE rowid >= 1 LIMIT 1000`.
    package static func copy(_ table: String, from key: Int64, count: Int) -> SQLFragment {
        "INSERT OR REPLACE INTO main.\(name: table) SELECT * FROM damaged.\(name: table) WHERE rowid >= \(number: key) LIMIT \(number: count)"
    }
}
