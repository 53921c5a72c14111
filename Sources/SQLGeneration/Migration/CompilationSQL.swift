/// Statements that are only compiled, with the triggers that they would fire, and change nothing.
package enum CompilationSQL {
    /// One statement of each kind that changes rows: `EXPLAIN INSERT INTO ZCAR DEFAULT VALUES`, `EXPLAIN UPDATE ZCAR
    /// SET ZNAME = ZNAME`, `EXPLAIN DELETE FROM ZCAR`. A trigger that names something the table does not have is an
    /// error.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - columns: all of its columns, since triggers may depend on any.
    /// - Returns: the statements.
    package static func changes(of table: String, _ columns: [String]) -> [SQLFragment] {
        let values = columns.map { "\(name: $0) = \(name: $0)" as SQLFragment }
        return [
            "EXPLAIN INSERT INTO \(name: table) DEFAULT VALUES",
            "EXPLAIN UPDATE \(name: table) SET \(.list(values))",
            "EXPLAIN DELETE FROM \(name: table)",
        ]
    }
}
