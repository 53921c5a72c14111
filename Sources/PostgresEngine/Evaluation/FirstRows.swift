import CoreDataModel
import PostgresConnection
import PredicateFormat
import SQLGeneration
import StoreEngine

// Where only the first rows are wanted that satisfy a condition which is evaluated here, the rows are read in portions
// until there are enough.
extension OpenDatabase {
    /// The first portion that is read; each further one is twice as large, up to the greatest.
    private static let firstPortion = 256
    private static let greatestPortion = 16_384

    /// The first rows in the order of the database that satisfy the rest of a predicate.
    ///
    /// - Parameters:
    ///   - count: how many are wanted.
    ///   - statement: finds the rows to check.
    ///   - satisfies: the rows of a portion that satisfy the rest.
    /// - Returns: the rows, as many as wanted or all; nil if the server cannot compute a part of the statement.
    /// - Throws: the server's errors, and those of the evaluation.
    func firstRows(
        _ count: Int, of statement: FetchStatement, _ satisfies: (ContiguousArray<Row>) throws -> ContiguousArray<Row>
    ) throws -> ContiguousArray<Row>? {
        guard connection.isInTransaction, let shape = statement.shape else { return nil }
        let sql = statement.sql.postgres
        do {
            let parameters = try ParameterBinder.parameters(sql.bindings, BindingContext(store: identity))
            guard parameters.count < 65_536 else { return nil }
            return try connection.part {
                let cursor = try RowCursor(self, sql.text, RowReader(shape, readingContext), parameters)
                var found: ContiguousArray<Row> = []
                var portion = max(Self.firstPortion, min(count, Self.greatestPortion))
                while found.count < count, let result = try cursor.nextResult(portion) {
                    found += try satisfies(try cursor.reader.rows(result))
                    portion = min(portion * 2, Self.greatestPortion)
                }
                return found
            }
        } catch is Inexact { return nil } catch let error as PostgresError
            where error.isSyntaxOrTypeError || error.isDataError
        {
            return nil
        }
    }
}
