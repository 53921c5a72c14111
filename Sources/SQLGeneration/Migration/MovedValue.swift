/// What a column of a row gets when the row is brought to a new model.
package enum MovedValue: Equatable, Sendable {
    /// NULL.
    case nothing
    /// What a column of the former table has, as it is.
    case column(String)
    /// What an SQL expression says.
    case computed(SQLFragment)

    var sql: SQLFragment {
        switch self {
        case .nothing: "NULL"
        case .column(let name): "\(name: name)"
        case .computed(let expression): expression
        }
    }

    /// The same, but something else where it is NULL.
    package func orElse(_ fallback: SQLFragment?) -> MovedValue {
        fallback.map { .computed(.call(.ifNull, sql, $0)) } ?? self
    }
}
