/// One step of a migration in place.
package enum MigrationStep: Equatable, Sendable {
    /// Runs a statement.
    case run(String)
    /// Runs a `SELECT` that must return no rows; a row means that the objects do not fit the new model.
    case expectNone(String, MigrationViolation)
    /// Compiles a statement, which fires the named trigger of another program; an error means that the trigger does not
    /// fit the new tables.
    case compile(String, trigger: String)
    /// Creates a table with columns of other programs; an error means that these do not fit it.
    case create(String, columns: String)

    /// The statement.
    package var sql: String {
        switch self {
        case .run(let sql), .expectNone(let sql, _), .compile(let sql, _), .create(let sql, _): return sql
        }
    }
}
