import Foundation
import Synchronization

/// A scratch pad for objects: they are fetched into it, changed in it, and saved from it together.
///
/// A context and its objects belong to its queue: use them inside `perform`, or on the main thread for a main-queue
/// context. The class itself declares what subclasses may override; extensions implement it.
open class NSManagedObjectContext: NSObject, NSKeyValueObserving, @unchecked Sendable {
    // @unchecked Sendable: confined to `queue` (the main queue or a private one); `perform` can be called from
    // anywhere.

    /// Creates a context.
    ///
    /// - Parameter type: a private queue of its own, or the main queue.
    public init(concurrencyType type: NSManagedObjectContextConcurrencyType) {
        concurrencyType = type
        queue = ContextQueue(type)
        super.init()
        table.join(self)
    }

    /// Creates a context that is not confined to a queue. Deprecated by Apple; pass a concurrency type instead.
    public convenience override init() { self.init(concurrencyType: .confinementConcurrencyType) }

    deinit { letGo() }

    /// The queue to which the context is confined.
    public let concurrencyType: NSManagedObjectContextConcurrencyType
    let queue: ContextQueue

    // MARK: Where objects come from

    var coordinator: NSPersistentStoreCoordinator?
    var parentSource: ParentSource?
    var linkToParent: ChildLink?
    /// The transaction's view of the coordinator, for a context that works in one.
    var transactionSource: TransactionSource?
    /// The contexts that have this one as their parent. They are added and removed on their own queues.
    let children = Mutex<[ChildLink]>([])
    /// The temporary IDs of objects that got permanent ones here. Children ask on their own queues.
    let formerIdentifiers = Mutex(FormerIdentifiers())

    /// The coordinator of the stores that the context reads and writes; for a child context, its parent's.
    ///
    /// Setting it detaches a child context from its parent.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { parentSource?.parent.persistentStoreCoordinator ?? coordinator }
        set { setSource(coordinator: newValue, parent: nil) }
    }

    /// The context that this one reads from and saves to, in place of stores. It is kept alive by its children.
    ///
    /// Set it before the context is used.
    open var parent: NSManagedObjectContext? {
        get { parentSource?.parent }
        set { setSource(coordinator: nil, parent: newValue) }
    }

    /// A name for logs and the history.
    open var name: String?
    /// The author of this context's changes, which the history records.
    open var transactionAuthor: String?
    /// Your own information about the context.
    public private(set) lazy var userInfo = NSMutableDictionary()
    /// The policy for conflicts with the stores when saving: an `NSMergePolicy`. By default, the save fails.
    open var mergePolicy: Any = NSMergePolicy.error
    /// Whether saves of others to the coordinator or the parent are merged automatically. The default is `false`.
    open var automaticallyMergesChangesFromParent: Bool {
        get { mergesAutomatically.load(ordering: .relaxed) }
        set { mergesAutomatically.store(newValue, ordering: .relaxed) }
    }
    private let mergesAutomatically = Atomic<Bool>(false)
    /// Whether the context has ever had an object, a child or a list, or read anything; see `needsMerges`.
    private let wasUsed = Atomic<Bool>(false)

    /// Records that the context is used, before it reads. Later saves of other contexts are merged into it.
    @inline(__always)
    final func noteUse() {
        // Sequentially consistent with `needsMerges`: either this read sees the other save, or that save sees that the
        // context is used.
        if !wasUsed.load(ordering: .relaxed) { wasUsed.store(true, ordering: .sequentiallyConsistent) }
    }

    /// Whether saves of others must be merged here: the context was used, or merges may be observed. An unused context,
    /// such as the view context of a program that works in the background only, reads the current state when it is
    /// first used; merging would only wake its queue for each save.
    final var needsMerges: Bool {
        wasUsed.load(ordering: .sequentiallyConsistent) || SaveNotifications.hasMergeObservers
    }
    /// Whether objects that the store has lost show no values and count as deleted, instead of stopping the program.
    open var shouldDeleteInaccessibleFaults = true
    /// Whether delete rules are applied when changes are processed (`true`) or at the next save.
    open var propagatesDeletesAtEndOfEvent = true
    /// Whether the context keeps all its objects alive. The default is `false`: only changed objects are kept.
    open var retainsRegisteredObjects = false {
        didSet {
            noteUse()
            retained.keep(retainsRegisteredObjects ? table.all : nil)
        }
    }
    /// The largest age, in seconds, of values that a fault may take from memory. A negative value, the default, means
    /// any age; otherwise every fault reads the store.
    open var stalenessInterval: TimeInterval = -1

    /// The undo manager that changes are registered with; `nil`, the default, for no undo.
    open var undoManager: UndoManager? {
        willSet { if newValue !== undoManager { undoManager?.removeAllActions(withTarget: self) } }
        didSet { if undoManager !== oldValue { observeCheckpoints() } }
    }
    /// The observation of the undo manager's checkpoints.
    var checkpoints: (any NSObjectProtocol)?

    /// Records changes that may have to be taken back.
    var workRecord: WorkRecord?

    let pinned = Mutex(GenerationPin.none)
    let hasPin = Atomic<Bool>(false)

    /// The state of the stores that the context reads: `nil` if it reads the current state, `current` if its next read
    /// will pin it.
    open var queryGenerationToken: NSQueryGenerationToken? { pinnedToken }

    /// Makes the context read one state of the stores, even if others save. Objects that it already has stay as they
    /// are.
    ///
    /// Saving, merging and resetting move the context to the current state at its next read.
    ///
    /// - Parameter generation: the state; `NSQueryGenerationToken.current` for the current state at the next read,
    ///   `nil` to read the stores as they are.
    /// - Throws: an error if the state can no longer be read, and for a child context, which reads its parent.
    open func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws { try setPin(generation) }

    // MARK: What the context holds

    // Exclusivity is not checked at run time for what is accessed for every object that changes or is made, and only by
    // code of this module: see the state of NSManagedObject.

    let table = ObjectTable()
    /// Objects with unsaved changes.
    @exclusivity(unchecked) final var changed = ChangeList()
    /// What has happened since changes were last processed.
    @exclusivity(unchecked) final var event = ContextEvent()
    /// Deletions that have yet to take effect.
    final var deletions = PendingDeletions()
    /// The save that is under way.
    @exclusivity(unchecked) final var saving = SaveState()
    /// Saves of others that have not been merged yet. They are added on any queue.
    let incoming = Mutex<[SavedChanges]>([])
    /// The merge that is under way.
    final var merging = MergeState()
    /// All objects, if the context shall keep them.
    @exclusivity(unchecked) final var retained = RetainedObjects()
    final var readFailures = ReadFailures()
    var batches = FetchBatches()
    var assignedStores = AssignedStores()
    @exclusivity(unchecked) final var materialization = Materialization.none
    /// The entity that the table last kept; see `keep`.
    @exclusivity(unchecked) final var lastKeptLayout: UnsafeMutableRawPointer?
    @exclusivity(unchecked) final var lastKeptStore: UnsafeMutableRawPointer?
    @exclusivity(unchecked) final var classCache = ClassCache()
    /// Whether uses of objects are checked. It is copied here, since a static property is accessed through a function
    /// each time.
    final let checksQueues = ConcurrencyDebug.isOn
    var isProcessingScheduled = false
    /// Whether changes, made here or merged, are being processed and announced: hooks and observers see the objects as
    /// they are.
    var isProcessing = false
    /// How many objects are in `awakeFromInsert`, where they are only half made.
    var insertionsUnderWay = 0
    /// Whether an object's awakening method is running: properties that it sets do not count as changes.
    @exclusivity(unchecked) final var isAwakening = false
    private let lockObject = NSRecursiveLock()

    /// All objects that the context knows.
    open var registeredObjects: Set<NSManagedObject> { Set(table.all) }

    /// New objects, which the next save writes. One that is deleted before it is saved leaves them, and the context,
    /// when the changes are processed.
    open var insertedObjects: Set<NSManagedObject> { Set(changed.objects.filter { $0.state.contains(.inserted) }) }

    /// Changed objects, which the next save writes.
    open var updatedObjects: Set<NSManagedObject> { Set(changed.objects.filter(\.isUpdated)) }

    /// Objects that the next save deletes, and until the changes are processed, new objects that are deleted.
    open var deletedObjects: Set<NSManagedObject> { Set(changed.objects.filter(\.isDeleted)) }

    /// Whether any object is new, changed or deleted.
    open var hasChanges: Bool { changed.objects.contains(where: \.hasChanges) }

    // MARK: Finding objects

    /// The object with an ID, if it is registered in the context.
    ///
    /// - Parameter objectID: the ID, temporary or permanent.
    /// - Returns: the object, which may be a fault; `nil` if it is not registered. No store is asked.
    open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        checkQueue()
        return table.object(for: localIdentifier(objectID))
    }

    /// The object with an ID: the registered one, or a fault, whether or not the store has such an object.
    ///
    /// - Parameter objectID: the ID, temporary or permanent.
    /// - Returns: the object. If no store has it, that shows when the fault is fired: see
    ///   `shouldDeleteInaccessibleFaults`.
    open func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        checkQueue()
        return objectOrFault(objectID)
    }

    /// The object with an ID, with its values.
    ///
    /// ```swift
    /// // An ID may go to any context, where an object must stay in its own.
    /// let person = try background.existingObject(with: id) as? Person
    /// ```
    ///
    /// - Parameter objectID: the ID, temporary or permanent.
    /// - Returns: the object with its values, not a fault. A registered object is returned as it is, even if its
    ///   deletion has not been saved yet.
    /// - Throws: `NSManagedObjectReferentialIntegrityError` if no store has such an object.
    open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        try objectWithValues(objectID)
    }

    /// Fetches what a request describes, for every result type. See the generic method.
    ///
    /// - Parameter request: the request.
    /// - Returns: objects, IDs, dictionaries or one number, depending on the request's result type.
    /// - Throws: an error in the Cocoa domain if the request names an unknown entity or property, asks for something
    ///   that the store cannot do, or the store cannot be read.
    open func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] { try results(of: request) }

    /// The number of results that fetching a request would give.
    ///
    /// - Parameter request: the request; of its result type, only whether it is dictionaries matters.
    /// - Returns: the number of objects, including unsaved changes; of dictionaries, which are of saved objects only,
    ///   those of groups and distinct ones once.
    /// - Throws: the errors that fetching the request throws.
    open func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int { try count(of: request) }

    /// Runs a request: a fetch, or a change of rows in the stores without objects.
    ///
    /// - Parameter request: a fetch, an asynchronous fetch, a batch or a history request.
    /// - Returns: the result that belongs to the request.
    /// - Throws: `NSPersistentStoreUnsupportedRequestTypeError` for a request that no store supports, and the errors of
    ///   the stores.
    @discardableResult
    open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult { try run(request) }

    // MARK: Changing objects

    /// Inserts an object that was made without a context, or takes back a deletion that was not saved yet.
    ///
    /// - Parameter object: an object without a context, or a deleted one of this context; one of another context stops
    ///   the program.
    open func insert(_ object: NSManagedObject) { insertObject(object) }

    /// Marks an object for deletion by the next save, and others according to its delete rules.
    ///
    /// The rules are applied when changes are next processed. An object that was never saved then leaves the context,
    /// since there is nothing to save for it. One whose deletion a “deny” rule forbids stays until the objects that
    /// deny it are gone; a save before that fails.
    ///
    /// - Parameter object: an object of the context.
    open func delete(_ object: NSManagedObject) { deleteObject(object) }

    /// Assigns a new object to a store, if several could take it.
    ///
    /// - Parameters:
    ///   - object: a managed object that was never saved; anything else stops the program.
    ///   - store: a store of the coordinator that holds the object's entity.
    open func assign(_ object: Any, to store: NSPersistentStore) { assignObject(object, to: store) }

    /// Updates an object to the store's values.
    ///
    /// - Parameters:
    ///   - object: an object of the context.
    ///   - flag: `true` reads the store's values and keeps the changes made here, and calls `willTurnIntoFault()` and
    ///     `didTurnIntoFault()` of an object without changes first; `false` discards the changes and turns the object
    ///     into a fault.
    open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) { refreshObject(object, mergeChanges: flag) }

    /// Turns all unchanged objects into faults, and merges the store's values into the others.
    open func refreshAllObjects() { refreshObjects() }

    /// Applies the delete rules of deleted objects, and posts the changes since the last call.
    open func processPendingChanges() { processChanges() }

    /// Discards all unsaved changes.
    open func rollback() { rollBackChanges() }

    /// Forgets all objects and all changes.
    open func reset() { forgetEverything() }

    /// Undoes the last group of changes, with the undo manager.
    open func undo() { undoChanges() }

    /// Redoes the changes that were last undone.
    open func redo() { redoChanges() }

    // MARK: Saving

    /// Writes all changes to the stores, in one transaction per store; those of a child context go to its parent
    /// instead.
    ///
    /// Posts `NSManagedObjectContextWillSave` before and `NSManagedObjectContextDidSave` after, even if there are no
    /// changes to write. A failed save leaves the store, and the changes here, as they were.
    ///
    /// - Throws: validation errors (codes 1550 to 1690, several under `NSDetailedErrorsKey`),
    ///   `NSManagedObjectMergeError` and `NSManagedObjectConstraintMergeError` for conflicts that the merge policy does
    ///   not resolve, and the errors of the stores.
    open func save() throws {
        defer { wakeMergers() }
        try saveChanges()
    }

    /// Gives new objects their permanent IDs before they are saved.
    ///
    /// - Parameter objects: objects of the context; objects with permanent IDs keep them.
    /// - Throws: the errors of the store, which reserves the keys in a transaction of its own.
    open func obtainPermanentIDs(for objects: [NSManagedObject]) throws { try makeIdentifiersPermanent(objects) }

    /// Marks an object to be checked for conflicts by the next save, even if it is unchanged.
    ///
    /// The save writes a new version of its row, and detects a conflict if the row was changed by others.
    ///
    /// - Parameter object: an object of the context; new and deleted ones are ignored.
    open func detectConflicts(for object: NSManagedObject) { watchForConflicts(object) }

    /// Merges what another context saved.
    ///
    /// Registered objects take the new values, and keep the changes made here; faults stay faults; new objects are
    /// registered as faults; deleted ones are deleted here too, until the next save, which writes nothing for them,
    /// forgets them.
    ///
    /// - Parameter notification: a `didSaveObjectsNotification` or `didSaveObjectIDsNotification`.
    open func mergeChanges(fromContextDidSave notification: Notification) {
        merge(SavedChanges(userInfo: notification.userInfo ?? [:]))
    }

    /// Merges changes given as IDs (or their URIs) under the keys of a save notification.
    ///
    /// - Parameters:
    ///   - changeNotificationData: sets or arrays of IDs, objects or URIs, by `NSInsertedObjectsKey` and similar keys.
    ///   - contexts: the contexts to merge into; each merges on its own queue, before this returns.
    open class func mergeChanges(
        fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
    ) {
        for context in contexts {
            context.performAndWait {
                context.merge(
                    SavedChanges(userInfo: changeNotificationData, coordinator: context.persistentStoreCoordinator))
            }
        }
    }

    /// Decides whether a fault whose row is gone becomes a deleted object without values; `false` stops the program.
    /// Called when such a fault is fired.
    ///
    /// - Parameters:
    ///   - fault: the object.
    ///   - oid: its ID.
    ///   - property: the property that was read, if it is known.
    /// - Returns: by default, `shouldDeleteInaccessibleFaults`.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool { shouldDeleteInaccessibleFaults }

    /// Called for changes of observed properties, for subclasses. A change that no subclass handles stops the program.
    ///
    /// - Parameters:
    ///   - keyPath: the observed key path.
    ///   - object: the object at which it starts.
    ///   - change: what changed.
    ///   - context: the pointer passed at registration.
    open func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        programmerError("a context observes “\(keyPath ?? "")” and does not override observeValue for it")
    }

    // MARK: Running code

    /// Runs a block on the context's queue, later. Changes are processed at its end.
    ///
    /// The block is not `sending`: a client's protocol or subclass that requires `perform(_: @escaping () -> Void)`
    /// would then not find this method, and all existing ones do.
    ///
    /// ```swift
    /// background.perform {
    ///     let note = Note(context: background)
    ///     note.text = "Written on the queue of the context"
    ///     do { try background.save() } catch { report(error) }
    /// }
    /// ```
    ///
    /// - Parameter block: what to run.
    open func perform(_ block: @escaping () -> Void) { runLater(block) }

    /// Runs a block on the context's queue and waits for it. Calls may be nested.
    ///
    /// Changes are not processed at its end, unless there is an undo manager, for which the block is an event.
    ///
    /// - Parameter block: what to run.
    open func performAndWait(_ block: () -> Void) { runAndWait(block) }

    /// Waits for a lock that the context itself does not take. Deprecated by Apple; use `performAndWait`.
    open func lock() { lockObject.lock() }

    /// Releases the lock.
    open func unlock() { lockObject.unlock() }

    /// Takes the lock if it is free.
    ///
    /// - Returns: whether the lock was taken.
    open func tryLock() -> Bool { lockObject.try() }
}
