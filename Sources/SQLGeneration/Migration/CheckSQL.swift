import CompactCollections

/// The statements that find rows which do not fit a new model: such a row stops the migration. Pure.
package enum CheckSQL {
    /// Rows with an unknown entity number: `SELECT Z_PK FROM ZCAR WHERE Z_ENT IS NULL OR NOT (Z_ENT IN (1, 2)) LIMIT
    /// 1`.
    package static func strangers(in table: String, among numbers: [Int]) -> SQLFragment {
        first(in: table, where: "\(.entity) IS NULL OR NOT (\(SQLFragment.isEntity(numbers)))")
    }

    /// Rows of an entity without a value: `SELECT Z_PK FROM ZCAR WHERE Z_ENT = 1 AND ZNAME IS NULL LIMIT 1`.
    ///
    /// - Parameters:
    ///   - column: the column.
    ///   - mapping: the entity.
    ///   - present: groups of columns; a row counts only if each group has at least one value in it.
    /// - Returns: the statement.
    package static func missing(
        _ column: String, of mapping: EntityMapping, whereAnyOf present: [[String]] = []
    ) -> SQLFragment {
        let conditions = [own(mapping)] + present.map(ColumnConversion.isAnyPresent) + ["\(name: column) IS NULL"]
        return first(in: mapping.table, where: .joined(conditions, separator: " AND "))
    }

    /// Rows of an entity with a number beyond limits, and the number: `SELECT Z_PK, CAST(ZWHEELS AS TEXT) FROM ZCAR
    /// WHERE Z_ENT = 1 AND NOT (ZWHEELS > -32769 AND ZWHEELS < 32768) LIMIT 1`.
    package static func outside(_ limits: NumberLimits, _ column: String, of mapping: EntityMapping) -> SQLFragment {
        first(
            "\(.key), CAST(\(name: column) AS TEXT)", in: mapping.table,
            where: "\(own(mapping)) AND \(limits.areExceeded(by: "\(name: column)"))")
    }

    /// Rows of an entity itself: `SELECT Z_PK FROM ZCAR WHERE Z_ENT = 1 LIMIT 1`.
    package static func rows(of mapping: EntityMapping) -> SQLFragment {
        first(in: mapping.table, where: own(mapping))
    }

    /// Any row of a table that is no entity's: `SELECT 1 FROM Z_1TAGS LIMIT 1`.
    package static func rows(of table: String) -> SQLFragment { "SELECT 1 FROM \(name: table) LIMIT 1" }

    private static func own(_ mapping: EntityMapping) -> SQLFragment { "\(.entity) = \(number: mapping.number)" }

    private static func first(
        _ columns: SQLFragment = "\(.key)", in table: String, where condition: SQLFragment
    ) -> SQLFragment {
        "SELECT \(columns) FROM \(name: table) WHERE \(condition) LIMIT 1"
    }
}
