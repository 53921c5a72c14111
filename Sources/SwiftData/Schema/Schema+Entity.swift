import CoreData

extension Schema {
    /// An entity: the properties of a model class.
    public final class Entity: Codable, Hashable, CustomDebugStringConvertible {
        /// The name.
        public var name: String
        /// The entities that inherit from it.
        public var subentities: Set<Schema.Entity> = [] {
            didSet { for entity in subentities { entity.superentity = self } }
        }
        /// The name of the entity whose properties it inherits; nil for none.
        public var superentityName: String?
        /// The entity whose properties it inherits; nil for none.
        public var superentity: Schema.Entity? {
            get { parent }
            set {
                parent = newValue
                superentityName = newValue?.name
            }
        }
        private weak var parent: Schema.Entity?
        /// The model class; nil for an entity that was not made of one. Public code finds it with a mirror.
        var _objectType: (any PersistentModel.Type)?

        /// Its own attributes.
        public var attributes: Set<Schema.Attribute> = []
        /// Its own relationships.
        public var relationships: Set<Schema.Relationship> = []
        /// The constraints, as the names of properties whose values are unique together.
        public var uniquenessConstraints: [[String]] = []
        /// The indexes, as the names of their properties.
        public var indices: [[String]] = []
        /// The indexes of locations, as the names of their properties.
        var rtreeIndices: [[String]] = []
        /// The order of its own properties.
        private var order: [String] = []

        /// All properties that its models have values of, inherited ones first. Setting them leaves inherited ones as
        /// they are.
        public var storedProperties: [any SchemaProperty] {
            get { properties }
            set {
                let inherited = Set(inheritedProperties.map(\.name))
                ownProperties = newValue.filter { !inherited.contains($0.name) }
            }
        }

        /// The properties that it does not inherit.
        var ownProperties: [any SchemaProperty] {
            get {
                let all: [any SchemaProperty] = Array(attributes) + Array(relationships)
                let places = Dictionary(order.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
                return all.sorted { left, right in
                    (places[left.name] ?? .max, left.name) < (places[right.name] ?? .max, right.name)
                }
            }
            set {
                attributes = Set(newValue.compactMap { $0 as? Schema.Attribute })
                relationships = Set(newValue.compactMap { $0 as? Schema.Relationship })
                order = newValue.map(\.name)
            }
        }

        /// The properties of the entities that it inherits from. Setting them sets those of its superentity.
        public var inheritedProperties: [any SchemaProperty] {
            get { superentity?.properties ?? [] }
            set { superentity?.storedProperties = newValue }
        }

        /// All properties, inherited ones first.
        public var properties: [any SchemaProperty] { inheritedProperties + ownProperties }

        /// Its own attributes by name.
        public var attributesByName: [String: Schema.Attribute] {
            get { Dictionary(attributes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }) }
            set { attributes = Set(newValue.values) }
        }

        /// Its own relationships by name.
        public var relationshipsByName: [String: Schema.Relationship] {
            get { Dictionary(relationships.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }) }
            set { relationships = Set(newValue.values) }
        }

        /// All properties by name.
        public var storedPropertiesByName: [String: any SchemaProperty] {
            get { Dictionary(storedProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }) }
            set { storedProperties = newValue.values.sorted { $0.name < $1.name } }
        }

        /// The properties of the entities that it inherits from, by name.
        public var inheritedPropertiesByName: [String: any SchemaProperty] {
            get { Dictionary(inheritedProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }) }
            set { inheritedProperties = newValue.values.sorted { $0.name < $1.name } }
        }

        /// Creates an entity without properties.
        ///
        /// - Parameter name: the name.
        public init(_ name: String) { self.name = name }

        /// Creates an entity that others inherit from.
        ///
        /// - Parameters:
        ///   - name: the name.
        ///   - subentities: the entities that inherit from it.
        ///   - properties: its attributes and relationships.
        public convenience init(_ name: String, subentities: Schema.Entity..., properties: any SchemaProperty...) {
            self.init(name)
            storedProperties = properties
            // A property's observer does not run in an initializer.
            setSubentities(subentities)
        }

        /// Creates an entity.
        ///
        /// - Parameters:
        ///   - name: the name.
        ///   - properties: its attributes and relationships.
        public convenience init(_ name: String, properties: any SchemaProperty...) {
            self.init(name)
            storedProperties = properties
        }

        private func setSubentities(_ entities: [Schema.Entity]) {
            subentities = Set(entities)
            for entity in entities { entity.superentity = self }
        }

        /// This entity and those that inherit from it, in the order of their names.
        var selfAndSubentities: [Schema.Entity] {
            [self] + subentities.sorted { $0.name < $1.name }.flatMap(\.selfAndSubentities)
        }

        private enum CodingKeys: CodingKey {
            case name, attributes, composites, relationships, uniquenessConstraints, indices, order, subentities
        }

        /// Decodes an entity with those that inherit from it.
        ///
        /// - Parameter decoder: the decoder.
        /// - Throws: the errors of decoding, and one for a type that the program does not have.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            attributes = Set(try container.decode([Schema.Attribute].self, forKey: .attributes))
            for composite in try container.decode([Schema.CompositeAttribute].self, forKey: .composites) {
                attributes.insert(composite)
            }
            relationships = Set(try container.decode([Schema.Relationship].self, forKey: .relationships))
            uniquenessConstraints = try container.decode([[String]].self, forKey: .uniquenessConstraints)
            indices = try container.decode([[String]].self, forKey: .indices)
            order = try container.decode([String].self, forKey: .order)
            setSubentities(try container.decode([Schema.Entity].self, forKey: .subentities))
        }

        /// Encodes the entity with those that inherit from it.
        ///
        /// - Parameter encoder: the encoder.
        /// - Throws: the errors of encoding.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            let sorted = attributes.sorted { $0.name < $1.name }
            try container.encode(sorted.filter { !($0 is Schema.CompositeAttribute) }, forKey: .attributes)
            try container.encode(sorted.compactMap { $0 as? Schema.CompositeAttribute }, forKey: .composites)
            try container.encode(relationships.sorted { $0.name < $1.name }, forKey: .relationships)
            try container.encode(uniquenessConstraints, forKey: .uniquenessConstraints)
            try container.encode(indices, forKey: .indices)
            try container.encode(order, forKey: .order)
            try container.encode(subentities.sorted { $0.name < $1.name }, forKey: .subentities)
        }

        /// Whether both have the same name, superentity, properties, constraints and indexes.
        ///
        /// - Parameters:
        ///   - lhs: an entity.
        ///   - rhs: another one.
        /// - Returns: `true` if they are.
        public static func == (lhs: Schema.Entity, rhs: Schema.Entity) -> Bool {
            lhs === rhs
                || lhs.name == rhs.name && lhs.superentityName == rhs.superentityName
                    && lhs.attributes == rhs.attributes && lhs.relationships == rhs.relationships
                    && lhs.uniquenessConstraints == rhs.uniquenessConstraints && lhs.indices == rhs.indices
        }

        /// Hashes the name.
        ///
        /// - Parameter hasher: the hasher.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        /// The name, and the properties.
        public var debugDescription: String {
            "\(name)\(superentityName.map { ": \($0)" } ?? "") (\(ownProperties.map { "\($0.name): \($0.valueType)" }.joined(separator: ", ")))"
        }
    }
}

extension Schema.Entity: @unchecked Sendable {
    // @unchecked Sendable: an entity is set up before a container uses its schema, and only read from then on.
}
