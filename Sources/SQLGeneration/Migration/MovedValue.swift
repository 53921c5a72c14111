import CompactCollections

/// The value of a column when its row is moved to a new model.
package enum MovedValue: Equatable, Sendable {
    /// NULL.
    case nothing
    /// The value of a column of the former table, unchanged.
    case column(String)
    /// The value of an SQL expression.
    case computed(SQLFragment)

    var sql: SQLFragment {
        switch self {
        case .nothing: "NULL"
        case .column(let name): "\(name: name)"
        case .computed(let expression): expression
        }
    }

    /// The same value for a further column, if a file has it.
    package var inlined: MovedValue { .computed(.call(.inlinedContent, sql)) }

    /// The same value, with a fallback if it is NULL.
    package func orElse(_ fallback: SQLFragment?) -> MovedValue {
        fallback.map { .computed(.call(.ifNull, sql, $0)) } ?? self
    }

    /// The same value, but another one in the rows that meet a condition.
    package func replaced(by other: SQLFragment, where condition: SQLFragment) -> MovedValue {
        .computed("CASE WHEN \(condition) THEN \(other) ELSE \(sql) END")
    }
}
