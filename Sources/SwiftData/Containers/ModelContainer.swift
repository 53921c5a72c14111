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
        let stores = configurations.isEmpty ? [ModelConfiguration(schema: givenSchema)] : configurations
        let members = try ConfiguredEntities.members(of: stores, in: givenSchema)
        let model = try ManagedModel.model(of: givenSchema, configurations: members)
        core = ContainerCore(
            givenSchema, over: NSPersistentStoreCoordinator(managedObjectModel: model), migrationPlan, Set(stores))
        let stages = try migrationPlan.flatMap { try StagedPlans.manager(of: $0) }
        for store in stores {
            try StoreOpening.open(
                store, as: members[store.name] == nil ? nil : store.name, stages, in: core.coordinator)
        }
        core.lead(to: self)
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
    static func members(of configurations: [ModelConfiguration], in schema: Schema) throws -> [String: Set<String>] {
        var members: [String: Set<String>] = [:]
        var locations: Set<URL> = []
        for configuration in configurations {
            try configuration.validate()
            if !configuration.isStoredInMemoryOnly, !locations.insert(configuration.url).inserted {
                throw SwiftDataError.duplicateConfiguration.because("Two have the location \(configuration.url.path).")
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
    static func open(
        _ configuration: ModelConfiguration, as name: String?, _ stages: NSStagedMigrationManager?,
        in coordinator: NSPersistentStoreCoordinator
    ) throws {
        let description = NSPersistentStoreDescription(url: configuration.url)
        description.configuration = name
        description.isReadOnly = !configuration.allowsSave
        description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
        if let stages { description.setOption(stages, forKey: NSPersistentStoreStagedMigrationManagerOptionKey) }
        if !configuration.isStoredInMemoryOnly, configuration.allowsSave {
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
        return stages.isEmpty ? nil : NSStagedMigrationManager(stages)
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
    /// The model classes of the entities.
    private let bindings: [ObjectIdentifier: EntityBinding]
    private let bindingsByName: [String: EntityBinding]
    /// The mailboxes of the contexts, as long as there are these.
    private let mailboxes = Mutex<[WeakMailbox]>([])
    private let shownContainer = Mutex<WeakContainer>(WeakContainer())
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
        let layout = coordinator.modelLayout
        let found = schema.modelTypes.values.compactMap { type in
            layout.entityByName[type.name].map { EntityBinding(type, $0) }
        }
        bindings = Dictionary(uniqueKeysWithValues: found.map { (ObjectIdentifier($0.layout), $0) })
        bindingsByName = Dictionary(found.map { ($0.type.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The container; another one of the same stores if the program holds none any more.
    var container: ModelContainer { shownContainer.withLock { $0.container } ?? ModelContainer(self) }

    func lead(to container: ModelContainer) { shownContainer.withLock { $0.container = container } }

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
    func announce(_ changes: SavedIdentifiers, from mailbox: ContextMailbox) {
        let others = mailboxes.withLock { $0.compactMap(\.mailbox).filter { $0 !== mailbox } }
        for other in others { other.put(changes) }
    }
}
