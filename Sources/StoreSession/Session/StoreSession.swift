@_exported import CoreDataModel
import Foundation
@_exported import MigrationPlans
@_exported import StoreEngine
import Synchronization

/// Stores that are open together: reads them, saves to them, and reports what was saved.
///
/// It knows rows, and no objects. It can be used from any thread: one lock guards the stores.
package final class StoreSession: @unchecked Sendable {
    // @unchecked Sendable: `stores`, the logs, `models` and the stores themselves are only accessed under `lock`; the
    // descriptions are set up before the stores are opened.

    /// The model of the stores.
    package var model: NSManagedObjectModel { current.model }
    package var modelLayout: ModelLayout { current.layout }
    private var current: CompiledModel { currentModel.load(ordering: .acquiring).takeUnretainedValue() }
    private let currentModel: Atomic<Unmanaged<CompiledModel>>
    /// All models that the session has had. They are read without the lock, and are therefore kept.
    private var models: [CompiledModel]

    /// Held while the stores are used.
    package let lock = NSRecursiveLock()
    /// The stores, in the order in which they were added; under the lock.
    var stores: [SessionStore] = [] {
        didSet { storesByEntity = [:] }
    }
    var storesByEntity: [ObjectIdentifier: [SessionStore]] = [:]
    /// The stores to open.
    package var descriptions: [NSPersistentStoreDescription] = []

    var changeLog = ChangeLog()
    var saveLog = SaveLog()
    let saveCount = Atomic<UInt32>(1)
    /// The transaction of the running request; under the lock.
    package internal(set) var activeTransaction: OptimisticTransaction?

    private weak var shownBy: (any SessionFace)?
    /// Shows the stores to programs.
    package var face: (any SessionFace)? {
        get { withLock { shownBy } }
        set { withLock { shownBy = newValue } }
    }
    /// Called immediately after each save, by the saving thread, before any notification is posted.
    package let saves = Listeners<SavedEntities>()
    /// Called some time after a store has changed, whoever changed it, if the store reports that.
    package let changes = Listeners<StoreChanges>()

    /// Creates a session without stores.
    ///
    /// - Parameter model: a complete model, which cannot be changed any more; one with errors stops the program with a
    ///   message that names them.
    package init(_ model: NSManagedObjectModel) {
        let layout: ModelLayout
        do { layout = try model.compiledLayout() } catch {
            programmerError((error as NSError).localizedDescription)
        }
        let compiled = CompiledModel(model, layout)
        models = [compiled]
        currentModel = Atomic(Unmanaged.passUnretained(compiled))
    }

    /// Replaces the model by one with the same entities and possibly more, as long as there are no stores.
    ///
    /// - Throws: `NSPersistentStoreOpenError` if there are stores already, and the errors of the model.
    package func adopt(_ model: NSManagedObjectModel) throws {
        let layout = try model.compiledLayout()
        try withLock {
            guard stores.isEmpty else {
                throw StoreError.make(
                    CoreDataErrorCode.persistentStoreOpen,
                    "A coordinator that has stores cannot take another model. Remove them first.", url: stores[0].url)
            }
            guard model !== self.model else { return }
            let compiled = models.first { $0.model === model } ?? CompiledModel(model, layout)
            if !models.contains(where: { $0 === compiled }) { models.append(compiled) }
            currentModel.store(Unmanaged.passUnretained(compiled), ordering: .releasing)
        }
    }

    // MARK: Exclusive use

    /// Runs a block with exclusive use of the stores.
    package func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }

    /// Runs a block with exclusive use of the stores, unless another thread uses them; then it returns `nil`.
    package func withLockIfFree<Result>(_ body: () throws -> Result) rethrows -> Result? {
        guard lock.try() else { return nil }
        defer { lock.unlock() }
        return try body()
    }

    // MARK: Stores

    /// The stores, in the order in which they were added.
    package var openStores: [SessionStore] { withLock { stores } }

    /// The store, if there is only one.
    package var onlyStore: SessionStore? { withLock { stores.count == 1 ? stores[0] : nil } }

    /// The stores that hold an entity.
    package func storesOf(_ entity: EntityLayout, among wanted: [SessionStore]? = nil) -> [SessionStore] {
        withLock {
            let holders: [SessionStore]
            if let known = storesByEntity[ObjectIdentifier(entity)] {
                holders = known
            } else {
                holders = stores.filter { $0.holds(entity, of: model) }
                storesByEntity[ObjectIdentifier(entity)] = holders
            }
            return wanted.map { wanted in holders.filter { holder in wanted.contains { $0 === holder } } } ?? holders
        }
    }

    /// The store of an object. For use under the lock.
    func store(of identifier: NSManagedObjectID) -> SessionStore? {
        stores.first { $0.identity === identifier.storeIdentity }
    }

    /// The store at a place, which the options may say instead of the URL.
    package func store(at url: URL, _ options: [AnyHashable: Any]?) -> SessionStore? {
        guard !url.isNoFile else { return nil }
        return withLock {
            stores.first {
                $0.engine.isPlaced(at: url, options) ?? ($0.url?.standardizedFileURL == url.standardizedFileURL)
            }
        }
    }

    /// Adds a store whose engine was opened. For use under the lock.
    package func add(_ store: SessionStore) {
        stores.append(store)
        observeChanges(of: store)
    }

    /// Observes changes by others, if the store can report them.
    private func observeChanges(of store: SessionStore) {
        store.engine.changeNotifications?.observeChanges(
            whileIdle: { [weak self] check in
                guard let self else { return false }
                return withLockIfFree(check)
            },
            handler: { [weak self, weak store] in
                guard let self, let store else { return }
                announceChange(of: store)
            })
    }

    /// Removes a store, and closes it.
    ///
    /// - Throws: `NSPersistentStoreOperationError` for a store that is not one of the session's.
    package func remove(_ store: SessionStore) throws {
        guard openStores.contains(where: { $0 === store }) else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOperation, "The store was not added to this coordinator.",
                url: store.url)
        }
        let close = { [self] in
            withLock {
                (store.engine as? any OpenableEngine)?.close()
                stores.removeAll { $0 === store }
            }
        }
        if let face { face.removing(store, close) } else { close() }
    }

    /// Replaces one store by another, under the lock.
    package func replace(_ store: SessionStore, by new: SessionStore) {
        stores = stores.map { $0 === store ? new : $0 }
        observeChanges(of: new)
    }
}

/// Shows the stores of a session to programs, and knows further types of stores: a coordinator does.
package protocol SessionFace: AnyObject {
    /// Opens the store of a description, creating it if there is none.
    func open(_ description: NSPersistentStoreDescription) throws

    /// Empties a store, and deletes the files beside it; an open one is removed.
    func destroy(at url: URL, ofType type: String, options: [AnyHashable: Any]?) throws

    /// Makes a store visible that the session has opened itself. Called under the lock.
    func show(_ store: SessionStore)

    /// Announces a save of rows, and reports what `save` has written, as a context does.
    func saving(_ save: () throws -> ChangeSet) throws

    /// Removes what programs see of a store, and reports that. Called without the lock.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - close: removes the store from the session, and closes it.
    func removing(_ store: SessionStore, _ close: () -> Void)
}

/// A model and its compiled form, which are replaced together.
private final class CompiledModel: Sendable {
    let model: NSManagedObjectModel
    let layout: ModelLayout

    init(_ model: NSManagedObjectModel, _ layout: ModelLayout) {
        self.model = model
        self.layout = layout
    }
}
