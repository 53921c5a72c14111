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
