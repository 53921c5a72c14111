// How Core Data's own files declare and order columns, by which the columns of an existing store are recognized.
// Another format defines its own in its dialect.

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

    /// The position of the column's kind in Core Data's tables: columns are grouped by kind, and within a group ordered
    /// by entity, attributes before relationships, each by name.
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
