/// Statements that are compiled, with the triggers that they would fire, and change nothing.
package enum CompilationSQL {
    /// One of each kind that changes rows: `EXPLAIN INSERT INTO ZCAR DEFAULT VALUES`, `EXPLAIN UPDATE ZCAR SET ZNAME = ZNAME`,
    /// `EXPLAIN DELETE FROM ZCAR`. Whatever a trigger names and the table does not have is an error.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - columns: all of its columns: triggers may be about any.
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
