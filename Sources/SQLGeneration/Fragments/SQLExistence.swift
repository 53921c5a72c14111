/// Whether other rows lead to one, which databases say in one of two ways.
///
/// The conditions stand here once: nested in one another, they would otherwise double with each level.
package struct SQLExistence: Sendable, Equatable {
    /// The tables of the other rows.
    var tables: SQLFragment
    /// Connects the other rows with the one.
    var link: SQLFragment
    /// Connects the other rows with the pairs of a join table that lead to them; nil without one.
    var pairing: SQLFragment?
    /// What holds for the other rows.
    var condition: SQLFragment
    /// The key of the one row, and the column of the others that holds it.
    var key: SQLFragment
    var source: SQLFragment

    /// `SELECT 1 FROM ZPAGE t1 WHERE t1.ZBOOK = t0.Z_PK AND …`
    package var rows: SQLFragment { "SELECT 1 FROM \(tables) WHERE \(link) AND \(condition)" }

    /// `t0.Z_PK IN (SELECT t1.ZBOOK FROM ZPAGE t1 WHERE …)`
    package var membership: SQLFragment {
        let conditions = pairing.map { $0 + " AND " + condition } ?? condition
        return "\(key) IN \(.select("SELECT \(source) FROM \(tables) WHERE \(conditions)"))"
    }

    var parts: [SQLFragment] { [tables, link, condition] }

    func mapParts(_ change: (SQLFragment) throws -> SQLFragment) rethrows -> SQLExistence {
        SQLExistence(
            tables: try change(tables), link: try change(link), pairing: try pairing.map(change),
            condition: try change(condition), key: try change(key), source: try change(source))
    }
}
