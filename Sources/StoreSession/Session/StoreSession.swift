@_exported import CoreDataModel
import Dispatch
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

    /// The preview of a block's unsaved changes, if one is open; under the lock.
    var preview: Preview?
    /// Whether the block that the preview belongs to reads it now; under the lock.
    var isReadingPreview = false
    /// Whether the preview ends when it is not used; under the lock.
    var isWatchingPreview = false

    private weak var shownBy: (any SessionFace)?
    /// Shows the stores to programs.
    package var face: (any SessionFace)? {
        get { withState { shownBy } }
        set { withState { shownBy = newValue } }
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

    /// Runs a block with exclusive use of the stores. It sees no preview of another block.
    package func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        if preview != nil, !isReadingPreview { endPreview() }
        return try body()
    }

    /// Runs a block with exclusive use of what is known of the stores. It does not use their engines, so that a preview
    /// stays open.
    func withState<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }

    /// Runs a block with exclusive use of the stores, unless another thread uses them; then it returns `nil`.
    package func withLockIfFree<Result>(_ body: () throws -> Result) rethrows -> Result? {
        guard lock.try() else { return nil }
        defer { lock.unlock() }
        if preview != nil, !isReadingPreview { endPreview() }
        return try body()
    }

    // MARK: Stores

    /// The stores, in the order in which they were added.
    package var openStores: [SessionStore] { withState { stores } }

    /// The store, if there is only one.
    package var onlyStore: SessionStore? { withState { stores.count == 1 ? stores[0] : nil } }

    /// The stores that hold an entity.
    package func storesOf(_ entity: EntityLayout, among wanted: [SessionStore]? = nil) -> [SessionStore] {
        withState {
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

// Reports that stores have changed.
extension StoreSession {
    /// One queue, so that the reports are in the order of the changes.
    private static let changeQueue = DispatchQueue(label: "StoreSession.changes")

    /// Reports a changed store, later, since a save must not wait for its observers. Changes within 20 ms are reported
    /// together, so that frequent saves do not wake this queue each time.
    ///
    /// - Parameters:
    ///   - store: the changed store.
    ///   - followsSave: whether the session's `saves` report the same change.
    package func announceChange(of store: SessionStore, followsSave: Bool = false) {
        guard store.engine.changeNotifications != nil, let turn = store.announcements.add(followsSave: followsSave)
        else { return }
        switch turn {
        case .now: Self.changeQueue.async { [self] in reportChanges(of: store) }
        case .at(let moment):
            // If the session has been released, there are no listeners.
            Self.changeQueue.asyncAfter(deadline: moment) { [weak self] in self?.reportChanges(of: store) }
        }
    }

    private func reportChanges(of store: SessionStore) {
        let followSaves = store.announcements.take()
        guard withLock({ stores.contains { $0 === store } }) else { return }
        changes.notify(StoreChanges(store: store, followSaves: followSaves))
    }
}

/// A log of which objects were saved recently, and when. It shows whether the values that a fault was fetched with are
/// still current.
struct ChangeLog {
    /// The changes of saves that are not in `lastChange` yet: after most saves, nothing is looked up there.
    private var recent: [(generation: UInt32, keys: [Key])] = []
    private var lastChange: [Key: UInt32] = [:]
    private var count = 0
    /// Values read before this generation can no longer be judged.
    private var start: UInt32 = 0

    /// Limits the memory; beyond it, old faults read their rows again.
    private static let capacity = 200_000

    /// An ID as numbers: a class would be hashed and compared by dynamic calls.
    private struct Key: Hashable {
        let key: Int64
        let tag: UInt64

        init(_ identifier: NSManagedObjectID) { (key, tag) = (identifier.key, identifier.tableTag) }
        init(_ identity: ObjectIdentity) { (key, tag) = (identity.key, identity.tag) }
    }

    mutating func note(_ changes: ChangeSet, _ generation: UInt32) {
        var keys: [Key] = []
        keys.reserveCapacity(changes.updated.count + changes.deleted.count)
        // By index: iterating over the changes would retain each.
        for index in changes.updated.indices { keys.append(Key(changes.updated[index].objectID)) }
        for index in changes.deleted.indices { keys.append(Key(changes.deleted[index].objectID)) }
        note(keys, generation)
    }

    mutating func note(_ identifiers: [NSManagedObjectID], _ generation: UInt32) {
        note(identifiers.map(Key.init), generation)
    }

    /// Records changes of unknown objects: values read before can no longer be judged.
    mutating func noteUnknown(_ generation: UInt32) {
        recent = []
        lastChange = [:]
        count = 0
        start = generation
    }

    private mutating func note(_ keys: [Key], _ generation: UInt32) {
        guard !keys.isEmpty else { return }
        count += keys.count
        if count > Self.capacity {
            recent = []
            lastChange = [:]
            count = 0
            start = generation
        } else {
            recent.append((generation, keys))
        }
    }

    /// Whether no save has changed an object after a generation, as far as the log goes back.
    mutating func isUnchanged(_ identity: ObjectIdentity, since stamp: UInt32) -> Bool {
        guard stamp >= start else { return false }
        for (generation, keys) in recent {
            for key in keys { lastChange[key] = generation }
        }
        recent = []
        return lastChange[Key(identity)].map { $0 <= stamp } ?? true
    }
}

/// Listeners that are called for each event.
///
/// Notifications are for programs, and contain sets of objects like Core Data's, which these listeners do not need.
package final class Listeners<Event>: Sendable {
    package typealias Listener = @Sendable (Event) -> Void

    private struct State {
        var listeners: [(number: Int, listener: Listener)] = []
        var next = 0
    }

    private let state = Mutex(State())

    /// - Parameter listener: is called for each event from now on.
    /// - Returns: the listener's number, by which it is removed.
    package func add(_ listener: @escaping Listener) -> Int {
        state.withLock { state in
            state.next += 1
            state.listeners.append((state.next, listener))
            return state.next
        }
    }

    /// - Parameter number: a listener's number. The listener may still be called for an event that is being reported.
    package func remove(_ number: Int) { state.withLock { $0.listeners.removeAll { $0.number == number } } }

    /// Reports an event, which is only made if there are listeners.
    package func notify(_ event: @autoclosure () -> Event) {
        let listeners = state.withLock { $0.listeners }
        if listeners.isEmpty { return }
        let event = event()
        for (_, listener) in listeners { listener(event) }
    }
}

/// What a save wrote.
package struct SavedEntities: Sendable {
    /// The names of the saved entities.
    package let names: Set<String>
    /// What was written; nil for a save of objects.
    package let changes: ChangeSet?

    package init(_ names: Set<String>, _ changes: ChangeSet?) { (self.names, self.changes) = (names, changes) }
}

/// Changes of one store.
package struct StoreChanges: Sendable {
    package let store: SessionStore
    /// For each change, in order, whether a save of the session has reported it.
    package let followSaves: [Bool]
}
