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
