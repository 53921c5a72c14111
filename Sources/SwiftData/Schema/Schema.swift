import CoreData

/// The entities of models: what a store holds.
final public class Schema: Codable, Hashable {
    /// The version of the form in which schemas are encoded.
    public static let schemaEncodingVersion = Schema.Version(1, 0, 0)

    /// The version of the form in which this schema was encoded.
    public let encodingVersion: Schema.Version
    /// The version of the models.
    public let version: Schema.Version
    /// The entities, in the order of their names.
    public let entities: [Schema.Entity]
    /// The entities by their names.
    public let entitiesByName: [String: Schema.Entity]
    /// The model classes by the names of their entities; empty for a schema that was decoded or made of entities.
    let modelTypes: [String: ModelType]

    private init(
        _ entities: [Schema.Entity], version: Schema.Version, encodingVersion: Schema.Version = schemaEncodingVersion,
        modelTypes: [String: ModelType] = [:]
    ) {
        let all = entities.reduce(into: [Schema.Entity]()) { $0 += $1.selfAndSubentities }
        entitiesByName = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.entities = entitiesByName.values.sorted { $0.name < $1.name }
        self.version = version
        self.encodingVersion = encodingVersion
        self.modelTypes = modelTypes
    }

    /// Creates a schema without entities.
    public convenience init() { self.init([], version: Version(1, 0, 0)) }

    /// Creates a schema of entities.
    ///
    /// - Parameters:
    ///   - entities: the entities, with their subentities.
    ///   - version: the version of the models.
    public convenience init(_ entities: Schema.Entity..., version: Schema.Version = Version(1, 0, 0)) {
        self.init(entities, version: version)
    }

    /// Creates a schema of model classes.
    ///
    /// - Parameters:
    ///   - types: the classes; those that are related to them and their superclasses are added.
    ///   - version: the version of the models.
    public convenience init(_ types: any PersistentModel.Type..., version: Schema.Version = Version(1, 0, 0)) {
        self.init(types, version: version)
    }

    /// Creates a schema of model classes.
    ///
    /// ```swift
    /// let schema = Schema([Book.self, Author.self])
    /// ```
    ///
    /// - Parameters:
    ///   - types: the classes; those that are related to them and their superclasses are added.
    ///   - version: the version of the models.
    public convenience init(_ types: [any PersistentModel.Type], version: Schema.Version = Version(1, 0, 0)) {
        let derivation = SchemaDerivation(types)
        self.init(derivation.roots, version: version, modelTypes: derivation.modelTypes)
    }

    /// Creates the schema of a version.
    ///
    /// - Parameter versionedSchema: the version.
    public convenience init(versionedSchema: any VersionedSchema.Type) {
        self.init(versionedSchema.models, version: versionedSchema.versionIdentifier)
    }

    /// The entity of a model class.
    ///
    /// - Parameter type: the class.
    /// - Returns: nil for a class that the schema does not have.
    public func entity<T>(for type: T.Type) -> Schema.Entity? where T: PersistentModel {
        entitiesByName[Self.entityName(for: type)]
    }

    /// The name of the entity of a model class: the class's name, without the types that it is in.
    ///
    /// - Parameter type: the class.
    /// - Returns: the name.
    public static func entityName<T>(for type: T.Type) -> String where T: PersistentModel { ModelType.name(of: type) }

    // MARK: Coding and comparing

    private enum CodingKeys: CodingKey { case encodingVersion, version, entities }

    /// Decodes a schema.
    ///
    /// - Parameter decoder: the decoder.
    /// - Throws: the errors of decoding.
    public convenience init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decode([Schema.Entity].self, forKey: .entities),
            version: try container.decode(Schema.Version.self, forKey: .version),
            encodingVersion: try container.decode(Schema.Version.self, forKey: .encodingVersion))
    }

    /// Encodes the schema.
    ///
    /// - Parameter encoder: the encoder.
    /// - Throws: the errors of encoding.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(encodingVersion, forKey: .encodingVersion)
        try container.encode(version, forKey: .version)
        try container.encode(entities.filter { $0.superentityName == nil }, forKey: .entities)
    }

    /// Writes the schema to a file, as JSON.
    ///
    /// - Parameter toURL: the file.
    /// - Throws: the errors of encoding and writing.
    public func save(to toURL: URL) throws { try JSONCoding.data(of: self).write(to: toURL) }

    /// Reads a schema that `save(to:)` wrote.
    ///
    /// - Parameter fromURL: the file.
    /// - Returns: the schema.
    /// - Throws: the errors of reading and decoding.
    public static func load(from fromURL: URL) throws -> Schema {
        try JSONCoding.value(Schema.self, in: Data(contentsOf: fromURL))
    }

    /// Whether both have equal entities and the same version.
    ///
    /// - Parameters:
    ///   - lhs: a schema.
    ///   - rhs: another one.
    /// - Returns: `true` if they are.
    public static func == (lhs: Schema, rhs: Schema) -> Bool {
        lhs === rhs || lhs.version == rhs.version && lhs.entities == rhs.entities
    }

    /// Hashes the version and the names of the entities.
    ///
    /// - Parameter hasher: the hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(entities.map(\.name))
    }
}

extension Schema: CustomDebugStringConvertible {
    /// The version, and the entities with their properties.
    public var debugDescription: String {
        "Schema \(version)\n" + entities.map { "  \($0.debugDescription)" }.joined(separator: "\n")
    }
}

extension Schema: @unchecked Sendable {
    // @unchecked Sendable: entities are classes that their owner sets up before a container uses the schema.
}

extension Schema {
    /// The version of a schema.
    public struct Version: Codable, Comparable, CustomStringConvertible, Hashable, Sendable {
        /// The first number.
        public let major: Int
        /// The second number.
        public let minor: Int
        /// The third number.
        public let patch: Int

        /// Creates a version.
        ///
        /// - Parameters:
        ///   - major: the first number.
        ///   - minor: the second number.
        ///   - patch: the third number.
        public init(_ major: Int, _ minor: Int, _ patch: Int) {
            (self.major, self.minor, self.patch) = (major, minor, patch)
        }

        /// Whether a version is earlier.
        ///
        /// - Parameters:
        ///   - lhs: a version.
        ///   - rhs: another one.
        /// - Returns: `true` if it does.
        public static func < (lhs: Schema.Version, rhs: Schema.Version) -> Bool {
            (lhs.major, lhs.minor, lhs.patch) < (rhs.major, rhs.minor, rhs.patch)
        }

        /// `1.0.0`.
        public var description: String { "\(major).\(minor).\(patch)" }
    }

    /// A property of a model class, as its macro describes it.
    public struct PropertyMetadata {
        let name: String
        let keypath: AnyKeyPath
        let defaultValue: Any?
        let metadata: (any SchemaProperty)?

        /// Describes a property.
        ///
        /// - Parameters:
        ///   - name: the name.
        ///   - keypath: the key path from the class.
        ///   - defaultValue: the initial value; nil for none.
        ///   - metadata: what `@Attribute` or `@Relationship` says of it; nil for neither.
        public init(
            name: String, keypath: AnyKeyPath, defaultValue: Any? = nil, metadata: (any SchemaProperty)? = nil
        ) {
            self.name = name
            self.keypath = keypath
            self.defaultValue = StoredValue.unwrapped(defaultValue)
            self.metadata = metadata
        }
    }
}

/// A version of the models of a program.
public protocol VersionedSchema: SendableMetatype {
    /// The model classes.
    static var models: [any PersistentModel.Type] { get }
    /// The version.
    static var versionIdentifier: Schema.Version { get }
}

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
