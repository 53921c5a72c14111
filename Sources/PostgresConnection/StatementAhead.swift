/// A statement that was sent ahead: its rows have not been requested yet.
package final class StatementAhead {
    let sql: String
    var result: Result<PostgresResult, any Error>?

    /// Whether it runs outside of a transaction.
    let isByItself: Bool

    init(_ sql: String, isByItself: Bool) { (self.sql, self.isByItself) = (sql, isByItself) }
}
