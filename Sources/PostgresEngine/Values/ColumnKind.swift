import CoreDataModel
import PostgresConnection
import SQLGeneration

/// The content of a column.
package enum ColumnKind: UInt8, Sendable {
    case smallint, integer, bigint, boolean, double, date, string, url, uuid, decimal, data, transformable
    /// The key of a destination.
    case key
    /// The number of a destination's entity.
    case entityNumber

    package init(_ storage: ColumnStorage, _ attribute: AttributeLayout?) {
        switch storage {
        case .integer:
            switch attribute?.type {
            case .integer16AttributeType: self = .smallint
            case .integer32AttributeType: self = .integer
            default: self = .bigint
            }
        case .boolean: self = .boolean
        case .double, .float: self = .double
        case .date: self = .date
        case .decimal: self = .decimal
        case .string: self = .string
        case .url: self = .url
        case .uuid: self = .uuid
        case .data: self = .data
        case .transformable: self = .transformable
        case .toOne: self = .key
        }
    }

    package var type: PostgresType {
        switch self {
        case .smallint: .smallint
        case .integer, .entityNumber: .integer
        case .bigint, .key: .bigint
        case .boolean: .boolean
        case .double: .double
        case .date: .timestamp
        case .string, .url: .text
        case .uuid: .uuid
        case .decimal: .numeric
        case .data, .transformable: .bytes
        }
    }

    /// The type as a table declares it. Texts are ordered by their bytes, as everywhere in Pippin.
    package var declaration: String { type == .text ? "text COLLATE \"C\"" : type.name }
}
