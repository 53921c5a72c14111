public import CoreData

/// A store of structs: what is saved, fetched, observed and deleted.
///
/// Make one when the program starts, and pass it to the code that needs it.
///
/// ```swift
/// let manager = PersistenceManager(models: Book.self)
/// try await manager.save(books)
/// let cheap = try await manager.fetch(Book.self, where: \.price < 20, sortedBy: .ascending(\.title))
/// ```
///
/// What a manager does in one line, a block does in several, on one state of the store or all or nothing: ``read(_:)`` and
/// ``write(onConflict:_:)``, for programs without concurrency ``readAndWait(_:)`` and ``writeAndWait(onConflict:_:)``. Blocks that write
/// run one after the other.
public final class PersistenceManager: Sendable {
    /// The manager's name, which is the default store's as well.
    public let name: String

    /// Core Data's container, for those who need what structs do not say.
    public let container: NSPersistentContainer

    /// How the contexts that the manager hands out settle conflicts of a save.
    package let objectMergePolicy: NSMergePolicy

    let state = Locked(LoadState.unloaded)
    /// Held by who opens the store.
    let opening = Locked(())
    package let threadContexts = ThreadContexts()
    /// The contexts that were handed out to stay.
    package let backgroundContexts = WeakContexts()
    package let writes = WriteQueue()
    let saveSignals = SaveSignals()
    let sharedReadings = SharedReadings()
    let questionTimes = QuestionTimes()
    /// Rows without managed objects, where that can be had.
    let storeRows: (any StateRows)?
    /// The entities that were derived from models.
    package let registry: ModelRegistry
    /// The model of the program alone; that of the container may have more, which the store has besides.
    let programModel: NSManagedObjectModel
    /// Whether the store may be made.
    let creation: CreationCheck
    /// Whether this manager has taken its store away.
    let wasDestroyed = Locked(false)
    /// Whether a store is on the way that takes the place of one that was taken away.
    let isStartingOver = Locked(false)
    /// The merge policy of the contexts, which knows the schemas.
    package let contextPolicy: NSMergePolicy
    private let modelFailure: PersistenceError?

    package init(
        _ source: ModelSource, name: String,
        mergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump, store location: StoreLocation,
        registry: ModelRegistry = ModelRegistry()
    ) {
        self.name = name
        self.registry = registry
        objectMergePolicy = mergePolicy
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
        creation = CreationCheck(location)
        contextPolicy = registry.plans.isEmpty ? mergePolicy : SchemaMergePolicy(mergePolicy, registry)
        container = NSPersistentContainer(name: name, managedObjectModel: model)
        if let description = location.makeDescription() { container.persistentStoreDescriptions = [description] }
        for description in container.persistentStoreDescriptions { description.announceChanges() }
        storeRows = PersistenceManager.rows(of: container)
    }

    /// The model, unless there is none.
    package func checkedModel() throws -> NSManagedObjectModel {
        if let modelFailure { throw modelFailure }
        return programModel
    }
}
