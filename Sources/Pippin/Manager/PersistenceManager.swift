public import CoreData

/// A store of structs, which can be saved, fetched, observed and deleted.
///
/// Make one when the program starts, and pass it to the code that needs it.
///
/// ```swift
/// let manager = PersistenceManager(models: Book.self)
/// try await manager.save(books)
/// let cheap = try await manager.fetch(Book.self, where: \.price < 20, sortedBy: .ascending(\.title))
/// ```
///
/// Each method of the manager does one thing; a block does several, on one state of the store or all or nothing:
/// ``read(_:)`` and ``write(onConflict:_:)``, or ``readAndWait(_:)`` and ``writeAndWait(onConflict:_:)`` for programs
/// without concurrency. Blocks that write run one after the other.
public final class PersistenceManager: Sendable {
    /// The manager's name, which is also the default store's.
    public let name: String

    /// Core Data's container, for what structs cannot express. It has the manager's store, also one that is open.
    public var container: NSPersistentContainer {
        if let made = madeContainer.withLock({ $0 }) { return made }
        // The session's lock comes first: a question that holds it may need a context.
        return session.withLock {
            madeContainer.withLock { made in
                if let made { return made }
                let new = NSPersistentContainer(name: name, session: session)
                if isOpen { configure(new.viewContext) }
                made = new
                return new
            }
        }
    }

    let madeContainer = Locked<NSPersistentContainer?>(nil)
    /// The store.
    package let session: StoreSession

    /// The merge policy of the contexts that the manager hands out.
    package let objectMergePolicy: NSMergePolicy

    /// Whether the store is open, and whether a thread opens or destroys it.
    let lifecycle = Locked(StoreLifecycle())
    /// Held while the store is opened or destroyed.
    let opening = Locked(())
    /// Opens the stores at the first use. The layer above, which can migrate them, provides it.
    let openAtFirstUse: @Sendable (PersistenceManager) throws -> Void
    package let threadContexts = ThreadContexts()
    /// The contexts that were handed out for longer use.
    package let backgroundContexts = WeakContexts()
    package let writes = WriteQueue()
    let saveSignals = SaveSignals()
    let sharedReadings = SharedReadings()
    let workDurations = WorkDurations()
    /// The store's rows.
    let storeRows: StoreRows
    /// The entities that were derived from models.
    package let registry: ModelRegistry
    /// The model of the program alone. The session's model may have more, which the store has in addition.
    let programModel: NSManagedObjectModel
    /// Whether the store may be created.
    let creation: CreationCheck
    /// The merge policy of the contexts, which follows the schemas.
    package let contextPolicy: NSMergePolicy
    private let modelFailure: PersistenceError?

    init(
        _ source: ModelSource, name: String, mergePolicy: NSMergePolicy, store location: StoreLocation,
        registry: ModelRegistry, openAtFirstUse: @escaping @Sendable (PersistenceManager) throws -> Void
    ) {
        self.name = name
        self.registry = registry
        self.openAtFirstUse = openAtFirstUse
        objectMergePolicy = mergePolicy
        let model: NSManagedObjectModel
        do {
            model = try source.model()
            modelFailure = nil
        } catch {
            // Kept for `load`, which can throw it. Until then the session has an empty model.
            model = NSManagedObjectModel()
            modelFailure = error as? PersistenceError ?? .modelNotFound(name: name, bundle: "\(error)")
        }
        programModel = model
        creation = CreationCheck(location)
        contextPolicy = registry.plans.isEmpty ? mergePolicy : SchemaMergePolicy(mergePolicy, registry)
        session = StoreSession(model)
        session.descriptions = [location.makeDescription() ?? NSPersistentStoreDescription(named: name)]
        for description in session.descriptions { description.announceChanges() }
        storeRows = StoreRows(session)
    }

    /// The model; throws if there is none.
    package func checkedModel() throws -> NSManagedObjectModel {
        if let modelFailure { throw modelFailure }
        return programModel
    }
}
