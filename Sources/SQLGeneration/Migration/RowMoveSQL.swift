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
