import SQLiteEngine

/// What a column of a row gets when the row is brought to a new model.
enum MovedValue: Equatable {
    /// NULL.
    case nothing
    /// What a column of the former table has, as it is.
    case column(String)
    /// What an SQL expression says.
    case computed(String)

    var sql: String {
        switch self {
        case .nothing: "NULL"
        case .column(let name): quoted(name)
        case .computed(let expression): expression
        }
    }

    /// The same, but something else where it is NULL.
    func orElse(_ fallback: String?) -> MovedValue {
        fallback.map { .computed("IFNULL(\(sql), \($0))") } ?? self
    }
}
