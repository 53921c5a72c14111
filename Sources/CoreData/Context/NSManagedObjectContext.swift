import Foundation
import Synchronization

/// A scratch pad for objects: they are fetched into it, changed in it, and saved from it together.
///
/// A context and its objects belong to its queue: use them inside `perform`, or on the main thread for a context of
/// the main queue. What subclasses may override is in the class itself, and what it does in the extensions.
open class NSManagedObjectContext: NSObject, NSKeyValueObserving, @unchecked Sendable {
    // @unchecked Sendable: confined to `queue` (the main queue or a private one); `perform` gets there from anywhere.

    /// Creates a context.
    ///
    /// - Parameter type: a private queue of its own, or the main queue.
    public init(concurrencyType type: NSManagedObjectContextConcurrencyType) {
        concurrencyType = type
        queue = ContextQueue(type)
        super.init()
        table.join(self)
    }

    /// Creates a context that is confined to no queue. Deprecated by Apple; give a concurrency type instead.
    public convenience override init() { self.init(concurrencyType: .confinementConcurrencyType) }

    deinit { letGo() }

    /// How the context is tied to a queue.
    public let concurrencyType: NSManagedObjectContextConcurrencyType
    let queue: ContextQueue

    // MARK: Where objects come from

    var coordinator: NSPersistentStoreCoordinator?
    var parentSource: ParentSource?
    var linkToParent: ChildLink?
    /// The coordinator as a transaction reads it, for a context that works in one.
    var transactionSource: TransactionSource?
    /// The contexts that have this one as their parent; they come and go on their own queues.
    let children = Mutex<[ChildLink]>([])
    /// The temporary IDs of objects that were given permanent ones here; children ask on their own queues.
    let formerIdentifiers = Mutex(FormerIdentifiers())

    /// The coordinator of the stores that the context reads and writes; for a child context, its parent's.
    ///
    /// Setting it makes a child context one without a parent.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { parentSource?.parent.persistentStoreCoordinator ?? coordinator }
        set { setSource(coordinator: newValue, parent: nil) }
    }

    /// The context that this one reads from and saves to, in place of stores; kept alive by its children.
    ///
    /// Set it before the context is used.
    open var parent: NSManagedObjectContext? {
        get { parentSource?.parent }
        set { setSource(coordinator: nil, parent: newValue) }
    }

    /// A name for logs and the history.
    open var name: String?
    /// Who makes the changes of this context; kept in the history.
    open var transactionAuthor: String?
    /// Facts of the developer's own.
    public private(set) lazy var userInfo = NSMutableDictionary()
    /// How conflicts with the stores are resolved when saving: an `NSMergePolicy`. The default is to fail.
    open var mergePolicy: Any = NSMergePolicy.error
    /// Whether what others save to the coordinator or the parent is merged as it happens. The default is `false`.
    open var automaticallyMergesChangesFromParent: Bool {
        get { mergesAutomatically.load(ordering: .relaxed) }
        set { mergesAutomatically.store(newValue, ordering: .relaxed) }
    }
    private let mergesAutomatically = Atomic<Bool>(false)
    /// Whether the context has ever had an object, a child or a list, or read anything; see `takesNews`.
    private let wasUsed = Atomic<Bool>(false)

    /// Notes that the context is used, before it reads: who saves afterwards has it merge that.
    @inline(__always)
    final func noteUse() {
        // Sequentially consistent, with the question of who saves: either the save is seen by the reading, or the use by the save.
        if !wasUsed.load(ordering: .relaxed) { wasUsed.store(true, ordering: .sequentiallyConsistent) }
    }

    /// Whether a merge could change anything here, or be heard of. A context that nobody has used yet, such as the view context of a program
    /// that works in the background only, reads what is current when it is first used; merging would wake its queue for each save.
    final var takesNews: Bool {
        wasUsed.load(ordering: .sequentiallyConsistent) || SaveNews.tellsMerges
    }
    /// Whether objects that the store has lost show no values and count as deleted, instead of stopping the program.
    open var shouldDeleteInaccessibleFaults = true
    /// Whether delete rules are followed when changes are processed (`true`) or at the next save.
    open var propagatesDeletesAtEndOfEvent = true
    /// Whether the context keeps all its objects alive. The default is `false`: it keeps changed ones.
    open var retainsRegisteredObjects = false {
        didSet {
            noteUse()
            isRetaining = retainsRegisteredObjects
            retained = isRetaining ? Set(table.all) : []
        }
    }
    /// How old values may be that a fault takes from memory, in seconds. Negative, the default, for any age; else every
    /// fault reads the store.
    open var stalenessInterval: TimeInterval = -1

    /// Where changes are registered for undo. `nil`, the default, for no undo.
    open var undoManager: UndoManager? {
        willSet { if newValue !== undoManager { undoManager?.removeAllActions(withTarget: self) } }
    }

    let pinned = Mutex(GenerationPin.none)
    let hasPin = Atomic<Bool>(false)

    /// The state of the stores that the context reads: `nil` when it reads them as they are, `current` when it is to be
    /// pinned by its next read.
    open var queryGenerationToken: NSQueryGenerationToken? { pinnedToken }

    /// Makes the context read one state of the stores, even when others save. Objects that it has already stay as they are.
    ///
    /// Saving, merging and resetting move the context to what is current at its next read.
    ///
    /// - Parameter generation: the state; `NSQueryGenerationToken.current` for what is current at the next read, `nil` to
    ///   read the stores as they are.
    /// - Throws: when the state cannot be read any more, and for a child context, which reads its parent.
    open func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws { try setPin(generation) }

    // MARK: What the context holds

    let table = ObjectTable()
    /// Objects with unsaved changes, in the order of their first; each has the state `.listed`.
    // Set for every object that changes, by code of ours only, as below.
    @exclusivity(unchecked) final var changed: ContiguousArray<NSManagedObject> = []
    /// How many of the changed objects have no changes any more.
    var idleCount = 0
    /// The changed objects by value, once fetches have looked through many of them; see `pendingChanges(for:)`.
    var pendingIndex: PendingIndex?
    /// How many of the changed objects the index has taken, and how often they were looked through without it.
    var (indexed, scans) = (0, 0)
    /// Objects that changed since changes were last processed.
    @exclusivity(unchecked) final var event: ContiguousArray<NSManagedObject> = []
    /// How many objects are in `awakeFromInsert`, where they are only half made.
    var awakening = 0
    /// Deleted objects whose delete rules have yet to be followed.
    var doomed: ContiguousArray<NSManagedObject> = []
    /// Deleted objects that were never saved, and that a rule “deny” keeps for now.
    var denied: ContiguousArray<NSManagedObject> = []
    /// New objects that lost to others with the same unique values, in the save that goes on.
    var superseded: [NSManagedObject] = []
    /// Objects that took new values from the store since changes were last processed.
    var refreshed: [NSManagedObject] = []
    /// What the values were before the event, of objects that earlier events had changed already.
    var eventValues: [ObjectIdentifier: ContiguousArray<StoredValue>] = [:]
    /// What objects were before the event, when there is an undo manager.
    var mementos: [ObjectMemento] = []
    /// Objects that were never saved and were taken out of the context, by undo or deletion, since changes were last processed.
    var vanished: [NSManagedObject] = []
    /// What others saved, and is yet to be merged.
    let incoming = Mutex<[SavedChanges]>([])
    /// The faults that a merge which is being announced concerns.
    var mergedFaults: [NSManagedObject] = []
    var followers = MergeFollowers()
    /// All objects, where the context is to keep them.
    var retained: Set<NSManagedObject> = []
    /// What the property above says, for asking once an object.
    @exclusivity(unchecked) final var isRetaining = false
    var batches = FetchBatches()
    /// The ordered sets by which relationships were changed since changes were last processed, the latest last.
    var orderedSets: [MutableRelationshipOrderedSet] = []
    var assignedStores: [ObjectIdentifier: NSPersistentStore] = [:]
    /// Why the values of objects could not be read.
    var readErrors: [NSManagedObjectID: NSError] = [:]
    /// The files of external data that were reported to be missing.
    var reportedFiles: Set<String> = []
    // Set and taken for every object that is made, by code of ours only: see the state of NSManagedObject.
    @exclusivity(unchecked) final var materialization = Materialization.none
    /// What the table was last told to keep; see `keep`.
    @exclusivity(unchecked) final var lastKeptLayout: UnsafeMutableRawPointer?
    @exclusivity(unchecked) final var lastKeptStore: UnsafeMutableRawPointer?
    @exclusivity(unchecked) final var classCache = ClassCache()
    /// Whether uses of objects are checked; here since a static property is asked for through a function each time.
    final let checksQueues = ConcurrencyDebug.isOn
    var isProcessingScheduled = false
    var isSaving = false
    /// Whether changes, made here or merged, are being processed and told of: hooks and observers look at the objects as they are.
    var isProcessing = false
    /// The contexts that merge what is being saved, once the save is over.
    var waitingMergers: [NSManagedObjectContext] = []
    /// Whether an object is being told that it has its values: what it sets meanwhile does not count as a change.
    @exclusivity(unchecked) final var isAwakening = false
    /// Whether a save checks what it writes; see `savePortion()`.
    var validatesChanges = true
    /// What notifications of the save that goes on were about.
    var posted = PostedObjects()
    private let lockObject = NSRecursiveLock()

    /// All objects that the context knows.
    open var registeredObjects: Set<NSManagedObject> { Set(table.all) }

    /// New objects, to be written by the next save.
    open var insertedObjects: Set<NSManagedObject> { Set(changed.filter(\.isInserted)) }

    /// Changed objects, to be written by the next save.
    open var updatedObjects: Set<NSManagedObject> { Set(changed.filter(\.isUpdated)) }

    /// Objects to be deleted by the next save.
    open var deletedObjects: Set<NSManagedObject> {
        Set(changed.filter { $0.isDeleted && !$0.state.contains(.inserted) })
    }

    /// Whether there is anything to save.
    open var hasChanges: Bool { changed.contains { $0.hasChanges && !$0.isAwaitingRemoval } }

    // MARK: Finding objects

    /// The object of an ID, if the context knows it.
    ///
    /// - Parameter objectID: the ID, temporary or permanent.
    /// - Returns: the object, which may be a fault; `nil` when the context does not know it. No store is asked.
    open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        checkQueue()
        return table.object(for: localIdentifier(objectID))
    }

    /// The object of an ID: the one that is registered, or a fault, whether or not the store has such an object.
    ///
    /// - Parameter objectID: the ID, temporary or permanent.
    /// - Returns: the object. A fault that no store has an object for shows that when it is fired: see
    ///   `shouldDeleteInaccessibleFaults`.
    open func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        checkQueue()
        return objectOrFault(objectID)
    }

    /// The object of an ID, with its values.
    ///
    /// ```swift
    /// // An ID may go to any context, where an object must stay in its own.
    /// let person = try background.existingObject(with: id) as? Person
    /// ```
    ///
    /// - Parameter objectID: the ID, temporary or permanent.
    /// - Returns: the object with its values, not a fault. One that the context has is given as it is, also when its deletion has not been
    ///   saved yet.
    /// - Throws: `NSManagedObjectReferentialIntegrityError` when no store has such an object.
    open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        try objectWithValues(objectID)
    }

    /// Fetches what a request describes, for every result type. See the generic form.
    ///
    /// - Parameter request: what to fetch.
    /// - Returns: objects, IDs, dictionaries or one number, as the result type of the request says.
    /// - Throws: an error in the Cocoa domain when the request names an unknown entity or property, asks for what the
    ///   store cannot do, or the store cannot be read.
    open func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] { try results(of: request) }

    /// How many objects a request finds.
    ///
    /// - Parameter request: what to count; its result type does not matter.
    /// - Returns: the number of objects, unsaved changes included.
    /// - Throws: the errors that fetching the request throws.
    open func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int { try count(of: request) }

    /// Runs a request: a fetch, or a change of rows in the stores without objects.
    ///
    /// - Parameter request: a fetch, an asynchronous fetch, a batch or a history request.
    /// - Returns: the result that belongs to the request.
    /// - Throws: `NSPersistentStoreUnsupportedRequestTypeError` for a request that no store knows, and the errors of
    ///   the stores.
    @discardableResult
    open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult { try run(request) }

    // MARK: Changing objects

    /// Inserts an object that was made without a context.
    ///
    /// - Parameter object: an object without a context; one that another context has stops the program.
    open func insert(_ object: NSManagedObject) { insertObject(object) }

    /// Marks an object to be deleted by the next save, and others as its delete rules say.
    ///
    /// The rules are followed when changes are next processed. An object that was never saved leaves the context then, since there is
    /// nothing to save of it; one whose rule “deny” forbids it stays until the objects that deny it go, and a save before that fails.
    ///
    /// - Parameter object: an object of the context.
    open func delete(_ object: NSManagedObject) { deleteObject(object) }

    /// Assigns a new object to a store, where several could take it.
    ///
    /// - Parameters:
    ///   - object: a managed object that was never saved; anything else than a managed object stops the program.
    ///   - store: a store of the coordinator that holds the entity of the object.
    open func assign(_ object: Any, to store: NSPersistentStore) { assignObject(object, to: store) }

    /// Brings an object up to what the store has.
    ///
    /// - Parameters:
    ///   - object: an object of the context.
    ///   - flag: `true` reads the store's values and puts the changes made here on top; `false` forgets the changes
    ///     and makes the object a fault.
    open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) { refreshObject(object, mergeChanges: flag) }

    /// Makes all objects without changes faults, and merges the store's values into the others.
    open func refreshAllObjects() { refreshObjects() }

    /// Follows the delete rules of deleted objects, and posts what changed since the last time.
    open func processPendingChanges() { processChanges() }

    /// Forgets all unsaved changes.
    open func rollback() { rollBackChanges() }

    /// Forgets all objects and all changes.
    open func reset() { forgetEverything() }

    /// Takes back the last group of changes, with the undo manager.
    open func undo() { undoChanges() }

    /// Makes the changes again that were last undone.
    open func redo() { redoChanges() }

    // MARK: Saving

    /// Writes all changes to the stores, in one transaction a store; those of a child context go to its parent instead.
    ///
    /// Posts `NSManagedObjectContextWillSave` before and `NSManagedObjectContextDidSave` after; also when there are no
    /// changes, and so nothing to write. A save that fails leaves the store, and the changes here, as they were.
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
    /// - Parameter objects: objects of the context; those that have permanent IDs keep them.
    /// - Throws: the errors of the store, which counts its keys in a transaction of its own.
    open func obtainPermanentIDs(for objects: [NSManagedObject]) throws { try makeIdentifiersPermanent(objects) }

    /// Marks an object to be checked for conflicts by the next save, though it is not changed.
    ///
    /// The save writes a new version of its row, and finds a conflict when somebody else has changed it.
    ///
    /// - Parameter object: an object of the context; nothing is done for new and deleted ones.
    open func detectConflicts(for object: NSManagedObject) { watchForConflicts(object) }

    /// Takes over what another context saved.
    ///
    /// Objects that are here take the new values, under the changes made here; faults stay faults; new objects come as
    /// faults; deleted ones are deleted here too, until the next save forgets them, which writes nothing for them.
    ///
    /// - Parameter notification: a `didSaveObjectsNotification` or `didSaveObjectIDsNotification`.
    open func mergeChanges(fromContextDidSave notification: Notification) {
        merge(SavedChanges(userInfo: notification.userInfo ?? [:]))
    }

    /// Whether a fault whose object no store has any more becomes a deleted object without values; `false` stops the
    /// program. Called when such a fault is fired.
    ///
    /// - Parameters:
    ///   - fault: the object.
    ///   - oid: its ID.
    ///   - property: the property that was read, where that is known.
    /// - Returns: by default, `shouldDeleteInaccessibleFaults`.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool { shouldDeleteInaccessibleFaults }

    /// Hears of changes of what the context observes, for subclasses. What nobody has handled stops the program.
    ///
    /// - Parameters:
    ///   - keyPath: the key path that is observed.
    ///   - object: the object that it starts from.
    ///   - change: what changed.
    ///   - context: what was given with the registration.
    open func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        programmerError("a context observes “\(keyPath ?? "")” and does not override observeValue for it")
    }

    // MARK: Running code

    /// Runs a block on the context's queue, later. Changes are processed when it ends.
    ///
    /// The block is not `sending`: a client's protocol or subclass that asks for `perform(_: @escaping () -> Void)` would not
    /// find this method, and all existing ones do.
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

    /// Runs a block on the context's queue and waits for it. May be nested.
    ///
    /// Changes are not processed when it ends, unless there is an undo manager, for which the block is an event.
    ///
    /// - Parameter block: what to run.
    open func performAndWait(_ block: () -> Void) { runAndWait(block) }

    /// Waits for a lock that the context does not take itself. Deprecated by Apple; use `performAndWait`.
    open func lock() { lockObject.lock() }

    /// Gives the lock back.
    open func unlock() { lockObject.unlock() }

    /// Takes the lock if nobody has it.
    ///
    /// - Returns: whether the lock was taken.
    open func tryLock() -> Bool { lockObject.try() }
}
