/// The statements that read and write single rows. Pure; each is made once per entity and kept.
package enum RowSQL {
    /// `INSERT INTO ZCAR (Z_PK, Z_ENT, Z_OPT, ZMAKER) VALUES (?, ?, ?, ?)`
    package static func insert(_ mapping: EntityMapping) -> SQLStatement {
        let names = ["Z_PK", "Z_ENT", "Z_OPT"] + writtenColumns(mapping.columns.compactMap { $0 })
        return insert(into: mapping.table, names)
    }

    /// `INSERT INTO ACHANGE (Z_PK, …) VALUES (?, …)`
    package static func insert(into table: String, _ columns: [String]) -> SQLStatement {
        let marks = Array(repeating: "?", count: columns.count).joined(separator: ", ")
        return SQLStatement(
            "INSERT INTO \(quoted(table)) (\(columns.map(quoted).joined(separator: ", "))) VALUES (\(marks))")
    }

    /// `UPDATE ZCAR SET ZMAKER = ?, Z_OPT = ? WHERE Z_PK = ? AND Z_OPT = ?`
    package static func update(_ mapping: EntityMapping, slots: [Int]) -> SQLStatement {
        let columns = writtenColumns(slots.compactMap { mapping.columns[$0] })
        let changes = (columns.map { "\(quoted($0)) = ?" } + ["Z_OPT = ?"]).joined(separator: ", ")
        return SQLStatement("UPDATE \(quoted(mapping.table)) SET \(changes) WHERE Z_PK = ? AND Z_OPT = ?")
    }

    /// `DELETE FROM ZCAR WHERE Z_PK = ? AND Z_OPT = ?`
    package static func delete(_ mapping: EntityMapping) -> SQLStatement {
        SQLStatement("DELETE FROM \(quoted(mapping.table)) WHERE Z_PK = ? AND Z_OPT = ?")
    }

    /// `SELECT t0.Z_PK, t0.Z_OPT, t0.ZNAME FROM ZUSER t0 WHERE t0.Z_PK = ?`
    package static func select(_ mapping: EntityMapping, shape: RowShape) -> SQLStatement {
        SQLStatement("SELECT \(shape.selection(alias: "t0")) FROM \(quoted(mapping.table)) t0 WHERE t0.Z_PK = ?")
    }

    /// The same for many rows at once: `… WHERE t0.Z_PK IN (?, ?, ?)`.
    package static func select(_ mapping: EntityMapping, shape: RowShape, count: Int) -> SQLStatement {
        let marks = Array(repeating: "?", count: count).joined(separator: ", ")
        return SQLStatement(
            "SELECT \(shape.selection(alias: "t0")) FROM \(quoted(mapping.table)) t0 WHERE t0.Z_PK IN (\(marks))")
    }

    /// The columns that writing a property sets: its own, and the destination's entity. The order key of the inverse of
    /// an ordered relationship is written with the order.
    package static func writtenColumns(_ columns: [SlotColumn]) -> [String] {
        columns.flatMap(\.flattened).filter { !$0.isDerived }.flatMap {
            [$0.name] + [$0.entityColumn].compactMap { $0 }
        }
    }

    // MARK: To-many relationships

    /// The keys (and `Z_ENT`s) of the destinations of a to-many relationship, in order where it has one:
    /// `SELECT t0.Z_PK FROM ZPAGE t0 WHERE t0.ZBOOK = ? ORDER BY t0.Z_FOK_BOOK, t0.Z_PK`.
    package static func targets(_ toMany: ToManyMapping, destination: EntityMapping) -> SQLStatement {
        let columns = destination.sharesTable ? "t0.Z_PK, t0.Z_ENT" : "t0.Z_PK"
        switch toMany {
        case .foreignKey(let key):
            let order = key.orderColumn.map { "t0.\(quoted($0)), t0.Z_PK" } ?? "t0.Z_PK"
            return SQLStatement(
                "SELECT \(columns) FROM \(quoted(key.table)) t0 WHERE t0.\(quoted(key.column)) = ? ORDER BY \(order)")
        case .joinTable(let join):
            let order = join.orderColumn.map { "t1.\(quoted($0)), t0.Z_PK" } ?? "t0.Z_PK"
            return SQLStatement(
                "SELECT \(columns) FROM \(quoted(join.table)) t1 JOIN \(quoted(destination.table)) t0 ON "
                    + "t0.Z_PK = t1.\(quoted(join.destinationColumn)) WHERE t1.\(quoted(join.sourceColumn)) = ? "
                    + "ORDER BY \(order)")
        }
    }

    /// The same for many objects at once, whose keys come first:
    /// `SELECT t0.ZBOOK, t0.Z_PK FROM ZPAGE t0 WHERE t0.ZBOOK IN (?, ?) ORDER BY t0.ZBOOK, t0.Z_FOK_BOOK, t0.Z_PK`.
    package static func targets(_ toMany: ToManyMapping, destination: EntityMapping, count: Int) -> SQLStatement {
        let columns = destination.sharesTable ? "t0.Z_PK, t0.Z_ENT" : "t0.Z_PK"
        let marks = Array(repeating: "?", count: count).joined(separator: ", ")
        switch toMany {
        case .foreignKey(let key):
            let source = "t0.\(quoted(key.column))"
            let order = key.orderColumn.map { "t0.\(quoted($0)), t0.Z_PK" } ?? "t0.Z_PK"
            return SQLStatement(
                "SELECT \(source), \(columns) FROM \(quoted(key.table)) t0 WHERE \(source) IN (\(marks)) "
                    + "ORDER BY \(source), \(order)")
        case .joinTable(let join):
            let source = "t1.\(quoted(join.sourceColumn))"
            let order = join.orderColumn.map { "t1.\(quoted($0)), t0.Z_PK" } ?? "t0.Z_PK"
            return SQLStatement(
                "SELECT \(source), \(columns) FROM \(quoted(join.table)) t1 JOIN \(quoted(destination.table)) t0 ON "
                    + "t0.Z_PK = t1.\(quoted(join.destinationColumn)) WHERE \(source) IN (\(marks)) "
                    + "ORDER BY \(source), \(order)")
        }
    }

    /// `INSERT OR IGNORE INTO Z_5TAGS (Z_5NOTES, Z_13TAGS) VALUES (?, ?)`: both ends of a pair report it.
    package static func insertPair(_ join: JoinMapping) -> SQLStatement {
        SQLStatement(
            "INSERT OR IGNORE INTO \(quoted(join.table)) (\(quoted(join.sourceColumn)), \(quoted(join.destinationColumn))) "
                + "VALUES (?, ?)")
    }

    /// `DELETE FROM Z_5TAGS WHERE Z_5NOTES = ? AND Z_13TAGS = ?`
    package static func deletePair(_ join: JoinMapping) -> SQLStatement {
        SQLStatement(
            "DELETE FROM \(quoted(join.table)) WHERE \(quoted(join.sourceColumn)) = ? AND "
                + "\(quoted(join.destinationColumn)) = ?")
    }

    /// Takes a deleted object out of a join table: `DELETE FROM Z_5TAGS WHERE Z_5NOTES = ?`.
    package static func deletePairs(of join: JoinMapping) -> SQLStatement {
        SQLStatement("DELETE FROM \(quoted(join.table)) WHERE \(quoted(join.sourceColumn)) = ?")
    }

    /// Gives a destination an owner, for a relationship without inverse: `UPDATE ZINGREDIENT SET Z1SPEC = ?1 WHERE Z_PK = ?2`. What
    /// the destination's row has besides, its version included, is not concerned.
    package static func own(_ key: ForeignKeyMapping, by owner: EntityMapping) -> SQLStatement {
        var changes = ["\(quoted(key.column)) = ?1"]
        if let entity = key.entityColumn {
            changes.append("\(quoted(entity)) = (SELECT Z_ENT FROM \(quoted(owner.table)) WHERE Z_PK = ?1)")
        }
        if let order = key.orderColumn { changes.append("\(quoted(order)) = NULL") }
        return SQLStatement(
            "UPDATE \(quoted(key.table)) SET \(changes.joined(separator: ", ")) WHERE Z_PK = ?2")
    }

    /// Takes a destination from its owner: `UPDATE ZINGREDIENT SET Z1SPEC = NULL WHERE Z1SPEC = ?1 AND Z_PK = ?2`.
    package static func release(_ key: ForeignKeyMapping) -> SQLStatement {
        SQLStatement(releaseAll(key).text + " AND Z_PK = ?2")
    }

    /// Takes all destinations from an owner that is deleted: `UPDATE ZINGREDIENT SET Z1SPEC = NULL WHERE Z1SPEC = ?1`.
    package static func releaseAll(_ key: ForeignKeyMapping) -> SQLStatement {
        let changes = key.columns.map { "\(quoted($0)) = NULL" }.joined(separator: ", ")
        return SQLStatement("UPDATE \(quoted(key.table)) SET \(changes) WHERE \(quoted(key.column)) = ?1")
    }

    /// The order keys of an ordered relationship's destinations, by key.
    package static func orderKeys(_ toMany: ToManyMapping) -> SQLStatement? {
        switch toMany {
        case .foreignKey(let key):
            guard let order = key.orderColumn else { return nil }
            return SQLStatement(
                "SELECT Z_PK, \(quoted(order)) FROM \(quoted(key.table)) WHERE \(quoted(key.column)) = ?")
        case .joinTable(let join):
            guard let order = join.orderColumn else { return nil }
            return SQLStatement(
                "SELECT \(quoted(join.destinationColumn)), \(quoted(order)) FROM \(quoted(join.table)) WHERE "
                    + "\(quoted(join.sourceColumn)) = ?")
        }
    }

    /// Sets the order key of one destination: bound are the order key, the destination, and for join tables the source.
    package static func setOrderKey(_ toMany: ToManyMapping) -> SQLStatement? {
        switch toMany {
        case .foreignKey(let key):
            guard let order = key.orderColumn else { return nil }
            return SQLStatement("UPDATE \(quoted(key.table)) SET \(quoted(order)) = ? WHERE Z_PK = ?")
        case .joinTable(let join):
            guard let order = join.orderColumn else { return nil }
            return SQLStatement(
                "UPDATE \(quoted(join.table)) SET \(quoted(order)) = ? WHERE \(quoted(join.destinationColumn)) = ? AND "
                    + "\(quoted(join.sourceColumn)) = ?")
        }
    }

    // MARK: Bookkeeping

    /// The highest primary key that was ever handed out for a root entity, and the highest that a row of its table has:
    /// `SELECT Z_MAX, (SELECT MAX(Z_PK) FROM ZCAR) FROM Z_PRIMARYKEY WHERE Z_ENT = ?`
    package static func readMaximumKey(of table: String) -> SQLStatement {
        SQLStatement("SELECT Z_MAX, (SELECT MAX(Z_PK) FROM \(quoted(table))) FROM Z_PRIMARYKEY WHERE Z_ENT = ?")
    }
    /// Hands out primary keys.
    package static let writeMaximumKey = SQLStatement("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?")
    /// Numbers an entity.
    package static let insertEntity = SQLStatement(
        "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, ?)")
}
