import CoreData

extension Schema {
    /// A relationship of an entity to another one.
    public final class Relationship: SchemaProperty, CustomDebugStringConvertible {
        /// The name.
        public var name: String
        /// The name in the previous version of the schema.
        public var originalName: String
        /// The key path from the model class; nil for a schema that was decoded.
        public var keypath: AnyKeyPath?
        /// Whether it is unique.
        public var options: [Schema.Relationship.Option]
        /// The type of the property.
        public var valueType: any Any.Type
        /// The name of the related entity.
        public var destination: String
        /// What happens to the related models when a model is deleted.
        public var deleteRule: Schema.Relationship.DeleteRule
        /// The name of the relationship that leads back; nil for none.
        public var inverseName: String?
        /// The key path of the relationship that leads back, if the model names it.
        public var inverseKeyPath: AnyKeyPath?
        /// The smallest number of related models.
        public var minimumModelCount: Int?
        /// The largest number of related models; 0 for no limit.
        public var maximumModelCount: Int?
        /// Marks a change of meaning that the rest does not show.
        public var hashModifier: String?

        /// Whether it leads to one model.
        public var isToOneRelationship: Bool {
            !((optionalContent(of: valueType) ?? valueType) is any RelationshipCollection.Type)
        }

        /// What happens to the related models when a model is deleted.
        public enum DeleteRule: String, Codable, Sendable {
            /// Nothing: their relationships keep leading to the deleted model.
            case noAction
            /// Their relationships to it become nil.
            case nullify
            /// They are deleted, too.
            case cascade
            /// The deletion is refused as long as there are any.
            case deny
        }

        /// A property of a relationship.
        public struct Option: Codable, Hashable, CustomDebugStringConvertible, Sendable {
            private let name: String

            /// No two models are related to the same one.
            public static var unique: Schema.Relationship.Option { Option(name: "unique") }

            /// The name of the option.
            public var debugDescription: String { name }
        }

        /// Creates the description that `@Relationship` makes of its arguments; a schema gives it its name and types.
        ///
        /// - Parameters:
        ///   - options: whether it is unique.
        ///   - deleteRule: what happens to the related models when a model is deleted.
        ///   - minimumModelCount: the smallest number of related models.
        ///   - maximumModelCount: the largest number of related models; 0 for no limit.
        ///   - originalName: the name in the previous version of the schema; nil for the same.
        ///   - inverse: the relationship that leads back.
        ///   - hashModifier: marks a change of meaning that the rest does not show.
        public init(
            _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify,
            minimumModelCount: Int? = 0, maximumModelCount: Int? = 0, originalName: String? = nil,
            inverse: AnyKeyPath? = nil, hashModifier: String? = nil
        ) {
            name = ""
            self.originalName = originalName ?? ""
            self.options = options
            valueType = Void.self
            destination = ""
            self.deleteRule = deleteRule
            inverseKeyPath = inverse
            self.minimumModelCount = minimumModelCount
            self.maximumModelCount = maximumModelCount
            self.hashModifier = hashModifier
        }

        private enum CodingKeys: CodingKey {
            case destination, deleteRule, inverseName, minimumModelCount, maximumModelCount
        }

        /// What it has in common with attributes.
        private var facts: PropertyFacts<Option> {
            PropertyFacts(
                name: name, originalName: originalName, options: options, valueType: CodedType(valueType),
                hashModifier: hashModifier)
        }

        /// Decodes a relationship.
        ///
        /// - Parameter decoder: the decoder.
        /// - Throws: the errors of decoding, and one for a type that the program does not have.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let facts = try PropertyFacts<Option>(from: decoder)
            (name, originalName, options) = (facts.name, facts.originalName, facts.options)
            (valueType, hashModifier) = (facts.valueType.type, facts.hashModifier)
            destination = try container.decode(String.self, forKey: .destination)
            deleteRule = try container.decode(DeleteRule.self, forKey: .deleteRule)
            inverseName = try container.decodeIfPresent(String.self, forKey: .inverseName)
            minimumModelCount = try container.decodeIfPresent(Int.self, forKey: .minimumModelCount)
            maximumModelCount = try container.decodeIfPresent(Int.self, forKey: .maximumModelCount)
        }

        /// Encodes the relationship, without its key paths.
        ///
        /// - Parameter encoder: the encoder.
        /// - Throws: the errors of encoding.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try facts.encode(to: encoder)
            try container.encode(destination, forKey: .destination)
            try container.encode(deleteRule, forKey: .deleteRule)
            try container.encodeIfPresent(inverseName, forKey: .inverseName)
            try container.encodeIfPresent(minimumModelCount, forKey: .minimumModelCount)
            try container.encodeIfPresent(maximumModelCount, forKey: .maximumModelCount)
        }

        /// Whether no two models are related to the same one.
        public var isUnique: Bool { options.contains(.unique) }
        /// Whether it is an attribute: `false`.
        public var isAttribute: Bool { false }
        /// Whether it is a relationship: `true`.
        public var isRelationship: Bool { true }
        /// Whether it is not kept in the store: `false`.
        public var isTransient: Bool { false }

        /// Whether both have the same name, destination, inverse and rules.
        ///
        /// - Parameters:
        ///   - lhs: a relationship.
        ///   - rhs: another one.
        /// - Returns: `true` if they are.
        public static func == (lhs: Schema.Relationship, rhs: Schema.Relationship) -> Bool {
            lhs === rhs
                || lhs.facts == rhs.facts && lhs.destination == rhs.destination && lhs.deleteRule == rhs.deleteRule
                    && lhs.inverseName == rhs.inverseName && lhs.minimumModelCount == rhs.minimumModelCount
                    && lhs.maximumModelCount == rhs.maximumModelCount
        }

        /// Hashes the name.
        ///
        /// - Parameter hasher: the hasher.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        /// The name, the type, the inverse and the delete rule.
        public var debugDescription: String {
            "\(name): \(valueType), inverse \(inverseName ?? "none"), \(deleteRule.rawValue)"
        }
    }
}

extension Schema.Relationship: @unchecked Sendable {
    // @unchecked Sendable: a relationship is set up before a container uses its schema, and only read from then on.
}
