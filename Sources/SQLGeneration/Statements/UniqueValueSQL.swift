/// The statements for values that must be unique. Pure; the values have placeholders.
package enum UniqueValueSQL {
    /// The first values that several rows share: `SELECT ZUID FROM ZITEM WHERE ZUID NOT NULL GROUP BY ZUID HAVING
    /// COUNT(*) > 1 ORDER BY MIN(Z_PK) LIMIT ?`.
    package static func shared(_ columns: [String], in table: String) -> SQLFragment {
        let list = SQLFragment.list(columns.map { "\(name: $0)" })
        let present = SQLFragment.joined(columns.map { "\(name: $0) IS NOT NULL" }, separator: " AND ")
        let groups: SQLFragment = "SELECT \(list) FROM \(name: table) WHERE \(present) GROUP BY \(list)"
        return "\(groups) HAVING COUNT(*) > 1 ORDER BY MIN(\(.key)) LIMIT \(SQLFragment(.placeholder))"
    }

    /// The rows that have given values: `SELECT Z_PK, Z_ENT FROM ZITEM WHERE ZUID = ? ORDER BY Z_PK`.
    package static func rows(_ columns: [String], in table: String) -> SQLFragment {
        let equal = columns.map { "\(name: $0) = \(SQLFragment(.placeholder))" as SQLFragment }
        let condition = SQLFragment.joined(equal, separator: " AND ")
        return "SELECT \(.key), \(.entity) FROM \(name: table) WHERE \(condition) ORDER BY \(.key)"
    }
}
