/// The statements that adapt the history's changes to a new model. Pure.
package enum HistoryMoveSQL {
    private static let entity: SQLFragment = "ZENTITY"

    /// Removes the changes of objects whose entity is gone: `DELETE FROM ACHANGE WHERE ZENTITY = 4`.
    package static func removal(of numbers: [Int]) -> SQLFragment {
        "DELETE FROM ACHANGE WHERE \(SQLFragment.isEntity(numbers, entity))"
    }

    /// Renews the masks of changed properties: `UPDATE ACHANGE SET ZCOLUMNS = PippinChangedColumns(ZENTITY, ZCOLUMNS)
    /// WHERE ZCOLUMNS IS NOT NULL AND ZENTITY IN (1, 2)`.
    package static func masks(of numbers: [Int]) -> SQLFragment {
        let changes = SQLFragment.isEntity(numbers, entity)
        let mask = SQLFragment.call(.changedProperties, entity, "ZCOLUMNS")
        return "UPDATE ACHANGE SET ZCOLUMNS = \(mask) WHERE ZCOLUMNS IS NOT NULL AND \(changes)"
    }

    /// `UPDATE ACHANGE SET ZENTITY = CASE ZENTITY WHEN 3 THEN 2 END WHERE ZENTITY = 3`
    package static func renumbering(_ numbers: EntityNumbers) -> SQLFragment {
        "UPDATE ACHANGE SET ZENTITY = \(numbers.renumbered(entity)) WHERE \(numbers.arePresent(in: entity))"
    }

    /// Moves the tombstones of an entity's deleted objects: `UPDATE ACHANGE SET ZTOMBSTONE0 = ZTOMBSTONE1, ZTOMBSTONE1
    /// = NULL WHERE ZENTITY = 3`.
    ///
    /// - Parameters:
    ///   - places: the columns by number, and the column from which each gets its value; nil for NULL.
    ///   - number: the entity's number.
    /// - Returns: the statement.
    package static func tombstones(_ places: [(column: Int, source: Int?)], of number: Int) -> SQLFragment {
        func name(_ index: Int) -> SQLFragment { "\(name: HistorySQL.tombstone(index))" }
        let changes = places.map { "\(name($0.column)) = \($0.source.map(name) ?? "NULL")" as SQLFragment }
        return "UPDATE ACHANGE SET \(.list(changes)) WHERE \(SQLFragment.isEntity([number], entity))"
    }
}

/// The statements by which a store takes over the history of another store. Pure.
package struct HistoryTransferSQL: Sendable {
    /// The prefixes of table names: for the store that is written, and for the one with the history.
    private let (new, old): (SQLFragment, SQLFragment)
    /// The tables that map entities (`OLD`, `NEW`) and single objects (`OLD`, `OLDPK`, `NEW`, `NEWPK`).
    private let (entities, keys): (SQLFragment, SQLFragment)

    /// - Parameters:
    ///   - old: the name of the database with the history.
    ///   - new: the name of the database that is written.
    ///   - entities: the table that maps entities.
    ///   - keys: the table that maps objects.
    package init(from old: String, to new: String, entities: SQLFragment, keys: SQLFragment) {
        (self.old, self.new) = ("\(name: old).", "\(name: new).")
        (self.entities, self.keys) = (entities, keys)
    }

    /// `INSERT INTO main.ACHANGE SELECT * FROM old.ACHANGE`
    package func copy(_ table: String) -> SQLFragment {
        "INSERT INTO \(new)\(name: table) SELECT * FROM \(old)\(name: table)"
    }

    /// The numbers of the history's entities:
    /// `DELETE FROM main.Z_PRIMARYKEY WHERE Z_ENT >= 16001`, `INSERT INTO main.Z_PRIMARYKEY SELECT * FROM
    /// old.Z_PRIMARYKEY WHERE Z_ENT >= 16001`.
    package var numbers: [SQLFragment] {
        let ofHistory: SQLFragment = "Z_ENT >= \(number: StoreTables.firstHistoryNumber)"
        return [
            "DELETE FROM \(new)Z_PRIMARYKEY WHERE \(ofHistory)", "\(copy("Z_PRIMARYKEY")) WHERE \(ofHistory)",
        ]
    }

    /// The numbers of entities: `SELECT Z_NAME, Z_ENT FROM old.Z_PRIMARYKEY`.
    ///
    /// - Parameter isOld: whether to read those of the store with the history.
    /// - Returns: the statement.
    package func entityNumbers(isOld: Bool) -> SQLFragment {
        "SELECT Z_NAME, Z_ENT FROM \(isOld ? old : new)Z_PRIMARYKEY"
    }

    /// `INSERT INTO _T_ENTITIES (OLD, NEW) VALUES (?, ?)`
    package var insertEntity: SQLFragment { "INSERT INTO \(entities) (OLD, NEW) VALUES (\(.placeholders(2)))" }

    /// Adds a mapping of an object; one that became several is mapped to the first: `INSERT INTO _T_KEYS (OLD, OLDPK,
    /// NEW, NEWPK) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`.
    package var insertKey: SQLFragment {
        "INSERT INTO \(keys) (OLD, OLDPK, NEW, NEWPK) VALUES (\(.placeholders(4))) ON CONFLICT DO NOTHING"
    }

    /// Translates the entities, objects and changed properties of the changes to the new ones, and removes the changes
    /// of removed entities. Objects of one entity may have become objects of several, so both say which properties
    /// these are: `PippinChangedColumns(ZENTITY, <the new entity>, ZCOLUMNS)`.
    package var translation: [SQLFragment] {
        let known = SQLFragment.select("SELECT OLD FROM \(entities)")
        let row: SQLFragment = "FROM \(keys) WHERE OLD = ZENTITY AND OLDPK = ZENTITYPK"
        let key = SQLFragment.call(.ifNull, .select("SELECT NEWPK \(row)"), "ZENTITYPK")
        let number = SQLFragment.select("SELECT NEW FROM \(entities) WHERE OLD = ZENTITY")
        let entity = SQLFragment.call(.ifNull, .select("SELECT NEW \(row)"), number)
        let mask = ColumnConversion.value(
            .call(.changedProperties, "ZENTITY", entity, "ZCOLUMNS"), wherePresent: "ZCOLUMNS")
        return [
            "DELETE FROM \(new)ACHANGE WHERE ZENTITY NOT IN \(known)",
            "UPDATE \(new)ACHANGE SET ZENTITYPK = \(key), ZENTITY = \(entity), ZCOLUMNS = \(mask)",
        ]
    }
}
