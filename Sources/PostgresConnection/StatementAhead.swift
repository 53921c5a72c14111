/// A statement that was sent and whose rows nobody has asked for yet.
package final class StatementAhead {
    let sql: String
    var result: Result<PostgresResult, any Error>?

    init(_ sql: String) { self.sql = sql }
}
