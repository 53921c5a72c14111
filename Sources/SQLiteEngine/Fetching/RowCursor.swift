import SQLiteConnection
import StoreEngine

/// The rows of a statement, read in portions. Work on one portion may itself read from the store.
///
/// Rows that others write after the cursor was made are not included. Rows written through the same connection may or
/// may not be: SQLite promises nothing.
final class RowCursor: RowPortions {
    // Used only under the coordinator's lock.
    private let store: OpenStore
    private let reader: RowReader
    /// Positioned at the next row; `nil` at the end.
    private var statement: Statement?

    init(_ store: OpenStore, _ reader: RowReader, _ statement: Statement) throws {
        self.store = store
        self.reader = reader
        // Once it has been stepped, no other cursor uses the statement.
        if try statement.step() { self.statement = statement } else { statement.reset() }
    }

    deinit { statement?.reset() }

    /// A portion has no more rows once its values have so many bytes, where it is known how many may be read at once.
    private static let portionSize = 1 << 22

    /// The next rows; empty at the end.
    func next(_ count: Int) throws -> ContiguousArray<Row> {
        guard let statement else { return [] }
        return try store.run("fetch from") {
            var rows = ContiguousArray<Row>()
            rows.reserveCapacity(min(count, 1 << 12))
            var size = 0
            while rows.count < count, size < Self.portionSize {
                let row = try reader.row(statement)
                if reader.budget != nil { size += row.byteCount }
                rows.append(row)
                guard try statement.step() else {
                    statement.reset()
                    self.statement = nil
                    break
                }
            }
            return rows
        }
    }
}
