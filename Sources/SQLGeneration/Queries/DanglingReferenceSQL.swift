/// The statements that find references that lead to no row. Pure.
package enum DanglingReferenceSQL {
    /// The rows whose to-one relationship leads to no row:
    /// `SELECT t0.Z_PK, t0.ZBOOK FROM ZPAGE t0 LEFT JOIN ZBOOK t1 ON t1.Z_PK = t0.ZBOOK WHERE t0.Z_ENT = 5 AND t0.ZBOOK
    /// IS NOT NULL AND t1.Z_PK IS NULL`.
    package static func toOne(
        _ column: SlotColumn, of source: EntityMapping, destination: EntityMapping
    ) -> SQLFragment {
        let reference: SQLFragment = "\(SQLColumn(column.name, of: "t0"))"
        let rows: SQLFragment = "SELECT \(.key, of: "t0"), \(reference) FROM \(name: source.table) t0"
        let own: SQLFragment = "\(.entity, of: "t0") = \(number: source.number)"
        return "\(rows) \(target(reference, destination)) WHERE \(own) AND \(isMissing(reference))"
    }

    /// The rows of a join table that lead to no row:
    /// `SELECT t0.Z_5NOTES, t0.Z_13TAGS FROM Z_5TAGS t0 LEFT JOIN ZTAG t1 ON t1.Z_PK = t0.Z_13TAGS WHERE t0.Z_13TAGS IS
    /// NOT NULL AND t1.Z_PK IS NULL`.
    package static func joinTable(_ join: JoinMapping, destination: EntityMapping) -> SQLFragment {
        let reference: SQLFragment = "\(SQLColumn(join.destinationColumn, of: "t0"))"
        let rows: SQLFragment =
            "SELECT \(SQLColumn(join.sourceColumn, of: "t0")), \(reference) FROM \(name: join.table) t0"
        return "\(rows) \(target(reference, destination)) WHERE \(isMissing(reference))"
    }

    private static func target(_ reference: SQLFragment, _ destination: EntityMapping) -> SQLFragment {
        let row: SQLFragment = "LEFT JOIN \(name: destination.table) t1 ON \(.key, of: "t1") = \(reference)"
        // A row of another entity in the same table is not a destination.
        guard destination.sharesTable else { return row }
        return "\(row) AND \(SQLFragment.isEntity(destination.numbers, "\(.entity, of: "t1")"))"
    }

    private static func isMissing(_ reference: SQLFragment) -> SQLFragment {
        "\(reference) IS NOT NULL AND \(.key, of: "t1") IS NULL"
    }
}
