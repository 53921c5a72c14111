/// The formats of rows.
package enum RowFormat: String, CaseIterable, Sendable {
    case table
    case csv
    case json
    case jsonl

    package var mediaType: String {
        switch self {
        case .table: "text/plain; charset=utf-8"
        case .csv: "text/csv; charset=utf-8; header=present"
        case .json: "application/json"
        case .jsonl: "application/jsonl"
        }
    }
}
