/// The types in which values are sent and received, by the numbers that every PostgreSQL server has for them.
@usableFromInline package enum PostgresType: UInt32, Sendable {
    /// The server infers the type.
    case unknown = 0
    case boolean = 16
    case bytes = 17
    case bigint = 20
    case smallint = 21
    case integer = 23
    case text = 25
    case real = 700
    case double = 701
    case timestamp = 1184
    case numeric = 1700
    case uuid = 2950

    /// The type of arrays of these.
    package var array: UInt32 {
        switch self {
        case .unknown: 0
        case .boolean: 1000
        case .bytes: 1001
        case .bigint: 1016
        case .smallint: 1005
        case .integer: 1007
        case .text: 1009
        case .real: 1021
        case .double: 1022
        case .timestamp: 1185
        case .numeric: 1231
        case .uuid: 2951
        }
    }

    /// The name in SQL.
    package var name: String {
        switch self {
        case .unknown: "text"
        case .boolean: "boolean"
        case .bytes: "bytea"
        case .bigint: "bigint"
        case .smallint: "smallint"
        case .integer: "integer"
        case .text: "text"
        case .real: "real"
        case .double: "double precision"
        case .timestamp: "timestamp with time zone"
        case .numeric: "numeric"
        case .uuid: "uuid"
        }
    }
}
