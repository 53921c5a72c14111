/// The statements that read and write single rows. Pure; each is generated once per entity and kept. Bound values have
/// placeholders.
package enum RowSQL {
    /// `INSERT INTO ZCAR (Z_PK, Z_ENT, Z_OPT, ZMAKER) VALUES (?, ?, ?, ?)`
    ///
    /// Places in ordered relationships follow the row's own columns: `…, ZMAKER, Z_FOK_MAKER) VALUES (?, ?, ?, ?, ?)`.
    package static func insert(
        _ mapping: EntityMapping, orderColumns: [String] = [], conflict: SQLInsert.Conflict? = nil,
        returnsKey: Bool = false, returnsEntity: Bool = false
    ) -> SQLFragment {
        let written = writtenColumns(mapping.columns.compactMap { $0 })
        let columns = (written + orderColumns).map { SQLColumn($0) }
        let fixed: [SQLColumn] = [SQLColumn(.key), SQLColumn(.entity), SQLColumn(.version)]
        return SQLFragment(
            .insert(
                SQLInsert(
                    into: mapping.table, fixed + columns, conflict: conflict, returnsKey: returnsKey,
                    returnsEntity: returnsEntity)))
    }

    /// `INSERT INTO ACHANGE (Z_PK, …) VALUES (?, …)`
    package static func insert(
        into table: String, _ columns: [String], conflict: SQLInsert.Conflict? = nil
    ) -> SQLFragment {
        SQLFragment(.insert(SQLInsert(into: table, columns.map { SQLColumn($0) }, conflict: conflict)))
    }

    /// `UPDATE ZCAR SET ZMAKER = ?, Z_OPT = ? WHERE Z_PK = ? AND Z_OPT = ?`
    ///
    /// An object that is moved into another one's ordered relationship has no place there yet: `…, ZBOOK = ?, Z_OPT =
    /// ?, Z_FOK_BOOK = NULL`.
    package static func update(_ mapping: EntityMapping, slots: [Int]) -> SQLFragment {
        let written = slots.compactMap { mapping.columns[$0] }
        let columns = writtenColumns(written).map { SQLColumn($0) }
        let changes = (columns + [SQLColumn(.version)]).map { "\($0) = \(placeholder)" as SQLFragment }
        return "UPDATE \(name: mapping.table) SET \(.list(changes + lostPlaces(written))) WHERE \(same)"
    }

    /// `Z_FOK_BOOK = NULL` for each relationship whose inverse is ordered.
    static func lostPlaces(_ columns: [SlotColumn]) -> [SQLFragment] {
        columns.compactMap(\.orderColumn).map { "\(name: $0) = NULL" }
    }

    /// `DELETE FROM ZCAR WHERE Z_PK = ? AND Z_OPT = ?`
    package static func delete(_ mapping: EntityMapping) -> SQLFragment {
        "DELETE FROM \(name: mapping.table) WHERE \(same)"
    }

    private static let placeholder = SQLFragment(.placeholder)
    /// The condition that the row is unchanged since it was read.
    private static let same: SQLFragment = "\(.key) = \(placeholder) AND \(.version) = \(placeholder)"

    /// `SELECT t0.Z_PK, t0.Z_OPT, t0.ZNAME FROM ZUSER t0 WHERE t0.Z_PK = ?`
    package static func select(_ mapping: EntityMapping, shape: RowShape) -> SQLFragment {
        "SELECT \(shape.selection(alias: "t0")) FROM \(name: mapping.table) t0 WHERE \(.key, of: "t0") = \(placeholder)"
    }

    /// The same for many rows at once: `… WHERE t0.Z_PK IN (?, ?, ?)`.
    package static func select(_ mapping: EntityMapping, shape: RowShape, count: Int) -> SQLFragment {
        let rows: SQLFragment = "SELECT \(shape.selection(alias: "t0")) FROM \(name: mapping.table) t0"
        return "\(rows) WHERE \(.key, of: "t0") IN (\(.placeholders(count)))"
    }

    /// The rows with one of several values in a column: `SELECT t0.Z_PK, t0.Z_OPT, t0.ZUID FROM ZUSER t0 WHERE t0.ZUID
    /// IN (?, ?)`.
    package static func select(
        _ mapping: EntityMapping, shape: RowShape, where column: SlotColumn, isAmong count: Int
    ) -> SQLFragment {
        let rows: SQLFragment = "SELECT \(shape.selection(alias: "t0")) FROM \(name: mapping.table) t0"
        return "\(rows) WHERE \(SQLColumn(column.name, of: "t0")) IN (\(.placeholders(count)))"
    }

    /// The rows with a value in a column: `SELECT t0.Z_PK, t0.Z_OPT, t0.ZUID FROM ZUSER t0 WHERE t0.ZUID = ?`.
    package static func select(_ mapping: EntityMapping, shape: RowShape, where column: SlotColumn) -> SQLFragment {
        let rows: SQLFragment = "SELECT \(shape.selection(alias: "t0")) FROM \(name: mapping.table) t0"
        return "\(rows) WHERE \(SQLColumn(column.name, of: "t0")) = \(placeholder)"
    }

    /// The columns that writing a property sets: its own, and that of the destination's entity. The order key of the
    /// inverse of an ordered relationship is written with the order.
    package static func writtenColumns(_ columns: [SlotColumn]) -> [String] {
        columns.flatMap(\.flattened).filter { !$0.isDerived }.flatMap {
            [$0.name] + [$0.entityColumn].compactMap { $0 }
        }
    }

    // MARK: Bookkeeping

    /// The highest primary key ever assigned for a root entity, and the highest in its table's rows: `SELECT Z_MAX,
    /// (SELECT MAX(Z_PK) FROM ZCAR) FROM Z_PRIMARYKEY WHERE Z_ENT = ?`
    package static func readMaximumKey(of table: String) -> SQLFragment {
        let greatest = SQLFragment.select("SELECT MAX(\(.key)) FROM \(name: table)")
        return "SELECT Z_MAX, \(greatest) FROM Z_PRIMARYKEY WHERE Z_ENT = \(placeholder)"
    }

    /// Records the highest assigned primary key.
    package static let writeMaximumKey: SQLFragment =
        "UPDATE Z_PRIMARYKEY SET Z_MAX = \(placeholder) WHERE Z_ENT = \(placeholder)"

    /// Adds the number of an entity.
    package static func insertEntity(unlessThere: Bool = false) -> SQLFragment {
        insert(
            into: "Z_PRIMARYKEY", ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"], conflict: unlessThere ? .ignored : nil)
    }
}

// Insertions that may conflict with rows of the same unique values.
extension RowSQL {
    /// An insertion that updates an existing row with the same unique values, and returns the key of the row that it
    /// wrote: `INSERT INTO ZCAR … ON CONFLICT DO UPDATE SET ZMAKER = excluded.ZMAKER, Z_OPT = Z_OPT + 1 RETURNING
    /// Z_PK`. If the table has rows of other entities, too, the row's entity follows the key.
    ///
    /// - Parameters:
    ///   - mapping: the entity's table and columns.
    ///   - slots: the slots whose values an existing row takes; nil for all.
    /// - Returns: the statement, without its values.
    package static func insertOrUpdate(_ mapping: EntityMapping, slots: [Int]?) -> SQLFragment {
        let written = (slots ?? Array(mapping.columns.indices)).compactMap { mapping.columns[$0] }
        let taken = writtenColumns(written).map { "\(name: $0) = excluded.\(name: $0)" as SQLFragment }
        let changes = SQLFragment.list(taken + lostPlaces(written) + ["\(.version) = \(.version) + 1"])
        return insert(
            mapping, conflict: .updates(changes), returnsKey: true, returnsEntity: mapping.sharesTable)
    }

    /// An insertion that leaves an existing row with the same unique values unchanged, and returns the key of the row
    /// that it wrote: `INSERT INTO ZCAR … ON CONFLICT DO NOTHING RETURNING Z_PK`.
    package static func insertUnlessThere(_ mapping: EntityMapping) -> SQLFragment {
        insert(mapping, conflict: .ignored, returnsKey: true)
    }
}

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
