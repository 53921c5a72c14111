/// The statements that find values in files beside the store, whose columns contain the file's name. Pure.
package enum ExternalFileSQL {
    /// The column's content in all rows whose value is in a file: `SELECT ZDATA FROM ZPHOTO WHERE typeof(ZDATA) =
    /// 'blob' AND …`.
    package static func references(_ column: String, in table: String) -> SQLFragment {
        "SELECT \(name: column) FROM \(name: table) WHERE \(.call(.isInFile, "\(name: column)"))"
    }

    /// The same for rows that a condition selects.
    ///
    /// - Parameters:
    ///   - column: the column.
    ///   - table: its table.
    ///   - others: columns of the same row that must not name the same file.
    ///   - condition: the condition on rows of the table `t`.
    /// - Returns: the statement.
    package static func references(
        _ column: String, in table: String, butNotIn others: [String] = [], where condition: SQLFragment
    ) -> SQLFragment {
        let value: SQLFragment = "\(SQLColumn(column, of: "t"))"
        var conditions: [SQLFragment] = [.call(.isInFile, value), condition]
        for other in others {
            conditions.append(SQLFragment(.same(value, "\(SQLColumn(other, of: "t"))", isNegated: true)))
        }
        return "SELECT \(value) FROM \(name: table) t WHERE \(.joined(conditions, separator: " AND "))"
    }
}
