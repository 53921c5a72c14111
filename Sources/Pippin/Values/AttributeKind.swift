import StoreSession

/// A kind of attribute.
enum AttributeKind: Sendable, Equatable {
    case boolean, integer16, integer32, integer64, float, double, string, date, data, uuid, url, decimal

    /// Core Data's name for it.
    var type: NSAttributeType {
        switch self {
        case .boolean: .booleanAttributeType
        case .integer16: .integer16AttributeType
        case .integer32: .integer32AttributeType
        case .integer64: .integer64AttributeType
        case .float: .floatAttributeType
        case .double: .doubleAttributeType
        case .string: .stringAttributeType
        case .date: .dateAttributeType
        case .data: .binaryDataAttributeType
        case .uuid: .UUIDAttributeType
        case .url: .URIAttributeType
        case .decimal: .decimalAttributeType
        }
    }

    /// The kind of Foundation types that have codings of their own, and are attributes here.
    init?(of type: Any.Type) {
        switch ObjectIdentifier(type) {
        case ObjectIdentifier(Date.self): self = .date
        case ObjectIdentifier(UUID.self): self = .uuid
        case ObjectIdentifier(URL.self): self = .url
        case ObjectIdentifier(Data.self): self = .data
        case ObjectIdentifier(Decimal.self): self = .decimal
        default: return nil
        }
    }
}

extension ListedKind {
    /// The kind of a list's elements for predicates; nil for one that they do not look into.
    init?(_ kind: AttributeKind) {
        switch kind {
        case .boolean: self = .boolean
        case .integer16, .integer32, .integer64: self = .integer
        case .float: self = .float
        case .double: self = .double
        case .string: self = .text
        case .date: self = .date
        case .uuid: self = .uuid
        case .url: self = .url
        // Base 64, and a number with more digits than JSON's readers keep.
        case .data, .decimal: return nil
        }
    }
}
