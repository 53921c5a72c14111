/// A new row, or a change of the row that conflicts with it.
package struct SQLInsert: Sendable, Equatable {
    package enum Conflict: Sendable, Equatable {
        /// The existing row stays, which is no error.
        case ignored
        /// The existing row takes these values.
        case updates(SQLFragment)
    }

    package var table: String
    package var columns: [SQLColumn]
    /// The selection of the rows; nil for one row whose values are bound.
    package var rows: SQLFragment?
    /// What to do about a row with the same unique values; nil for an error.
    package var conflict: Conflict?
    /// Whether the key of the row is to be read.
    package var returnsKey = false
    /// Whether the row's entity is to be read, after its key.
    package var returnsEntity = false

    package init(
        into table: String, _ columns: [SQLColumn], rows: SQLFragment? = nil, conflict: Conflict? = nil,
        returnsKey: Bool = false, returnsEntity: Bool = false
    ) {
        self.returnsEntity = returnsEntity
        self.table = table
        self.columns = columns
        self.rows = rows
        self.conflict = conflict
        self.returnsKey = returnsKey
    }
}
