import CoreData

/// How far a manager's loading has come.
enum LoadState {
    case unloaded, loading, loaded
}

/// One Core Data container, and everything that is done with it: structs saved, fetched and deleted.
///
/// Make one when the program starts, load it once, and pass it to the code that needs it.
///
/// ```swift
/// let manager = PersistenceManager(modelName: "Bookstore", bundle: .module)
/// try await manager.load()
/// try await manager.save(entity: BookRecord.self, models: books, shouldOverwrite: false)
/// let cheap = try await manager.fetchModels(
///     entity: BookRecord.self, predicate: NSPredicate(format: "price < %@", 20))
/// ```
///
/// What saves, fetches and deletes exists twice: `async`, off the calling thread, and as a plain throwing function that waits. What else
/// is `async` can be done within `read` as well. Operations take a context if you have one; without one, writes get a ``workerContext`` and reads the ``contextForThread()``.
/// Writes without a context of yours run one after the other, so that an insert-or-update cannot race another one.
public final class PersistenceManager: Sendable {
    /// The manager's name, which is the default store's as well.
    public let name: String

    /// The manager's container: Core Data's own.
    public let container: NSPersistentContainer

    /// How a save settles conflicts, in every context that the manager hands out.
    public let mergePolicy: NSMergePolicy

    let state = Locked(LoadState.unloaded)
    let threadContexts = ThreadContexts()
    /// The contexts that were handed out to stay.
    let backgroundContexts = WeakContexts()
    let writes = WriteQueue()
    /// Rows without managed objects, where that can be had.
    let storeRows: (any StructRows & Sendable)?
    /// The entities that were derived from models.
    let registry: ModelRegistry
    /// The model of the program alone; that of the container may have more, which the store has besides.
    let programModel: NSManagedObjectModel
    /// Whether the store may be made.
    let creation: CreationCheck
    /// Whether this manager has taken its store away.
    let wasDestroyed = Locked(false)
    /// Whether a store is on the way that takes the place of one that was taken away.
    let isStartingOver = Locked(false)
    /// The merge policy of the contexts, which knows the schemas.
    let contextPolicy: NSMergePolicy
    private let modelFailure: PersistenceError?

    /// A manager for a compiled model in a bundle.
    ///
    /// A model that is not there is an error of `load()`.
    ///
    /// - Parameters:
    ///   - modelName: the name of the `.momd` or `.mom` without its extension; also the manager's.
    ///   - bundle: where to look, `.module` in a package's target.
    ///   - mergePolicy: how a save settles conflicts. What is being saved wins, property by property, unless you say otherwise.
    ///   - store: where the objects are kept.
    public convenience init(
        modelName: String, bundle: Bundle = .main, mergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump,
        store: StoreLocation = .standard
    ) {
        self.init(.named(modelName, in: bundle), name: modelName, mergePolicy: mergePolicy, store: store)
    }

    /// A manager for a compiled model at a place of your own.
    ///
    /// - Parameters:
    ///   - modelURL: a `.momd` folder or a `.mom` file. Its name without the extension is the manager's.
    ///   - mergePolicy: how a save settles conflicts.
    ///   - store: where the objects are kept.
    public convenience init(
        modelURL: URL, mergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump, store: StoreLocation = .standard
    ) {
        let name = modelURL.deletingPathExtension().lastPathComponent
        self.init(.file(modelURL), name: name, mergePolicy: mergePolicy, store: store)
    }

    /// A manager for a compiled model in the bundle with that identifier.
    ///
    /// - Parameters:
    ///   - bundleIdentifier: the identifier of a bundle that is loaded, such as a framework's.
    ///   - modelName: the name of the `.momd` or `.mom` without its extension.
    ///   - mergePolicy: how a save settles conflicts.
    ///   - store: where the objects are kept.
    public convenience init(
        bundleIdentifier: String, modelName: String, mergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump,
        store: StoreLocation = .standard
    ) {
        let source = ModelSource.namedInBundle(modelName, identifier: bundleIdentifier)
        self.init(source, name: modelName, mergePolicy: mergePolicy, store: store)
    }

    /// A manager for a model that was built in code.
    ///
    /// - Parameters:
    ///   - model: the model. It cannot be changed any more once the manager is loaded.
    ///   - name: the manager's name, and the default store's.
    ///   - mergePolicy: how a save settles conflicts.
    ///   - store: where the objects are kept.
    public convenience init(
        model: NSManagedObjectModel, name: String, mergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump,
        store: StoreLocation = .standard
    ) {
        self.init(.built(model), name: name, mergePolicy: mergePolicy, store: store)
    }

    init(
        _ source: ModelSource, name: String, mergePolicy: NSMergePolicy, store: StoreLocation,
        registry: ModelRegistry = ModelRegistry()
    ) {
        self.name = name
        self.registry = registry
        self.mergePolicy = mergePolicy
        let model: NSManagedObjectModel
        do {
            model = try source.model()
            modelFailure = nil
        } catch {
            // Kept for `load`, which can throw it. Until then there is a container, with nothing in it.
            model = NSManagedObjectModel()
            modelFailure = error as? PersistenceError ?? .modelNotFound(name: name, bundle: "\(error)")
        }
        programModel = model
        creation = CreationCheck(store)
        contextPolicy = registry.plans.isEmpty ? mergePolicy : SchemaMergePolicy(mergePolicy, registry)
        container = NSPersistentContainer(name: name, managedObjectModel: model)
        if let description = store.description { container.persistentStoreDescriptions = [description] }
        for description in container.persistentStoreDescriptions { description.announceChanges() }
        storeRows = PersistenceManager.rows(of: container)
    }

    /// The model, unless there is none.
    func checkedModel() throws -> NSManagedObjectModel {
        if let modelFailure { throw modelFailure }
        return programModel
    }
}
