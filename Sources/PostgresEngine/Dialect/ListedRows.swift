import PredicateFormat
import SQLGeneration

extension ListedKind {
    /// The single values of a list as rows, from the bytes of its JSON:
    /// `(SELECT value::bigint AS value FROM json_array_elements_text(convert_from(t0.sizes, 'UTF8')::json))`.
    ///
    /// For bytes that are no list, and a zero character, PostgreSQL refuses the statement; then the engine evaluates
    /// the condition itself.
    func rows(in json: SQLFragment) -> SQLFragment {
        "(SELECT \(value) AS value FROM json_array_elements_text(convert_from(\(json), 'UTF8')::json))"
    }

    /// A value in its type.
    private var value: SQLFragment {
        switch self {
        case .boolean: "value::boolean"
        case .integer: "value::bigint"
        case .float: "value::real"
        case .double: "value::double precision"
        case .text, .url: "value COLLATE \"C\""
        case .uuid: "value::uuid"
        // Never run: a timestamp has fewer digits than a date in JSON.
        case .date: "NULL::timestamp"
        }
    }
}
