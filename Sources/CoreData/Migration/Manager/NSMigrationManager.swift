import Foundation
import Synchronization

/// Migrates a store object by object, with two Core Data stacks: one on the store as it is, with the model of its version,
/// one on the store that is to be.
///
/// ```swift
/// let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
/// try manager.migrateStore(from: url, type: .sqlite, mapping: mapping, to: newURL, type: .sqlite)
/// ```
///
/// Both stacks have copies of the models, whose objects are plain `NSManagedObject`s: the classes of the application play no
/// part. The source store is only read. A destination that does not exist is made; one that exists takes the objects besides
/// its own, so that a large store can be migrated in several passes, each with a mapping model of its own.
///
/// Between SQLite stores, the objects of a large store go in portions: a portion is saved, without being checked, and let go
/// before the next is read, all in one transaction; what is kept of each object is a pair of keys. `destinationInstances` and
/// `sourceInstances` give objects that are not in memory as faults. Everything is checked before the transaction ends.
open class NSMigrationManager: NSObject, MigrationFunctionCalling {
    // Used by one thread at a time; `migrationProgress` and `cancelMigrationWithError` by any.

    /// The model of the source store.
    public let sourceModel: NSManagedObjectModel
    /// The model of the destination store.
    public let destinationModel: NSManagedObjectModel

    /// Whether an inferred mapping model may be carried out by SQL alone, on a copy of the source store. The default is `true`.
    ///
    /// Set it to `false` to have every object go through the entity mappings' policies.
    open var usesStoreSpecificMigrationManager = true

    /// Facts of the developer's own, for migration policies.
    open var userInfo: [AnyHashable: Any]?

    /// The configuration of the destination model whose entities the destination store holds; `nil` for all.
    var configuration: String?
    var run: MigrationRun?
    /// Called on the migration's thread whenever the progress changes.
    var progressed: ((Float) -> Void)?
    /// Called with the destination store before the first object is made, where that is a new SQLite store.
    var willMigrate: ((NSPersistentStoreCoordinator) throws -> Void)?
    /// Which object became which, after a migration object by object that `willMigrate` was set for.
    var successions: [KeyPairs]?
    /// How many objects are made or changed before they are saved and let go.
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
    ///   - sourceModel: the model of the store that is migrated.
    ///   - destinationModel: the model that it is migrated to.
    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
        super.init()
    }

    // MARK: What is there while a migration runs

    /// The mapping model. There is one while a migration runs.
    open var mappingModel: NSMappingModel { running("mappingModel").mapping }

    /// The context of the source store. There is one from the start of a migration until `reset()`.
    open var sourceContext: NSManagedObjectContext { running("sourceContext").source }

    /// The context of the destination store. There is one from the start of a migration until `reset()`.
    open var destinationContext: NSManagedObjectContext { running("destinationContext").destination }

    /// The entity mapping that is being worked on.
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

    /// How far the migration is, from 0 to 1; 1 before the first one. One that fails leaves it where it stopped. May be read from any thread.
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
    /// Linux has no key-value observing: override this to hear of the progress.
    ///
    /// - Parameter key: the property.
    open func didChangeValue(forKey key: String) {}

    /// Ends the migration as soon as possible, before the next object. May be called from any thread.
    ///
    /// - Parameter error: why; the migration throws this very error.
    open func cancelMigrationWithError(_ error: any Error) { shared.withLock { $0.cancellation = error } }

    /// - Throws: the error that the migration was cancelled with.
    func checkCancellation() throws {
        if let cause = shared.withLock({ $0.cancellation }) { throw cause }
    }

    /// Forgets the contexts and the objects of the last migration, so that the manager can be used for another.
    open func reset() {
        run = nil
        successions = nil
        shared.withLock { $0 = Shared() }
    }

    // MARK: Migrating

    /// Migrates a store.
    ///
    /// - Parameters:
    ///   - sourceURL: the store, which is not changed.
    ///   - sStoreType: its type.
    ///   - sOptions: the options to open it with.
    ///   - mappings: how its objects become objects of the destination model.
    ///   - dURL: where the migrated store is to be.
    ///   - dStoreType: its type.
    ///   - dOptions: the options to open it with.
    /// - Throws: 134110 when the mapping model names an entity, a property or a policy that there is not, 134150 when the
    ///   source store cannot be opened, 134160 when the destination cannot, the error that the migration was
    ///   cancelled with, what a policy throws, and the errors of validation. A destination that this made is gone again
    ///   then.
    open func migrateStore(
        from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil,
        with mappings: NSMappingModel?, toDestinationURL dURL: URL, destinationType dStoreType: String,
        destinationOptions dOptions: [AnyHashable: Any]? = nil
    ) throws {
        guard let mappings else {
            throw MigrationError.missingMappingModel(
                url: sourceURL, source: sourceModel, destination: destinationModel, underlying: nil)
        }
        try MappingCheck.check(mappings, from: sourceModel, to: destinationModel)
        let ends = MigrationEnds(
            source: .init(url: sourceURL, type: sStoreType, options: sOptions),
            destination: .init(url: dURL, type: dStoreType, options: dOptions))
        let isNew = !ends.destinationExists
        setProgress(0)
        do {
            let format = isNew ? ends.format : nil
            format?.protect(dURL, like: sourceURL)
            if usesStoreSpecificMigrationManager, let format, let plan = mappings.inferredPlan {
                try migrateCopy(ends, format, plan: plan)
            } else {
                try migrateObjects(ends, mapping: mappings, isNew: isNew)
            }
            setProgress(1)
        } catch {
            run = nil
            // The error to tell is the migration's; a half-made file that stays is overwritten by the next try.
            if isNew { try? ends.removeDestination() }
            throw error
        }
    }

    /// Migrates a store.
    ///
    /// ```swift
    /// let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
    /// let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    /// try manager.migrateStore(from: url, type: .sqlite, mapping: mapping, to: other, type: .sqlite)
    /// ```
    ///
    /// - Parameters:
    ///   - sourceURL: the store, which is not changed.
    ///   - sourceType: its type.
    ///   - sourceOptions: the options to open it with.
    ///   - mapping: how its objects become objects of the destination model.
    ///   - destinationURL: where the migrated store is to be.
    ///   - destinationType: its type.
    ///   - destinationOptions: the options to open it with.
    /// - Throws: as `migrateStore(from:sourceType:options:with:toDestinationURL:destinationType:destinationOptions:)`
    ///   does.
    public func migrateStore(
        from sourceURL: URL, type sourceType: NSPersistentStore.StoreType,
        options sourceOptions: [AnyHashable: Any]? = nil,
        mapping: NSMappingModel, to destinationURL: URL, type destinationType: NSPersistentStore.StoreType,
        options destinationOptions: [AnyHashable: Any]? = nil
    ) throws {
        try migrateStore(
            from: sourceURL, sourceType: sourceType.rawValue, options: sourceOptions, with: mapping,
            toDestinationURL: destinationURL, destinationType: destinationType.rawValue,
            destinationOptions: destinationOptions)
    }

    // MARK: Entities and objects

    /// The source entity of an entity mapping: while a migration runs, that of the model that the source context has.
    ///
    /// - Parameter mEntity: an entity mapping.
    /// - Returns: the entity; `nil` when the mapping names none.
    open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        let model = run?.source.persistentStoreCoordinator?.managedObjectModel ?? sourceModel
        return mEntity.sourceEntityName.flatMap { model.entitiesByName[$0] }
    }

    /// The destination entity of an entity mapping: while a migration runs, that of the model that the destination context
    /// has.
    ///
    /// - Parameter mEntity: an entity mapping.
    /// - Returns: the entity; `nil` when the mapping names none.
    open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        if let run { return run.destinationEntity(mEntity) }
        return mEntity.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
    }

    /// Notes that a source object became a destination object by an entity mapping.
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

    /// What source objects became by the entity mapping of a name; everything that the mapping made for `nil`.
    ///
    /// - Parameters:
    ///   - mappingName: the name of the entity mapping.
    ///   - sourceInstances: objects of the source context; `nil` for all.
    /// - Returns: the destination objects; none for a name that no mapping has.
    open func destinationInstances(
        forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        run?.associations.destinations(mapping: mappingName, of: sourceInstances) ?? []
    }

    /// What destination objects were made of by the entity mapping of a name; all its source objects for `nil`.
    ///
    /// - Parameters:
    ///   - mappingName: the name of the entity mapping.
    ///   - destinationInstances: objects of the destination context; `nil` for all.
    /// - Returns: the source objects; none for a name that no mapping has.
    open func sourceInstances(
        forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        run?.associations.sources(mapping: mappingName, of: destinationInstances) ?? []
    }

    /// Calls a function that a value expression calls on `$manager`. Override it to answer functions of a subclass.
    ///
    /// - Parameters:
    ///   - name: the name of the function, as the expression has it.
    ///   - arguments: the values of the arguments.
    /// - Returns: what the function gives; `nil` for no value.
    /// - Throws: an error that names the function when no function has that name.
    open func callFunction(_ name: String, arguments: [Any?]) throws -> Any? {
        try callOwnFunction(name, arguments)
    }
}
