import CoreData

/// A property of an entity.
public protocol SchemaProperty: Decodable, Encodable, Hashable {
    /// The name.
    var name: String { get set }
    /// The name in the previous version of the schema; the name itself if it is the same.
    var originalName: String { get set }
    /// The type of the values.
    var valueType: any Any.Type { get set }
    /// Whether it is an attribute.
    var isAttribute: Bool { get }
    /// Whether it is a relationship.
    var isRelationship: Bool { get }
    /// Whether it is not kept in the store.
    var isTransient: Bool { get }
    /// Whether it may have no value.
    var isOptional: Bool { get }
    /// Whether no two models have the same value.
    var isUnique: Bool { get }
}

extension SchemaProperty {
    /// Whether it is an attribute: `false`.
    public var isAttribute: Bool { false }
    /// Whether it is a relationship: `false`.
    public var isRelationship: Bool { false }
    /// Whether it is not kept in the store: `false`.
    public var isTransient: Bool { false }
    /// Whether it may have no value: whether its type is optional.
    public var isOptional: Bool { optionalContent(of: valueType) != nil }
}

/// What attributes and relationships have in common, coded among their other values.
struct PropertyFacts<Option: Codable & Equatable>: Codable, Equatable {
    var name: String
    var originalName: String
    var options: [Option]
    var valueType: CodedType
    var hashModifier: String?
}

/// A type as its mangled name, from which the program that has the type finds it again.
struct CodedType: Codable, Equatable {
    let type: Any.Type

    static func == (left: CodedType, right: CodedType) -> Bool { left.type == right.type }

    init(_ type: Any.Type) { self.type = type }

    init(from decoder: any Decoder) throws {
        let name = try decoder.singleValueContainer().decode(String.self)
        guard let type = _typeByName(name) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: "The program has no type with the name “\(name)”."
                ))
        }
        self.type = type
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(_mangledTypeName(type) ?? "\(type)")
    }
}
