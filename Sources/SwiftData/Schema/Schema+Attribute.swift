import CoreData

extension Schema {
    /// An attribute of an entity.
    public class Attribute: SchemaProperty, CustomDebugStringConvertible {
        /// The name.
        public var name: String
        /// The name in the previous version of the schema.
        public var originalName: String
        /// How values are kept.
        public var options: [Schema.Attribute.Option]
        /// The type of the values.
        public var valueType: any Any.Type
        /// The value of new models; nil for none.
        public var defaultValue: Any?
        /// Marks a change of meaning that the rest does not show.
        public var hashModifier: String?
        /// Whether it may have no value: whether its type is optional, unless it is set.
        public lazy var isOptional: Bool = optionalContent(of: valueType) != nil

        /// Creates the description that `@Attribute` makes of its arguments; a schema gives it its name and type.
        ///
        /// - Parameters:
        ///   - options: how values are kept.
        ///   - originalName: the name in the previous version of the schema; nil for the same.
        ///   - hashModifier: marks a change of meaning that the rest does not show.
        public init(
            _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
        ) {
            name = ""
            self.originalName = originalName ?? ""
            self.options = options
            valueType = Void.self
            self.hashModifier = hashModifier
        }

        /// Creates an attribute.
        ///
        /// - Parameters:
        ///   - name: the name.
        ///   - originalName: the name in the previous version of the schema; nil for the same.
        ///   - options: how values are kept.
        ///   - valueType: the type of the values.
        ///   - defaultValue: the value of new models; nil for none.
        ///   - hashModifier: marks a change of meaning that the rest does not show.
        public init(
            name: String, originalName: String? = nil, options: [Schema.Attribute.Option] = [],
            valueType: any Any.Type, defaultValue: Any? = nil, hashModifier: String? = nil
        ) {
            self.name = name
            self.originalName = originalName ?? name
            self.options = options
            self.valueType = valueType
            self.defaultValue = defaultValue
            self.hashModifier = hashModifier
        }

        private enum CodingKeys: CodingKey { case defaultValue, isOptional }

        /// What it has in common with relationships.
        private var facts: PropertyFacts<Option> {
            PropertyFacts(
                name: name, originalName: originalName, options: options, valueType: CodedType(valueType),
                hashModifier: hashModifier)
        }

        /// Decodes an attribute.
        ///
        /// - Parameter decoder: the decoder.
        /// - Throws: the errors of decoding, and one for a type that the program does not have.
        public required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let facts = try PropertyFacts<Option>(from: decoder)
            (name, originalName, options) = (facts.name, facts.originalName, facts.options)
            (valueType, hashModifier) = (facts.valueType.type, facts.hashModifier)
            if container.contains(.defaultValue), let type = valueType as? any Decodable.Type {
                defaultValue = StoredValue.unwrapped(try container.decode(type, forKey: .defaultValue))
            }
            isOptional = try container.decode(Bool.self, forKey: .isOptional)
        }

        /// Encodes the attribute. A default value that is not `Encodable` is left out.
        ///
        /// - Parameter encoder: the encoder.
        /// - Throws: the errors of encoding.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try facts.encode(to: encoder)
            try container.encode(isOptional, forKey: .isOptional)
            if let value = defaultValue as? any Encodable { try container.encode(value, forKey: .defaultValue) }
        }

        /// Whether both have the same name, type and options.
        ///
        /// - Parameters:
        ///   - lhs: an attribute.
        ///   - rhs: another one.
        /// - Returns: `true` if they are.
        public static func == (lhs: Schema.Attribute, rhs: Schema.Attribute) -> Bool {
            lhs === rhs || lhs.facts == rhs.facts
        }

        /// Hashes the name.
        ///
        /// - Parameter hasher: the hasher.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        /// Whether it is an attribute: `true`.
        public var isAttribute: Bool { true }
        /// Whether it is a relationship: `false`.
        public var isRelationship: Bool { false }
        /// Whether it is not kept in the store.
        public var isTransient: Bool { options.contains(.ephemeral) }
        /// Whether no two models have the same value.
        public var isUnique: Bool { options.contains(.unique) }
        /// Whether the values are kept as the bytes of their coding.
        public var isCodable: Bool { options.contains(.codable) }
        /// Whether a transformer makes bytes of the values.
        public var isTransformable: Bool { options.contains { $0.transformerName != nil } }

        /// The name, the type and the options.
        public var debugDescription: String { "\(name): \(valueType)\(options.isEmpty ? "" : " \(options)")" }
    }

    /// An attribute of a type with parts of its own, each of which has a column.
    public final class CompositeAttribute: Schema.Attribute, @unchecked Sendable {
        // @unchecked Sendable: as its superclass.

        /// The parts.
        public var properties: [Schema.Attribute] = []

        /// Creates an attribute with the parts that its type has.
        ///
        /// - Parameters:
        ///   - name: the name.
        ///   - originalName: the name in the previous version of the schema; nil for the same.
        ///   - options: how values are kept.
        ///   - valueType: the type of the values.
        ///   - defaultValue: the value of new models; nil for none.
        ///   - hashModifier: marks a change of meaning that the rest does not show.
        public override init(
            name: String, originalName: String? = nil, options: [Schema.Attribute.Option] = [],
            valueType: any Any.Type, defaultValue: Any? = nil, hashModifier: String? = nil
        ) {
            super.init(
                name: name, originalName: originalName, options: options, valueType: valueType,
                defaultValue: defaultValue, hashModifier: hashModifier)
            findProperties()
        }

        private init(part name: String, isOptional: Bool, _ shape: CompositeShape) {
            super.init(name: name, valueType: [String: Any].self)
            self.isOptional = isOptional
            properties = Self.properties(of: shape)
        }

        /// Decodes an attribute.
        ///
        /// - Parameter decoder: the decoder.
        /// - Throws: the errors of decoding, and one for a type that the program does not have.
        public required init(from decoder: any Decoder) throws {
            try super.init(from: decoder)
            findProperties()
        }

        /// Encodes the attribute; its type tells the parts.
        ///
        /// - Parameter encoder: the encoder.
        /// - Throws: the errors of encoding.
        public override func encode(to encoder: any Encoder) throws { try super.encode(to: encoder) }

        private func findProperties() {
            let type = optionalContent(of: valueType) ?? valueType
            guard case .composite(let shape) = AttributeShape(of: type, name: name) else { return }
            properties = Self.properties(of: shape)
        }

        private static func properties(of shape: CompositeShape) -> [Schema.Attribute] {
            shape.elements.map { element in
                if case .value(.composite(let inner)) = element.content {
                    return CompositeAttribute(part: element.name, isOptional: element.isOptional, inner)
                }
                let type: Any.Type =
                    switch element.content {
                    case .caseName: String.self
                    case .value(.primitive(let type)): type
                    case .value: Data.self
                    }
                let attribute = Schema.Attribute(name: element.name, valueType: type)
                attribute.isOptional = element.isOptional
                return attribute
            }
        }

        /// Whether both have the same name, type, options and parts.
        ///
        /// - Parameters:
        ///   - lhs: an attribute.
        ///   - rhs: another one.
        /// - Returns: `true` if they are.
        public static func == (lhs: Schema.CompositeAttribute, rhs: Schema.CompositeAttribute) -> Bool {
            lhs as Schema.Attribute == rhs as Schema.Attribute && lhs.properties == rhs.properties
        }

        /// The name, the type, the options and the parts.
        public override var debugDescription: String { "\(super.debugDescription) \(properties)" }
    }
}

extension Schema.Attribute {
    /// How the values of an attribute are kept.
    public struct Option: Codable, Hashable, Sendable, CustomDebugStringConvertible {
        private let name: String
        /// The name of the transformer; nil for another option.
        let transformerName: String?

        private init(_ name: String, transformerName: String? = nil) {
            (self.name, self.transformerName) = (name, transformerName)
        }

        /// No two models have the same value.
        public static var unique: Schema.Attribute.Option { Option("unique") }

        /// A transformer makes bytes of the values.
        ///
        /// - Parameter transformerType: the transformer's class, of which one is registered under the class's name.
        /// - Returns: the option.
        public static func transformable(by transformerType: ValueTransformer.Type) -> Schema.Attribute.Option {
            transformable(by: "\(transformerType)")
        }

        /// A transformer makes bytes of the values.
        ///
        /// - Parameter transformerName: the name under which the transformer is registered.
        /// - Returns: the option.
        public static func transformable(by transformerName: String) -> Schema.Attribute.Option {
            Option("transformable", transformerName: transformerName)
        }

        /// The values are kept as the bytes of their coding, JSON, rather than in a column for each part.
        public static var codable: Schema.Attribute.Option { Option("codable") }

        /// Large values are kept in files beside the store.
        public static var externalStorage: Schema.Attribute.Option { Option("externalStorage") }
        /// CloudKit may encrypt the values. It is kept with the schema, and not used here.
        public static var allowsCloudEncryption: Schema.Attribute.Option { Option("allowsCloudEncryption") }
        /// The history keeps the value of a deleted model.
        public static var preserveValueOnDeletion: Schema.Attribute.Option { Option("preserveValueOnDeletion") }
        /// Changes are observed, but the value is not kept in the store.
        public static var ephemeral: Schema.Attribute.Option { Option("ephemeral") }
        /// The values are meant for Spotlight. It is kept with the schema, and not used here.
        public static var spotlight: Schema.Attribute.Option { Option("spotlight") }

        /// The name of the option.
        public var debugDescription: String { transformerName.map { "\(name)(\($0))" } ?? name }
    }
}

extension Schema.Attribute {
    /// How values of a type are kept.
    ///
    /// - Parameters:
    ///   - type: the type of the property, without its optionality.
    ///   - name: the name of the property.
    ///   - attribute: what `@Attribute` says of it; nil for nothing.
    /// - Returns: the shape.
    static func shape(of type: Any.Type, name: String, _ attribute: Schema.Attribute?) -> AttributeShape {
        let options = attribute?.options ?? []
        if let name = options.lazy.compactMap(\.transformerName).first { return .transformable(name: name) }
        return options.contains(.codable) ? .json : AttributeShape(of: type, name: name)
    }
}

extension Schema.Attribute: @unchecked Sendable {
    // @unchecked Sendable: an attribute is set up before a container uses its schema, and only read from then on.
}
