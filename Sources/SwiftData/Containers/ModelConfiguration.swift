import CoreData

/// Where and how a part of a container's models is kept.
///
/// ```swift
/// let inMemory = ModelConfiguration(isStoredInMemoryOnly: true)
/// let file = ModelConfiguration("Library", url: URL(fileURLWithPath: "/srv/library.store"))
/// ```
public struct ModelConfiguration: DataStoreConfiguration, Identifiable, Hashable, Sendable {
    /// The location of a store.
    public typealias ID = URL
    /// The type of SwiftData's own stores.
    public typealias Store = DefaultStore

    /// The location of the store.
    public let url: URL
    /// The name, which a store without another location has as the name of its file.
    public let name: String
    /// The identifier of the group whose programs share the store; nil for none.
    public let groupAppContainerIdentifier: String?
    /// The identifier of the CloudKit container; always nil, since there is no CloudKit here.
    public let cloudKitContainerIdentifier: String?
    /// How the group is found whose programs share the store.
    public let groupContainer: ModelConfiguration.GroupContainer
    /// The CloudKit database. It is kept, and not used here.
    public let cloudKitDatabase: ModelConfiguration.CloudKitDatabase
    /// The models that the store keeps; nil for all of the container.
    public var schema: Schema?
    /// Whether the store can be written.
    public let allowsSave: Bool
    /// Whether the store is kept in memory only.
    public let isStoredInMemoryOnly: Bool
    /// The server that has the store; nil for a file, and for memory.
    let server: Server?

    /// A store on a server, of one of Core Data's types.
    package struct Server: Hashable, Sendable {
        let type: String
        /// What the store needs besides its location.
        let options: [String: String]

        package init(type: String, options: [String: String]) { (self.type, self.options) = (type, options) }
    }

    /// A CloudKit database.
    public struct CloudKitDatabase: Equatable, Sendable {
        private enum Kind: Equatable, Sendable { case automatic, none, named(String) }
        private let kind: Kind

        /// The one that the program's entitlements name. Here, none.
        public static var automatic: ModelConfiguration.CloudKitDatabase { CloudKitDatabase(kind: .automatic) }
        /// None.
        public static var none: ModelConfiguration.CloudKitDatabase { CloudKitDatabase(kind: .none) }

        /// A private database. It is kept, and not used here.
        ///
        /// - Parameter privateDBName: the name of the CloudKit container.
        /// - Returns: the database.
        public static func `private`(_ privateDBName: String) -> ModelConfiguration.CloudKitDatabase {
            CloudKitDatabase(kind: .named(privateDBName))
        }
    }

    /// A group of programs that share stores.
    public struct GroupContainer: Sendable {
        fileprivate let name: String?

        /// The one that the program's entitlements name. Here, none.
        public static var automatic: ModelConfiguration.GroupContainer { GroupContainer(name: nil) }
        /// None.
        public static var none: ModelConfiguration.GroupContainer { GroupContainer(name: nil) }

        /// A group with a name: programs of one user that name it share a folder.
        ///
        /// - Parameter groupName: the name.
        /// - Returns: the group.
        public static func identifier(_ groupName: String) -> ModelConfiguration.GroupContainer {
            GroupContainer(name: groupName)
        }
    }

    /// Creates a configuration of a store for all models of a container, `default.store`.
    ///
    /// - Parameter isStoredInMemoryOnly: whether it is kept in memory only.
    public init(isStoredInMemoryOnly: Bool = false) {
        self.init(nil, schema: nil, isStoredInMemoryOnly: isStoredInMemoryOnly)
    }

    /// Creates a configuration of a store for some models, `default.store`.
    ///
    /// - Parameters:
    ///   - forTypes: the model classes.
    ///   - isStoredInMemoryOnly: whether it is kept in memory only.
    public init(for forTypes: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
        self.init(nil, schema: Schema(forTypes), isStoredInMemoryOnly: isStoredInMemoryOnly)
    }

    /// Creates a configuration of a store in the program's own folder, `$XDG_DATA_HOME/<program>`, by default
    /// `~/.local/share/<program>`.
    ///
    /// - Parameters:
    ///   - name: the name of the file without its extension; nil for `default`.
    ///   - schema: the models that the store keeps; nil for all of the container.
    ///   - isStoredInMemoryOnly: whether it is kept in memory only.
    ///   - allowsSave: whether it can be written.
    ///   - groupContainer: the group whose programs share the store, in a folder of the group's name.
    ///   - cloudKitDatabase: the CloudKit database. It is kept, and not used here.
    public init(
        _ name: String? = nil, schema: Schema? = nil, isStoredInMemoryOnly: Bool = false, allowsSave: Bool = true,
        groupContainer: ModelConfiguration.GroupContainer = .automatic,
        cloudKitDatabase: ModelConfiguration.CloudKitDatabase = .automatic
    ) {
        let file = "\(name ?? "default").store"
        let folder = NSPersistentContainer.defaultDirectoryURL()
        let shared = groupContainer.name.map { folder.deletingLastPathComponent().appendingPathComponent($0) }
        let url = isStoredInMemoryOnly ? Self.memory : (shared ?? folder).appendingPathComponent(file)
        self.init(
            name: name, schema, url, allowsSave: allowsSave, inMemory: isStoredInMemoryOnly, groupContainer,
            cloudKitDatabase)
    }

    /// Creates a configuration of a store at a location.
    ///
    /// - Parameters:
    ///   - name: the name of the configuration; nil for `default`.
    ///   - schema: the models that the store keeps; nil for all of the container.
    ///   - url: the location.
    ///   - allowsSave: whether it can be written.
    ///   - cloudKitDatabase: the CloudKit database. It is kept, and not used here.
    public init(
        _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
        cloudKitDatabase: ModelConfiguration.CloudKitDatabase = .automatic
    ) {
        self.init(
            name: name, schema, url, allowsSave: allowsSave, inMemory: url == Self.memory, .none, cloudKitDatabase)
    }

    /// Creates a configuration of a store on a server.
    package init(_ name: String?, schema: Schema?, url: URL, allowsSave: Bool, server: Server) {
        self.init(name: name, schema, url, allowsSave: allowsSave, inMemory: false, .none, .none, server)
    }

    private init(
        name: String?, _ schema: Schema?, _ url: URL, allowsSave: Bool, inMemory: Bool, _ group: GroupContainer,
        _ cloudKitDatabase: CloudKitDatabase, _ server: Server? = nil
    ) {
        self.server = server
        self.name = name ?? "default"
        self.url = url
        self.schema = schema
        self.allowsSave = allowsSave
        isStoredInMemoryOnly = inMemory
        groupContainer = group
        groupAppContainerIdentifier = group.name
        self.cloudKitDatabase = cloudKitDatabase
        cloudKitContainerIdentifier = nil
    }

    private static let memory = URL(fileURLWithPath: "/dev/null")

    /// The location of the store.
    public var id: URL { url }

    /// Checks the name of the store's file.
    ///
    /// - Throws: ``SwiftDataError/configurationFileNameTooLong`` for more bytes than a file's name can have, and
    ///   ``SwiftDataError/configurationFileNameContainsInvalidCharacters`` for a slash and for control characters.
    public func validate() throws {
        guard server == nil else { return }
        // SQLite adds up to four bytes for the files beside the store.
        guard url.lastPathComponent.utf8.count <= 251, "\(name).store-wal".utf8.count <= 255 else {
            throw SwiftDataError.configurationFileNameTooLong.because("“\(name)” is longer than 245 bytes.")
        }
        guard !name.contains("/"), !name.unicodeScalars.contains(where: { $0.value < 32 }) else {
            throw SwiftDataError.configurationFileNameContainsInvalidCharacters.because(
                "“\(name)” contains a slash or a control character.")
        }
    }

    /// Hashes the location and the name.
    ///
    /// - Parameter hasher: the hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(url)
        hasher.combine(name)
    }

    /// Whether both describe the same store with the same models.
    ///
    /// - Parameters:
    ///   - lhs: a configuration.
    ///   - rhs: another one.
    /// - Returns: `true` if they are.
    public static func == (lhs: ModelConfiguration, rhs: ModelConfiguration) -> Bool {
        lhs.url == rhs.url && lhs.name == rhs.name && lhs.schema == rhs.schema && lhs.allowsSave == rhs.allowsSave
            && lhs.server == rhs.server
    }
}

extension ModelConfiguration: CustomDebugStringConvertible {
    /// The name, the location, and whether it can be written.
    public var debugDescription: String {
        "ModelConfiguration \(name) at \(isStoredInMemoryOnly ? "memory" : url.path)\(allowsSave ? "" : ", read only")"
    }
}
