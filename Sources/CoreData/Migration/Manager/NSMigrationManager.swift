import Foundation
import Synchronization

/// Migrates a store object by object, with two Core Data stacks: one on the existing store, with the model of its
/// version, and one on the new store.
///
/// ```swift
/// let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
/// try manager.migrateStore(from: url, type: .sqlite, mapping: mapping, to: newURL, type: .sqlite)
/// ```
///
/// Both stacks use copies of the models whose objects are plain `NSManagedObject`s; the application's classes are not
/// used. The source store is only read. A destination that does not exist is created; an existing one gets the objects
/// in addition to its own, so that a large store can be migrated in several passes, each with its own mapping model.
///
/// Between SQLite stores, the objects of a large store are migrated in portions: each is saved without being checked,
/// and released before the next is read, all in one transaction. Only a pair of keys is kept for each object.
/// `destinationInstances` and `sourceInstances` return objects that are not in memory as faults. Everything is checked
/// before the transaction ends.
open class NSMigrationManager: NSObject, MigrationFunctionCalling {
    // Used by one thread at a time, except for `migrationProgress` and `cancelMigrationWithError`, which any thread may
    // use.

    /// The model of the source store.
    public let sourceModel: NSManagedObjectModel
    /// The model of the destination store.
    public let destinationModel: NSManagedObjectModel

    /// Whether an inferred mapping model may be carried out by SQL alone, on a copy of the source store. The default is
    /// `true`.
    ///
    /// Set it to `false` to apply the entity mappings' policies to every object.
    open var usesStoreSpecificMigrationManager = true

    /// Your own information, for migration policies.
    open var userInfo: [AnyHashable: Any]?

    /// The configuration of the destination model whose entities the destination store holds; `nil` for all, or for
    /// that of the source store.
    var configuration: String?
    /// Whether the source store may be one of a configuration, known to be of the source model's version. Mappings of
    /// entities that it does not hold are then left out.
    var sourceMayBePart = false
    /// Whether the manager may say itself what an object became, as any subclass may. If not, relationships are set
    /// without a call for each object.
    package lazy var definesSuccessors = type(of: self) != NSMigrationManager.self
    var run: MigrationRun?
    /// Called on the migration's thread whenever the progress changes.
    var progressed: ((Float) -> Void)?
    /// Called with the destination store before the first object is made.
    var willMigrate: ((NSPersistentStoreCoordinator) throws -> Void)?
    /// Which object became which, after a migration object by object for which `willMigrate` was set.
    var keyPairs: [KeyPairs]?
    /// How many objects are made or changed before they are saved and released.
    var portion = usualPortion
    static let usualPortion = 2000
    private let shared = Mutex(Shared())

    private struct Shared {
        var progress: Float = 1
        var cancellation: (any Error)?
    }

    /// Creates a manager for two versions of a model.
    ///
    /// - Parameters:
    ///   - sourceModel: the model of the store to migrate.
    ///   - destinationModel: the model to migrate it to.
    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
        super.init()
    }

    // MARK: What is there while a migration runs

    /// The mapping model. It is available while a migration runs.
    open var mappingModel: NSMappingModel { running("mappingModel").mapping }

    /// The context of the source store. It is available from the start of a migration until `reset()`.
    open var sourceContext: NSManagedObjectContext { running("sourceContext").source }

    /// The context of the destination store. It is available from the start of a migration until `reset()`.
    open var destinationContext: NSManagedObjectContext { running("destinationContext").destination }

    /// The entity mapping that is being carried out.
    open var currentEntityMapping: NSEntityMapping {
        guard let current = running("currentEntityMapping").current else {
            programmerError("currentEntityMapping was asked for while no entity mapping is being worked on")
        }
        return current
    }

    private func running(_ property: String) -> MigrationRun {
        guard let run else { programmerError("\(property) was asked for while no migration runs") }
        return run
    }

    /// The progress of the migration, from 0 to 1; 1 before the first one. A failed migration leaves it where it
    /// stopped. It can be read from any thread.
    open var migrationProgress: Float { shared.withLock { $0.progress } }

    func setProgress(_ progress: Float) {
        willChangeValue(forKey: "migrationProgress")
        shared.withLock { $0.progress = progress }
        didChangeValue(forKey: "migrationProgress")
        progressed?(progress)
    }

    /// Called before a property changes: `migrationProgress`, on the migration's thread.
    ///
    /// - Parameter key: the property.
    open func willChangeValue(forKey key: String) {}

    /// Called after a property changed: `migrationProgress`, on the migration's thread.
    ///
    /// Linux has no key-value observing: override this to observe the progress.
    ///
    /// - Parameter key: the property.
    open func didChangeValue(forKey key: String) {}

    /// Ends the migration as soon as possible, before the next object. It can be called from any thread.
    ///
    /// - Parameter error: the reason; the migration throws this error.
    open func cancelMigrationWithError(_ error: any Error) { shared.withLock { $0.cancellation = error } }

    /// - Throws: the error with which the migration was cancelled.
    func checkCancellation() throws {
        if let cause = shared.withLock({ $0.cancellation }) { throw cause }
    }

    /// Releases the contexts and the objects of the last migration, so that the manager can be used for another.
    open func reset() {
        run = nil
        keyPairs = nil
        shared.withLock { $0 = Shared() }
    }

    // MARK: Migrating

    /// Migrates a store.
    ///
    /// - Parameters:
    ///   - sourceURL: the store, which is not changed, unless it is the destination, too.
    ///   - sStoreType: its type.
    ///   - sOptions: the options to open it with.
    ///   - mappings: the mapping of its objects to objects of the destination model.
    ///   - dURL: the URL for the migrated store. It may be the source's for an inferred mapping of SQLite stores, which
    ///     are then migrated in their place; if this fails, the store is unchanged.
    ///   - dStoreType: its type.
    ///   - dOptions: the options to open it with.
    /// - Throws: `NSMigrationError` if the mapping model names an entity, a property or a policy that does not exist,
    ///   `NSMigrationManagerSourceStoreError` if the source store cannot be opened,
    ///   `NSMigrationManagerDestinationStoreError` if the destination cannot, the error with which the migration was
    ///   cancelled, the errors of policies, and those of validation. A destination that this created is then deleted.
    open func migrateStore(
        from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil,
        with mappings: NSMappingModel?, toDestinationURL dURL: URL, destinationType dStoreType: String,
        destinationOptions dOptions: [AnyHashable: Any]? = nil
    ) throws {
        try migrate(
            MigrationEnds(
                source: .init(url: sourceURL, type: sStoreType, options: sOptions),
                destination: .init(url: dURL, type: dStoreType, options: dOptions)), mappings)
    }

    // MARK: Entities and objects

    /// The source entity of an entity mapping: while a migration runs, the one in the source context's model.
    ///
    /// - Parameter mEntity: an entity mapping.
    /// - Returns: the entity; `nil` if the mapping names none.
    open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        let model = run?.source.persistentStoreCoordinator?.managedObjectModel ?? sourceModel
        return mEntity.sourceEntityName.flatMap { model.entitiesByName[$0] }
    }

    /// The destination entity of an entity mapping: while a migration runs, the one in the destination context's model.
    ///
    /// - Parameter mEntity: an entity mapping.
    /// - Returns: the entity; `nil` if the mapping names none.
    open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        if let run { return run.destinationEntity(mEntity) }
        return mEntity.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
    }

    /// Records that a source object became a destination object by an entity mapping.
    ///
    /// - Parameters:
    ///   - sourceInstance: an object of the source context.
    ///   - destinationInstance: the object of the destination context that it became.
    ///   - entityMapping: the mapping that made it.
    open func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
        for entityMapping: NSEntityMapping
    ) {
        run?.associations.add(sourceInstance, destinationInstance, mapping: entityMapping.name ?? "")
    }

    /// The destination objects of source objects by a named entity mapping; for `nil`, all that the mapping made.
    ///
    /// - Parameters:
    ///   - mappingName: the name of the entity mapping.
    ///   - sourceInstances: objects of the source context; `nil` for all.
    /// - Returns: the destination objects; empty for an unknown name.
    open func destinationInstances(
        forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        run?.associations.destinations(mapping: mappingName, of: sourceInstances) ?? []
    }

    /// The source objects of destination objects by a named entity mapping; for `nil`, all of the mapping's source
    /// objects.
    ///
    /// - Parameters:
    ///   - mappingName: the name of the entity mapping.
    ///   - destinationInstances: objects of the destination context; `nil` for all.
    /// - Returns: the source objects; empty for an unknown name.
    open func sourceInstances(
        forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        run?.associations.sources(mapping: mappingName, of: destinationInstances) ?? []
    }

    /// Calls a function that a value expression calls on `$manager`. Override it to provide functions of a subclass.
    ///
    /// - Parameters:
    ///   - name: the name of the function in the expression.
    ///   - arguments: the values of the arguments.
    /// - Returns: the function's result; `nil` for no value.
    /// - Throws: an error that names the function if there is none of that name.
    open func callFunction(_ name: String, arguments: [Any?]) throws -> Any? {
        try callOwnFunction(name, arguments)
    }
}

// The source objects of an entity mapping, in portions.
extension NSMigrationManager {
    func forEachPortion(
        ofSourcesIn mapping: NSEntityMapping, policy: NSEntityMigrationPolicy, _ run: MigrationRun,
        _ body: ([NSManagedObject]) throws -> Void
    ) throws {
        guard mapping.mappingType != .addEntityMappingType, mapping.mappingType != .removeEntityMappingType else {
            return
        }
        guard let expression = mapping.sourceExpression else {
            guard let name = mapping.sourceEntityName else { return }
            let request = try fetchRequest(entity: name, predicate: nil, includesSubentities: false)
            request.returnsObjectsAsFaults = false
            return try forEachPortion(of: request, run, body)
        }
        let expressions = MigrationExpression(scope: MigrationScope(manager: self, mapping: mapping, policy: policy))
        let tree = expressionTree(of: expression)
        if case .fetch(let request, let context, false) = tree,
            try expressions.value(of: context) as? NSManagedObjectContext === run.source,
            let request = try expressions.value(of: request) as? NSFetchRequest<NSManagedObject>
        {
            return try forEachPortion(of: request, run, body)
        }
        guard let objects = Self.objects(in: try expressions.value(of: tree)) else {
            throw MigrationExpression.error(
                "the source expression of the entity mapping “\(mapping.name ?? "")” gives no objects")
        }
        try body(objects)
    }

    private func forEachPortion(
        of request: NSFetchRequest<NSManagedObject>, _ run: MigrationRun, _ body: ([NSManagedObject]) throws -> Void
    ) throws {
        let context = run.source
        let entity = try context.entity(of: request)
        guard let coordinator = context.coordinator, let source = context.source,
            let engine = coordinator.persistentStores.first?.engine, engine.keys != nil, context.changed.isEmpty,
            request.resultType == .managedObjectResultType, request.affectedStores == nil,
            request.relationshipKeyPathsForPrefetching?.isEmpty ?? true
        else { return try body(try context.fetch(request)) }
        let plan = context.plan(for: request, entity)
        let portions = try coordinator.withLock { try engine.portions(plan) }
        var (done, count) = (0, 0)
        while true {
            let rows = try coordinator.withLock { try portions.next(MigrationPortions.reading) }
            if rows.isEmpty { return }
            // A single portion needs no progress.
            if done == 0, rows.count == MigrationPortions.reading {
                count = try coordinator.withLock { try engine.fetchCount(plan) }
            }
            let stamp = source.generation
            try body(rows.map { context.object(for: $0, asFault: false, refreshing: false, stamp: stamp) })
            run.portions.letGoOfSources()
            done += rows.count
            if count > 0 { noteProgress(run, Float(done) / Float(count)) }
        }
    }
}

/// The variables of a mapping's expressions.
struct MigrationScope {
    let manager: NSMigrationManager
    let mapping: NSEntityMapping
    let policy: NSEntityMigrationPolicy
    var property: NSPropertyMapping?
    var source: NSManagedObject?
    var destination: NSManagedObject?
    /// The current members of subqueries, by their variables.
    var members: [String: Any] = [:]

    /// The value of a variable, by its name without the dollar sign; `nil` for an unknown one.
    subscript(_ name: String) -> Any? {
        switch name {
        case NSMigrationSourceObjectKey: return source
        case NSMigrationManagerKey: return manager
        case NSMigrationEntityMappingKey: return mapping
        case NSMigrationEntityPolicyKey: return policy
        case NSMigrationPropertyMappingKey: return property
        case NSMigrationDestinationObjectKey: return destination
        default: return members[name]
        }
    }

    /// All variables with a value.
    var variables: [String: Any] {
        let names = [
            NSMigrationSourceObjectKey, NSMigrationManagerKey, NSMigrationEntityMappingKey, NSMigrationEntityPolicyKey,
            NSMigrationPropertyMappingKey, NSMigrationDestinationObjectKey,
        ]
        var variables = members
        for name in names { variables[name] = self[name] }
        return variables
    }
}
