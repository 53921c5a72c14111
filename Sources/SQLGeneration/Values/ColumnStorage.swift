import CoreDataModel

/// How a value is stored in a column: what SQLite stores, and what it means.
package enum ColumnStorage: Sendable, Equatable {
    /// An integer; also a Boolean, if the database has no type for it.
    case integer
    /// A Boolean, if the database has a type for it.
    case boolean
    case double
    /// Single precision, stored as a double.
    case float
    /// Seconds since 2001-01-01 00:00 UTC.
    case date
    case decimal
    case string
    case url
    /// The 16 bytes of a UUID.
    case uuid
    /// Bytes; with Core Data's leading byte if the attribute allows external storage.
    case data(allowsExternal: Bool)
    /// The output of a value transformer; with the leading byte if external storage is allowed.
    case transformable(allowsExternal: Bool)
    /// The primary key of a destination.
    case toOne

    /// Whether the column may name a file that has its value.
    package var allowsExternal: Bool {
        switch self {
        case .data(let allowsExternal), .transformable(let allowsExternal): allowsExternal
        default: false
        }
    }

    /// Whether the column holds archives, whose content is opaque to the store.
    var isTransformable: Bool { if case .transformable = self { true } else { false } }

    /// Whether the column holds numbers.
    var isNumber: Bool {
        switch self {
        case .integer, .boolean, .double, .float, .decimal: true
        case .date, .string, .url, .uuid, .data, .transformable, .toOne: false
        }
    }

    /// The storage of an attribute's type; nil for types that are never stored in one column.
    package init?(_ attribute: AttributeLayout) {
        switch attribute.type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType:
            self = .integer
        case .doubleAttributeType: self = .double
        case .floatAttributeType: self = .float
        case .dateAttributeType: self = .date
        case .decimalAttributeType: self = .decimal
        case .stringAttributeType: self = .string
        case .URIAttributeType: self = .url
        case .UUIDAttributeType: self = .uuid
        case .binaryDataAttributeType: self = .data(allowsExternal: attribute.allowsExternalStorage)
        case .transformableAttributeType: self = .transformable(allowsExternal: attribute.allowsExternalStorage)
        case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: return nil
        }
    }
}
