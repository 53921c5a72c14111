/// The statements that move rows to a new model. Pure.
package enum RowMoveSQL {
    /// `INSERT INTO ZCAR (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT Z_PK, 3, Z_OPT, ZNAME FROM _T_ZCAR WHERE Z_ENT = 2`
    ///
    /// - Parameters:
    ///   - table: the destination's table.
    ///   - source: the table that the rows are in.
    ///   - numbers: the entities of the rows.
    ///   - values: the values of the columns, in order.
    ///   - extra: columns that the model does not know, and that stay.
    /// - Returns: the statement.
    package static func insertion(
        into table: String, from source: String, numbers: EntityNumbers, values: [(column: String, value: MovedValue)],
        extra: [String]
    ) -> SQLFragment {
        let names = values.map(\.column) + extra
        let columns: [SQLFragment] = ["\(.key)", "\(.entity)", "\(.version)"] + names.map { "\(name: $0)" }
        let only = numbers.pairs.count == 1 ? numbers.pairs.first : nil
        let entity: SQLFragment = only.map { "\(number: $0.new)" } ?? numbers.renumbered()
        let selected: [SQLFragment] =
            ["\(.key)", entity, "\(.version)"] + values.map(\.value.sql) + extra.map { "\(name: $0)" }
        let rows: SQLFragment = "SELECT \(.list(selected)) FROM \(name: source) WHERE \(numbers.arePresent())"
        return "INSERT INTO \(name: table) (\(.list(columns))) \(rows)"
    }

    /// `UPDATE ZCAR SET ZWHEELS = 4 WHERE Z_ENT = 2`
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - numbers: the entities of the rows.
    ///   - values: the new values of columns.
    /// - Returns: the statement.
    package static func update(
        _ table: String, numbers: EntityNumbers, values: [(column: String, value: MovedValue)]
    ) -> SQLFragment {
        let changes = values.map { "\(name: $0.column) = \($0.value.sql)" as SQLFragment }
        return "UPDATE \(name: table) SET \(.list(changes)) WHERE \(numbers.arePresent())"
    }

    /// Removes the rows of entities: `DELETE FROM ZCAR WHERE Z_ENT = 4`.
    package static func removal(of numbers: [Int], from table: String) -> SQLFragment {
        "DELETE FROM \(name: table) WHERE \(SQLFragment.isEntity(numbers))"
    }

    /// Gives rows the new numbers of their entities: `UPDATE ZCAR SET Z_ENT = CASE Z_ENT WHEN 3 THEN 2 END WHERE Z_ENT
    /// = 3`.
    package static func renumbering(of table: String, _ numbers: EntityNumbers) -> SQLFragment {
        "UPDATE \(name: table) SET \(.entity) = \(numbers.renumbered()) WHERE \(numbers.arePresent())"
    }
}

/// The value of a column when its row is moved to a new model.
package enum MovedValue: Equatable, Sendable {
    /// NULL.
    case nothing
    /// The value of a column of the former table, unchanged.
    case column(String)
    /// The value of an SQL expression.
    case computed(SQLFragment)

    var sql: SQLFragment {
        switch self {
        case .nothing: "NULL"
        case .column(let name): "\(name: name)"
        case .computed(let expression): expression
        }
    }

    /// The same value for a further column, if a file has it.
    package var inlined: MovedValue { .computed(.call(.inlinedContent, sql)) }

    /// The same value, with a fallback if it is NULL.
    package func orElse(_ fallback: SQLFragment?) -> MovedValue {
        fallback.map { .computed(.call(.ifNull, sql, $0)) } ?? self
    }

    /// The same value, but another one in the rows that meet a condition.
    package func replaced(by other: SQLFragment, where condition: SQLFragment) -> MovedValue {
        .computed("CASE WHEN \(condition) THEN \(other) ELSE \(sql) END")
    }
}

/// The numbers of entities before and after a migration. Pure.
package struct EntityNumbers: Equatable, Sendable {
    package var pairs: [Pair]

    package struct Pair: Equatable, Sendable {
        package let old: Int
        package let new: Int

        package init(old: Int, new: Int) { (self.old, self.new) = (old, new) }
    }

    package init(_ pairs: [Pair]) { self.pairs = pairs }

    /// The numbers that change.
    package var changing: EntityNumbers { EntityNumbers(pairs.filter { $0.old != $0.new }) }
    package var isEmpty: Bool { pairs.isEmpty }

    /// Whether a column holds one of the old numbers: `Z_ENT IN (3, 4)`.
    package func arePresent(in column: SQLFragment = "\(.entity)") -> SQLFragment {
        .isEntity(pairs.map(\.old), column)
    }

    /// The new number for the old one in a column; the column itself if no number changes.
    package func renumbered(_ column: SQLFragment = "\(.entity)") -> SQLFragment {
        changing.isEmpty ? column : renumberedOrNothing(column)
    }

    /// The same, with NULL for all other numbers: `CASE Z_ENT WHEN 3 THEN 2 WHEN 4 THEN 3 END`.
    package func renumberedOrNothing(_ column: SQLFragment) -> SQLFragment {
        let cases = pairs.map { "WHEN \(number: $0.old) THEN \(number: $0.new)" as SQLFragment }
        return "CASE \(column) \(.joined(cases, separator: " ")) END"
    }
}

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
