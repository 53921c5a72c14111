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
