/// The statements that write the persistent history. Pure; bound values have placeholders.
package enum HistoryRowSQL {
    private static let placeholder = SQLFragment(.placeholder)

    private static let changeColumns = ["ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID", "ZCOLUMNS"]

    /// One transaction: `INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZAUTHORTS, …) VALUES (?, ?, ?, …)`.
    package static let insertTransaction = insert(
        into: "ATRANSACTION", ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS", "ZTIMESTAMP"])

    /// One change: `INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, …, ZTOMBSTONE0) VALUES (?, ?, ?, …, ?)`.
    ///
    /// - Parameter tombstones: how many tombstone values a deleted object leaves.
    /// - Returns: the statement.
    package static func insertChange(tombstones: Int) -> SQLFragment {
        insert(into: "ACHANGE", changeColumns + (0..<tombstones).map(HistorySQL.tombstone))
    }

    /// One name: `INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) VALUES (?, ?, ?)`.
    package static let insertName = insert(into: "ATRANSACTIONSTRING", ["ZNAME"])

    private static func insert(into table: String, _ columns: [String]) -> SQLFragment {
        let columns = [SQLColumn(.key), SQLColumn(.entity)] + columns.map { SQLColumn($0) }
        return SQLFragment(.insert(SQLInsert(into: table, columns)))
    }

    /// The key of a name: `SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?`.
    package static let selectName: SQLFragment =
        "SELECT \(.key) FROM ATRANSACTIONSTRING WHERE ZNAME = \(placeholder)"

    /// A change for each row of an entity that a condition selects: `INSERT INTO ACHANGE (…) SELECT ? + ROW_NUMBER()
    /// OVER (ORDER BY t.Z_PK), ?, ?, t.Z_ENT, t.Z_PK, ?, ? FROM ZCAR t WHERE t.Z_ENT = ? AND …`.
    ///
    /// - Parameters:
    ///   - mapping: the entity; rows of its subentities are not looked at.
    ///   - kept: the columns whose values a deletion keeps as tombstones.
    ///   - condition: the condition on rows of the entity's table `t`.
    /// - Returns: the statement. Its bindings are the last key, the number of the history's entity, the kind of the
    ///   change, the transaction, the mask of changed properties, and the entity's number.
    package static func insertChanges(
        of mapping: EntityMapping, keeping kept: [String], where condition: SQLFragment
    ) -> SQLFragment {
        let (key, entity): (SQLFragment, SQLFragment) = ("\(.key, of: "t")", "\(.entity, of: "t")")
        let names = changeColumns + kept.indices.map(HistorySQL.tombstone)
        let columns: [SQLFragment] = ["\(.key)", "\(.entity)"] + names.map { "\(name: $0)" }
        let number: SQLFragment = "\(placeholder) + ROW_NUMBER() OVER (ORDER BY \(key))"
        let values =
            [number, placeholder, placeholder, entity, key, placeholder, placeholder]
            + kept.map { "\(SQLColumn($0, of: "t"))" }
        let rows: SQLFragment = "SELECT \(.list(values)) FROM \(name: mapping.table) t"
        let selection: SQLFragment = "\(rows) WHERE \(entity) = \(placeholder) AND \(condition)"
        return "INSERT INTO ACHANGE (\(.list(columns))) \(selection)"
    }
}
