/// The statements that read rows without a model, with all existing columns. Pure.
package enum RawRowSQL {
    /// `SELECT * FROM ZCAR WHERE Z_ENT = 3 ORDER BY Z_PK`
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - number: the number of the entity whose rows are wanted; nil for all rows.
    ///   - isOrdered: whether the rows have keys, by which they are ordered.
    /// - Returns: the statement.
    package static func rows(in table: String, ofEntity number: Int?, isOrdered: Bool) -> SQLFragment {
        let order: SQLFragment = isOrdered ? " ORDER BY \(.key)" : ""
        return "SELECT * FROM \(name: table)\(restriction(number))\(order)"
    }

    /// `SELECT COUNT(*) FROM ZCAR WHERE Z_ENT = 3`
    package static func count(in table: String, ofEntity number: Int?) -> SQLFragment {
        "SELECT COUNT(*) FROM \(name: table)\(restriction(number))"
    }

    private static func restriction(_ number: Int?) -> SQLFragment {
        number.map { " WHERE \(SQLFragment.isEntity([$0]))" } ?? ""
    }
}
