// How Core Data's own files declare and order columns. Columns of a store that exists are told apart by it; another format has its own way, in its
// dialect.

extension ColumnStorage {
    /// The type in Core Data's `CREATE TABLE`.
    package var declaredType: String {
        switch self {
        case .integer, .boolean, .toOne: return "INTEGER"
        case .double, .float: return "FLOAT"
        case .date: return "TIMESTAMP"
        case .decimal: return "DECIMAL"
        case .string, .url: return "VARCHAR"
        case .uuid, .data, .transformable: return "BLOB"
        }
    }

    /// Where Core Data puts the column among the table's: it groups columns by kind, and within a group goes entity by
    /// entity, attributes before relationships, each by name.
    var group: Int {
        switch self {
        case .integer, .boolean, .toOne: return 0
        case .date, .double, .float: return 2
        case .decimal: return 3
        case .string: return 4
        case .uuid, .url: return 5
        case .data, .transformable: return 6
        }
    }

    /// The group of the columns that order to-many relationships, after the other integers.
    static let orderGroup = 1
}
