import CoreData
import Synchronization

/// The stores of some models, and what their contexts share.
///
/// ```swift
/// let container = try ModelContainer(for: Book.self, Author.self)
/// let context = ModelContext(container)
/// context.insert(Book(isbn: "1", title: "Emma"))
/// try context.save()
/// ```
public class ModelContainer: Equatable, @unchecked Sendable {
    // @unchecked Sendable: the main context belongs to the main actor; the rest is immutable.

    /// What the contexts share.
    let core: ContainerCore
    /// The models.
    final public var schema: Schema { core.schema }
    /// How stores of earlier versions are migrated; nil for a migration without a plan.
    final public var migrationPlan: (any SchemaMigrationPlan.Type)? { core.migrationPlan }
    /// The configurations of the stores.
    public var configurations: Set<ModelConfiguration> {
        get { core.configurations.withLock { $0 } }
        set { core.configurations.withLock { $0 = newValue } }
    }
    @MainActor private var storedMainContext: ModelContext?

    init(_ core: ContainerCore) {
        self.core = core
        core.lead(to: self)
    }

    /// Opens the stores of model classes.
    ///
    /// - Parameters:
    ///   - forTypes: the classes; those that are related to them are added.
    ///   - migrationPlan: how stores of earlier versions are migrated; nil to add, remove and rename properties.
    ///   - configurations: where the models are kept; none for one store, `default.store`.
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` if a store cannot be opened or migrated, and the errors of
    ///   configurations.
    public convenience init(
        for forTypes: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(for: Schema(forTypes), migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Opens the stores of a schema.
    ///
    /// - Parameters:
    ///   - givenSchema: the models.
    ///   - migrationPlan: how stores of earlier versions are migrated; nil to add, remove and rename properties.
    ///   - configurations: where the models are kept; none for one store, `default.store`.
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` if a store cannot be opened or migrated, and the errors of
    ///   configurations.
    public convenience init(
        for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(for: givenSchema, migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Opens the stores of a schema.
    ///
    /// - Parameters:
    ///   - givenSchema: the models.
    ///   - migrationPlan: how stores of earlier versions are migrated; nil to add, remove and rename properties.
    ///   - configurations: where the models are kept; none for one store, `default.store`.
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` if a store cannot be opened or migrated, and the errors of
    ///   configurations.
    public init(
        for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: [ModelConfiguration]
    ) throws {
        core = try ContainerCore.open(givenSchema, migrationPlan, configurations)
        core.lead(to: self)
    }

    /// Opens the stores of model classes, of which some may be of the program's own types.
    ///
    /// - Parameters:
    ///   - forTypes: the classes; those that are related to them are added.
    ///   - configurations: where the models are kept.
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` if a store cannot be opened or migrated, the errors of
    ///   configurations, and those of the program's own stores.
    public convenience init(
        for forTypes: any PersistentModel.Type..., configurations: any DataStoreConfiguration...
    ) throws { try self.init(for: Schema(forTypes), configurations: configurations) }

    /// Opens the stores of a schema, of which some may be of the program's own types.
    ///
    /// - Parameters:
    ///   - givenSchema: the models.
    ///   - configurations: where the models are kept; none for one store, `default.store`.
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` if a store cannot be opened or migrated, the errors of
    ///   configurations, and those of the program's own stores.
    public init(for givenSchema: Schema, configurations: [any DataStoreConfiguration]) throws {
        core = try ContainerCore.open(givenSchema, nil, configurations)
        core.lead(to: self)
    }

    // MARK: Erasing

    /// Removes all stores with their files, and makes empty ones in their place.
    ///
    /// Contexts lose their unsaved changes; their models are deleted, and show the initial values of their class.
    ///
    /// - Throws: the error of the store that could not be removed; those before it are empty.
    public func erase() throws { try core.erase() }

    /// Removes all stores with their files, and makes empty ones in their place. What cannot be removed stays.
    @available(*, deprecated, message: "Use erase(), which says what went wrong.")
    public func deleteAllData() {
        // Nothing can be thrown.
        try? core.erase()
    }

    /// The context of the main actor, which saves by itself.
    @MainActor public var mainContext: ModelContext {
        if let storedMainContext { return storedMainContext }
        // A program may hold the context alone: the container that it asks for has it.
        let context = core.mainContext ?? ModelContext(core, isMain: true)
        core.mainContext = context
        storedMainContext = context
        return context
    }

    /// Whether both have the same stores.
    ///
    /// - Parameters:
    ///   - lhs: a container.
    ///   - rhs: another one.
    /// - Returns: `true` if they are.
    public static func == (lhs: ModelContainer, rhs: ModelContainer) -> Bool { lhs.core === rhs.core }
}

/// The entities of configurations.
enum ConfiguredEntities {
    /// - Returns: the names of the entities of each configuration that has some of them only.
    /// - Throws: ``SwiftDataError/duplicateConfiguration`` for two of one name or location,
    ///   ``SwiftDataError/configurationSchemaNotFoundInContainerSchema`` for a model that the container does not have,
    ///   and what configurations find wrong with themselves.
    static func members(
        of configurations: [any DataStoreConfiguration], in schema: Schema
    ) throws -> [String: Set<String>] {
        var members: [String: Set<String>] = [:]
        var locations: Set<URL> = []
        for configuration in configurations {
            try configuration.validate()
            if let file = configuration as? ModelConfiguration, !file.isStoredInMemoryOnly,
                !locations.insert(file.url).inserted
            {
                throw SwiftDataError.duplicateConfiguration.because("Two have the location \(file.url.path).")
            }
            let names = Set(configuration.schema?.entitiesByName.keys.map { $0 } ?? [])
            let missing = names.subtracting(schema.entitiesByName.keys)
            guard missing.isEmpty else {
                throw SwiftDataError.configurationSchemaNotFoundInContainerSchema.because(
                    "The configuration “\(configuration.name)” has \(missing.sorted().joined(separator: ", ")), which "
                        + "the container's schema does not have.")
            }
            guard configurations.count > 1 else { return [:] }
            let all = names.isEmpty ? Set(schema.entitiesByName.keys) : names
            guard members.updateValue(all, forKey: configuration.name) == nil else {
                throw SwiftDataError.duplicateConfiguration.because(
                    "Two are named “\(configuration.name)”. Give each a name of its own.")
            }
        }
        return members
    }
}

/// Opens the store of a configuration.
enum StoreOpening {
    /// - Parameters:
    ///   - configuration: the configuration.
    ///   - name: its name, if it has some of the entities only.
    ///   - plan: how stores of earlier versions are migrated.
    ///   - core: the container.
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` and similar errors, and those of the program's own store.
    static func open(
        _ configuration: any DataStoreConfiguration, as name: String?, _ plan: (any SchemaMigrationPlan.Type)?,
        in core: ContainerCore
    ) throws {
        guard let file = configuration as? ModelConfiguration else {
            return try open(own: configuration, as: name, plan, in: core)
        }
        try open(file: file, as: name, try plan.flatMap { try StagedPlans.manager(of: $0) }, in: core.coordinator)
    }

    /// Opens a store of the program's own.
    private static func open<Configuration: DataStoreConfiguration>(
        own configuration: Configuration, as name: String?, _ plan: (any SchemaMigrationPlan.Type)?,
        in core: ContainerCore
    ) throws {
        var configuration = configuration
        if configuration.schema == nil { configuration.schema = core.schema }
        let calls = DataStoreCalling(store: try Configuration.Store(configuration, migrationPlan: plan))
        NSPersistentStoreCoordinator.registerStoreClass(DataStoreBridge.self, forStoreType: DataStoreBridge.type)
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/\(DataStoreBridge.type)/\(UUID())"))
        description.type = DataStoreBridge.type
        description.configuration = name
        description.setOption(
            DataStoreBridge.Contents(calls, core.schema.modelTypes), forKey: DataStoreBridge.storeKey)
        var failure: (any Error)?
        core.coordinator.addPersistentStore(with: description) { failure = $1 }
        if let failure {
            throw SwiftDataError.loadIssueModelContainer.because("\(configuration.name): \(failure)")
        }
    }

    private static func open(
        file configuration: ModelConfiguration, as name: String?, _ stages: NSStagedMigrationManager?,
        in coordinator: NSPersistentStoreCoordinator
    ) throws {
        let description = NSPersistentStoreDescription(url: configuration.url)
        description.configuration = name
        description.isReadOnly = !configuration.allowsSave
        if let server = configuration.server {
            description.type = server.type
            for (key, value) in server.options { description.setOption(value as NSString, forKey: key) }
        }
        description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
        if !configuration.isStoredInMemoryOnly {
            description.setOption(
                NSNumber(value: true), forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        }
        if let stages { description.setOption(stages, forKey: NSPersistentStoreStagedMigrationManagerOptionKey) }
        if configuration.server == nil, !configuration.isStoredInMemoryOnly, configuration.allowsSave {
            // If this fails, opening the store reports it, with the path.
            try? FileManager.default.createDirectory(
                at: configuration.url.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        guard let failure else { return }
        switch (failure as NSError).code {
        case CoreDataErrorCode.managedObjectModelReferenceNotFound:
            throw SwiftDataError.unknownSchema.because("\(configuration.url.path): \(failure.localizedDescription)")
        case NSStagedMigrationBackwardMigrationError:
            throw SwiftDataError.backwardMigration.because("\(configuration.url.path): \(failure.localizedDescription)")
        default: break
        }
        throw SwiftDataError.loadIssueModelContainer.because("\(configuration.url.path): \(failure)")
    }
}

/// Makes Core Data's staged migrations of plans.
enum StagedPlans {
    /// - Returns: nil for a plan without steps.
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` for a version whose models cannot be kept.
    static func manager(of plan: any SchemaMigrationPlan.Type) throws -> NSStagedMigrationManager? {
        let stages = try plan.stages.map { stage -> NSMigrationStage in
            switch stage {
            case .lightweight(let old, let new):
                return NSLightweightMigrationStage([
                    try model(of: old).versionChecksum, try model(of: new).versionChecksum,
                ])
            case .custom(let old, let new, let willMigrate, let didMigrate):
                let custom = NSCustomMigrationStage(
                    migratingFrom: try reference(to: old), to: try reference(to: new))
                custom.willMigrateHandler = willMigrate.map { handler(old, $0) }
                custom.didMigrateHandler = didMigrate.map { handler(new, $0) }
                custom.label = "\(old.versionIdentifier) to \(new.versionIdentifier)"
                return custom
            }
        }
        guard !stages.isEmpty else { return nil }
        let manager = NSStagedMigrationManager(stages)
        // Code that has saved some of its changes could not be run again.
        manager.isAllOrNothing = true
        return manager
    }

    private static func model(of version: any VersionedSchema.Type) throws -> NSManagedObjectModel {
        try ManagedModel.model(of: Schema(versionedSchema: version))
    }

    private static func reference(to version: any VersionedSchema.Type) throws -> NSManagedObjectModelReference {
        let model = try model(of: version)
        return NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }

    /// Runs a program's code with a context on the store as it is between two steps.
    private static func handler(
        _ version: any VersionedSchema.Type, _ code: @escaping @Sendable (ModelContext) throws -> Void
    ) -> (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void {
        { manager, _ in
            guard let coordinator = manager.container?.persistentStoreCoordinator else { return }
            let core = ContainerCore(Schema(versionedSchema: version), over: coordinator)
            let context = ModelContext(core, isMain: false)
            try code(context)
            if context.hasChanges { try context.save() }
        }
    }
}

/// What a container and its contexts share: the stores, and which class is kept as which entity.
///
/// Contexts hold it rather than the container, which holds the main context.
final class ContainerCore: @unchecked Sendable {
    // @unchecked Sendable: what changes is in mutexes or belongs to the main actor; the rest is immutable.
    let schema: Schema
    let migrationPlan: (any SchemaMigrationPlan.Type)?
    let configurations: Mutex<Set<ModelConfiguration>>
    let coordinator: NSPersistentStoreCoordinator
    /// Whether a class has properties of which only the program can make values.
    let needsValues: Bool
    /// The model classes of the entities.
    private let bindings: [ObjectIdentifier: EntityBinding]
    private let bindingsByName: [String: EntityBinding]
    /// The mailboxes of the contexts, as long as there are these.
    private let mailboxes = Mutex<[WeakMailbox]>([])
    private let shownContainer = Mutex<WeakContainer>(WeakContainer())
    /// The stores of the program's own types, with the names of their entities; nil for all.
    private let bridges = Mutex<[(store: DataStoreBridge, names: Set<String>?)]>([])
    /// What was opened, to be opened again after all was erased.
    private let opened = Mutex<[OpenedStore]>([])
    private let otherPrograms = Mutex<Subscription?>(nil)

    private struct OpenedStore: @unchecked Sendable {
        // @unchecked Sendable: a configuration is a value that is only read.
        let configuration: any DataStoreConfiguration
        let members: Set<String>?
        let store: NSPersistentStore
    }
    @MainActor weak var mainContext: ModelContext?

    private struct WeakMailbox: Sendable { weak let mailbox: ContextMailbox? }
    private struct WeakContainer: Sendable { weak var container: ModelContainer? }

    init(
        _ schema: Schema, over coordinator: NSPersistentStoreCoordinator,
        _ migrationPlan: (any SchemaMigrationPlan.Type)? = nil, _ configurations: Set<ModelConfiguration> = []
    ) {
        self.schema = schema
        self.coordinator = coordinator
        self.migrationPlan = migrationPlan
        self.configurations = Mutex(configurations)
        needsValues = schema.modelTypes.values.contains { $0.properties.contains(where: \.needsValue) }
        let layout = coordinator.modelLayout
        let found = schema.modelTypes.values.compactMap { type in
            layout.entityByName[type.name].map { EntityBinding(type, $0) }
        }
        bindings = Dictionary(uniqueKeysWithValues: found.map { (ObjectIdentifier($0.layout), $0) })
        bindingsByName = Dictionary(found.map { ($0.type.name, $0) }, uniquingKeysWith: { first, _ in first })
        ModelType.noteContainer(with: schema.modelTypes)
    }

    /// Opens the stores of configurations; of none, `default.store`.
    ///
    /// - Throws: the errors of ``ModelContainer``'s initializers.
    static func open(
        _ schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?, _ configurations: [any DataStoreConfiguration]
    ) throws -> ContainerCore {
        let stores = configurations.isEmpty ? [ModelConfiguration(schema: schema)] : configurations
        let members = try ConfiguredEntities.members(of: stores, in: schema)
        let model = try ManagedModel.model(of: schema, configurations: members)
        let core = ContainerCore(
            schema, over: NSPersistentStoreCoordinator(managedObjectModel: model), plan,
            Set(stores.compactMap { $0 as? ModelConfiguration }))
        for store in stores { try core.open(store, members[store.name]) }
        core.followOtherPrograms()
        return core
    }

    private func open(_ configuration: any DataStoreConfiguration, _ members: Set<String>?) throws {
        let former = coordinator.persistentStores
        try StoreOpening.open(configuration, as: members.map { _ in configuration.name }, migrationPlan, in: self)
        let new = coordinator.persistentStores.first { store in !former.contains { $0 === store } }
        guard let store = new else { return }
        opened.withLock { $0.append(OpenedStore(configuration: configuration, members: members, store: store)) }
        if let bridge = store as? DataStoreBridge { bridges.withLock { $0.append((bridge, members)) } }
    }

    /// Removes all stores with their files, and opens empty ones in their place.
    func erase() throws {
        for opened in opened.withLock({ $0 }) {
            if let bridge = opened.store as? DataStoreBridge {
                try bridge.using { try $0.erase() }
                bridge.forgetEverything()
                continue
            }
            let (url, type) = (opened.store.url, opened.store.type)
            try coordinator.remove(opened.store)
            self.opened.withLock { $0.removeAll { $0.store === opened.store } }
            if let url, let file = opened.configuration as? ModelConfiguration, !file.isStoredInMemoryOnly {
                try coordinator.destroyPersistentStore(at: url, ofType: type, options: file.server?.options)
            }
            try open(opened.configuration, opened.members)
        }
        for mailbox in mailboxes.withLock({ $0.compactMap(\.mailbox) }) { mailbox.put(.everything) }
    }

    /// The program's own store that keeps a class's models; nil if one of SwiftData's does.
    func bridge(of type: ModelType) -> DataStoreBridge? {
        bridges.withLock { $0.first { $0.names?.contains(type.name) ?? true }?.store }
    }

    /// The stores of the program's own types.
    var allBridges: [DataStoreBridge] { bridges.withLock { $0.map(\.store) } }

    /// The container; another one of the same stores if the program holds none any more.
    var container: ModelContainer { shownContainer.withLock { $0.container } ?? ModelContainer(self) }

    func lead(to container: ModelContainer) { shownContainer.withLock { $0.container = container } }

    private func postRemoteChange() {
        guard let container = shownContainer.withLock({ $0.container }) else { return }
        NotificationCenter.default.post(name: ModelContainer.remoteChange, object: container)
    }

    /// Lets those who follow the history know of what other programs have saved.
    private func followOtherPrograms() {
        let subscription = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
        ) { [weak self] _ in self?.postRemoteChange() }
        otherPrograms.withLock { $0 = Subscription(subscription) }
    }

    /// A subscription to notifications, as long as it is kept.
    private final class Subscription: @unchecked Sendable {
        // @unchecked Sendable: the token is only passed on.
        private let token: any NSObjectProtocol
        init(_ token: any NSObjectProtocol) { self.token = token }
        deinit { NotificationCenter.default.removeObserver(token) }
    }

    // MARK: Entities

    /// The class of an entity's models; nil for an entity without one.
    func binding(of layout: EntityLayout) -> EntityBinding? { bindings[ObjectIdentifier(layout)] }

    /// The entity of a class, which may be of an earlier declaration with the same name; nil if there is none.
    func binding(of type: ModelType) -> EntityBinding? {
        guard let binding = bindingsByName[type.name] else { return nil }
        return binding.type === type ? binding : EntityBinding(type, binding.layout)
    }

    /// The identifier of a row; nil for one of another container's stores.
    func objectID(of identifier: PersistentIdentifier) -> NSManagedObjectID? {
        guard case .stored(let store, let key) = identifier.id.content else { return nil }
        if let binding = bindingsByName[identifier.entityName], let bridge = bridge(of: binding.type),
            bridge.identifier == store
        {
            return bridge.objectID(of: identifier, binding.layout)
        }
        let entity = identifier.entityName.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed)
        return URL(string: "x-coredata://\(store)/\(entity ?? identifier.entityName)/\(key)").flatMap {
            coordinator.managedObjectID(forURIRepresentation: $0)
        }
    }

    // MARK: Contexts

    func join(_ context: ModelContext) {
        let mailbox = WeakMailbox(mailbox: context.mailbox)
        mailboxes.withLock { mailboxes in
            mailboxes.removeAll { $0.mailbox == nil }
            mailboxes.append(mailbox)
        }
    }

    /// Lets the other contexts know what one has saved.
    func announce(_ changes: @autoclosure () -> SavedIdentifiers, from mailbox: ContextMailbox) {
        let others = mailboxes.withLock { $0.compactMap(\.mailbox).filter { $0 !== mailbox } }
        if !others.isEmpty {
            let changes = changes()
            for other in others { other.put(changes) }
        }
        postRemoteChange()
    }
}

extension ModelContainer {
    /// Posted after the container's stores were saved, by this program or another one; not on any thread in particular.
    /// The object is the container.
    public static let remoteChange = Notification.Name("SwiftData.ModelContainer.remoteChange")
}
