/// The statements that read or clear some columns of rows. Pure; bound values have placeholders.
package enum ColumnSQL {
    private static let placeholder = SQLFragment(.placeholder)

    /// Some columns of one row: `SELECT ZDATA, ZNAME FROM ZPHOTO WHERE Z_PK = ?`.
    package static func select(_ columns: [String], in table: String) -> SQLFragment {
        "SELECT \(.list(columns.map { "\(name: $0)" })) FROM \(name: table) WHERE \(.key) = \(placeholder)"
    }

    /// Clears some columns of a row that is unchanged since it was read: `UPDATE ZCAR SET ZPLATE = NULL WHERE Z_PK = ?
    /// AND Z_OPT = ?`.
    package static func clear(_ columns: [String], in table: String) -> SQLFragment {
        let changes = SQLFragment.list(columns.map { "\(name: $0) = NULL" })
        let isSame: SQLFragment = "\(.key) = \(placeholder) AND \(.version) = \(placeholder)"
        return "UPDATE \(name: table) SET \(changes) WHERE \(isSame)"
    }

    /// Gives all rows the version of new ones: `UPDATE ZCAR SET Z_OPT = 1 WHERE Z_OPT <> 1`.
    package static func resetVersions(in table: String) -> SQLFragment {
        "UPDATE \(name: table) SET \(.version) = 1 WHERE \(.version) <> 1"
    }

    /// Gives a row that has no version the one with which it is read: `UPDATE ZCAR SET Z_OPT = 0 WHERE Z_PK = ? AND
    /// Z_OPT IS NULL`.
    package static func setMissingVersion(in table: String) -> SQLFragment {
        "UPDATE \(name: table) SET \(.version) = 0 WHERE \(.key) = \(placeholder) AND \(.version) IS NULL"
    }
}
