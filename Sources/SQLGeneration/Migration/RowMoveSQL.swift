import CompactCollections

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
