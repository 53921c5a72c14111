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

/// What values are compared with one another. In memory, values of two kinds are unequal, and neither is less; SQLite
/// orders them by their kinds.
enum ValueKind {
    case number, date, text, uuid, data, object
    /// A transformable value, which is an archive of anything.
    case archive

    init(_ storage: ColumnStorage) {
        self =
            switch storage {
            case .integer, .boolean, .double, .float, .decimal: .number
            case .date: .date
            case .string, .url: .text
            case .uuid: .uuid
            case .data: .data
            case .transformable: .archive
            case .toOne: .object
            }
    }

    /// The kind of a constant; nil for nil and for collections.
    init?(_ value: Value) {
        switch value {
        case .null, .collection: return nil
        case .integer, .double, .decimal: self = .number
        case .date: self = .date
        case .string, .url: self = .text
        case .uuid: self = .uuid
        case .data: self = .data
        case .object: self = .object
        }
    }

    /// Whether values can be equal, or one of them less. A date beside a number is seconds since 2001.
    func isComparable(with other: ValueKind) -> Bool {
        switch (self, other) {
        case (.number, .date), (.date, .number): true
        default: self == other
        }
    }
}
