// The statements that read and write to-many relationships.
extension RowSQL {
    private static let placeholder = SQLFragment(.placeholder)

    /// The keys (and `Z_ENT`s) of the destinations of a to-many relationship, in order if it is ordered: `SELECT
    /// t0.Z_PK FROM ZPAGE t0 WHERE t0.ZBOOK = ? ORDER BY t0.Z_FOK_BOOK, t0.Z_PK`.
    package static func targets(_ toMany: ToManyMapping, destination: EntityMapping) -> SQLFragment {
        let ends = ends(toMany, destination)
        return
            "SELECT \(ends.columns) FROM \(ends.tables) WHERE \(ends.source) = \(placeholder) ORDER BY \(ends.order)"
    }

    /// The same for many objects at once, whose keys are in the first column: `SELECT t0.ZBOOK, t0.Z_PK FROM ZPAGE t0
    /// WHERE t0.ZBOOK IN (?, ?) ORDER BY t0.ZBOOK, t0.Z_FOK_BOOK, t0.Z_PK`.
    package static func targets(_ toMany: ToManyMapping, destination: EntityMapping, count: Int) -> SQLFragment {
        let ends = ends(toMany, destination)
        let rows: SQLFragment = "SELECT \(ends.source), \(ends.columns) FROM \(ends.tables)"
        let condition: SQLFragment = "\(ends.source) IN (\(.placeholders(count)))"
        return "\(rows) WHERE \(condition) ORDER BY \(ends.source), \(ends.order)"
    }

    /// The rows at the end of a relationship for many objects at once, each followed by the key of its object: `SELECT
    /// t0.Z_PK, t0.Z_OPT, t0.ZTEXT, t0.ZBOOK FROM ZPAGE t0 WHERE t0.ZBOOK IN (?, ?) ORDER BY t0.ZBOOK, t0.Z_FOK_BOOK,
    /// t0.Z_PK`.
    package static func members(
        _ toMany: ToManyMapping, _ destination: EntityMapping, shape: RowShape, count: Int
    ) -> SQLFragment {
        let ends = ends(toMany, destination)
        let rows: SQLFragment = "SELECT \(shape.selection(alias: "t0")), \(ends.source) FROM \(ends.tables)"
        let condition: SQLFragment = "\(ends.source) IN (\(.placeholders(count)))"
        return "\(rows) WHERE \(condition) ORDER BY \(ends.source), \(ends.order)"
    }

    private static func ends(
        _ toMany: ToManyMapping, _ destination: EntityMapping
    ) -> (columns: SQLFragment, tables: SQLFragment, source: SQLFragment, order: SQLFragment) {
        let key: SQLFragment = "\(.key, of: "t0")"
        let columns: SQLFragment = destination.sharesTable ? "\(key), \(.entity, of: "t0")" : key
        switch toMany {
        case .foreignKey(let foreign):
            return (
                columns, "\(name: foreign.table) t0", "\(SQLColumn(foreign.column, of: "t0"))",
                foreign.orderColumn.map { "\(SQLColumn($0, of: "t0")), \(key)" } ?? key
            )
        case .joinTable(let join):
            let on: SQLFragment = "\(key) = \(SQLColumn(join.destinationColumn, of: "t1"))"
            return (
                columns, "\(name: join.table) t1 JOIN \(name: destination.table) t0 ON \(on)",
                "\(SQLColumn(join.sourceColumn, of: "t1"))",
                join.orderColumn.map { "\(SQLColumn($0, of: "t1")), \(key)" } ?? key
            )
        }
    }

    /// `INSERT OR IGNORE INTO Z_5TAGS (Z_5NOTES, Z_13TAGS) VALUES (?, ?)`: `IGNORE`, since both ends of a pair report
    /// it. In a table without a key, `INSERT INTO … SELECT ?1, ?2 WHERE NOT EXISTS (…)` does the same.
    package static func insertPair(_ join: JoinMapping) -> SQLFragment {
        if join.isKeyless {
            let (first, second) = (SQLFragment(.numbered(1)), SQLFragment(.numbered(2)))
            let (source, destination): (SQLFragment, SQLFragment) = (
                "\(name: join.sourceColumn)", "\(name: join.destinationColumn)"
            )
            let pair = SQLFragment.select(
                "SELECT 1 FROM \(name: join.table) WHERE \(source) = \(first) AND \(destination) = \(second)")
            return
                "INSERT INTO \(name: join.table) (\(source), \(destination)) SELECT \(first), \(second) WHERE NOT EXISTS \(pair)"
        }
        return insert(into: join.table, [join.sourceColumn, join.destinationColumn], conflict: .ignored)
    }

    /// The same with the place in an ordered relationship: `… (Z_5NOTES, Z_13TAGS, Z_FOK_13TAGS) VALUES (?, ?, ?)`.
    package static func insertPlacedPair(_ join: JoinMapping) -> SQLFragment? {
        join.orderColumn.map {
            insert(into: join.table, [join.sourceColumn, join.destinationColumn, $0], conflict: .ignored)
        }
    }

    /// `DELETE FROM Z_5TAGS WHERE Z_5NOTES = ? AND Z_13TAGS = ?`
    package static func deletePair(_ join: JoinMapping) -> SQLFragment {
        "\(deletePairs(of: join)) AND \(name: join.destinationColumn) = \(placeholder)"
    }

    /// Removes a deleted object from a join table: `DELETE FROM Z_5TAGS WHERE Z_5NOTES = ?`.
    package static func deletePairs(of join: JoinMapping) -> SQLFragment {
        "DELETE FROM \(name: join.table) WHERE \(name: join.sourceColumn) = \(placeholder)"
    }

    /// Gives a destination an owner, for a relationship without inverse: `UPDATE ZINGREDIENT SET Z1SPEC = ?1 WHERE Z_PK
    /// = ?2`. The rest of the destination's row, including its version, does not change.
    package static func own(_ key: ForeignKeyMapping, by owner: EntityMapping) -> SQLFragment {
        let (first, second) = (SQLFragment(.numbered(1)), SQLFragment(.numbered(2)))
        var changes: [SQLFragment] = ["\(name: key.column) = \(first)"]
        if let entity = key.entityColumn {
            let number = SQLFragment.select(
                "SELECT \(.entity) FROM \(name: owner.table) WHERE \(.key) = \(first)")
            changes.append("\(name: entity) = \(number)")
        }
        if let order = key.orderColumn { changes.append("\(name: order) = NULL") }
        return "UPDATE \(name: key.table) SET \(.list(changes)) WHERE \(.key) = \(second)"
    }

    /// Removes a destination from its owner: `UPDATE ZINGREDIENT SET Z1SPEC = NULL WHERE Z1SPEC = ?1 AND Z_PK = ?2`.
    package static func release(_ key: ForeignKeyMapping) -> SQLFragment {
        "\(releaseAll(key)) AND \(.key) = \(SQLFragment(.numbered(2)))"
    }

    /// Removes all destinations from an owner that is deleted: `UPDATE ZINGREDIENT SET Z1SPEC = NULL WHERE Z1SPEC =
    /// ?1`.
    package static func releaseAll(_ key: ForeignKeyMapping) -> SQLFragment {
        let changes = SQLFragment.list(key.columns.map { "\(name: $0) = NULL" })
        return
            "UPDATE \(name: key.table) SET \(changes) WHERE \(name: key.column) = \(SQLFragment(.numbered(1)))"
    }

    /// The order keys of an ordered relationship's destinations, by key.
    package static func orderKeys(_ toMany: ToManyMapping) -> SQLFragment? {
        switch toMany {
        case .foreignKey(let key):
            guard let order = key.orderColumn else { return nil }
            let rows: SQLFragment = "SELECT \(.key), \(name: order) FROM \(name: key.table)"
            return "\(rows) WHERE \(name: key.column) = \(placeholder)"
        case .joinTable(let join):
            guard let order = join.orderColumn else { return nil }
            let rows: SQLFragment = "SELECT \(name: join.destinationColumn), \(name: order) FROM \(name: join.table)"
            return "\(rows) WHERE \(name: join.sourceColumn) = \(placeholder)"
        }
    }

    /// Sets the order key of one destination. The bindings are the order key, the destination, and for join tables the
    /// source.
    package static func setOrderKey(_ toMany: ToManyMapping) -> SQLFragment? {
        switch toMany {
        case .foreignKey(let key):
            guard let order = key.orderColumn else { return nil }
            return "UPDATE \(name: key.table) SET \(name: order) = \(placeholder) WHERE \(.key) = \(placeholder)"
        case .joinTable(let join):
            guard let order = join.orderColumn else { return nil }
            let ends: SQLFragment =
                "\(name: join.destinationColumn) = \(placeholder) AND \(name: join.sourceColumn) = \(placeholder)"
            return "UPDATE \(name: join.table) SET \(name: order) = \(placeholder) WHERE \(ends)"
        }
    }
}
