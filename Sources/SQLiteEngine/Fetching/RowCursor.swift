import SQLiteConnection
import StoreEngine

/// The rows of a statement, read a portion at a time: what is done with one portion may read the store itself.
///
/// What others write after the cursor was made is not in them. What is written through the same connection may be: SQLite promises
/// neither.
final class RowCursor: RowPortions {
    // Confined to the queue of the store's coordinator.
    private let store: OpenStore
    private let reader: RowReader
    /// Stands on the next row; `nil` at the end.
    private var statement: Statement?

    init(_ store: OpenStore, _ reader: RowReader, _ statement: Statement) throws {
        self.store = store
        self.reader = reader
        // From its first step on, nobody else takes the statement.
        if try statement.step() { self.statement = statement } else { statement.reset() }
    }

    deinit { statement?.reset() }

    /// The next rows, none at the end.
    func next(_ count: Int) throws -> ContiguousArray<Row> {
        guard let statement else { return [] }
        return try store.run("fetch from") {
            var rows = ContiguousArray<Row>()
            rows.reserveCapacity(min(count, 1 << 12))
            while rows.count < count {
                rows.append(try reader.row(statement))
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
