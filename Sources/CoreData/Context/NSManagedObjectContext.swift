import Foundation
import Synchronization

/// How a context is tied to a queue.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// To the thread that made it. Deprecated by Apple; treated as a private queue that is not checked.
    case confinementConcurrencyType = 0
    /// To a private queue of its own.
    case privateQueueConcurrencyType = 1
    /// To the main queue.
    case mainQueueConcurrencyType = 2
}

/// A scratch pad for objects: they are fetched into it, changed in it, and saved from it together.
///
/// A context and its objects belong to its queue: use them inside `perform`, or on the main thread for a context of
/// the main queue.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
    // @unchecked Sendable: confined to `queue` (the main queue or a private one); `perform` gets there from anywhere.

    /// How the context is tied to a queue, in the form that reads well in Swift.
    public struct ConcurrencyType: RawRepresentable, Hashable, Sendable {
        /// The Objective-C form.
        public let rawValue: NSManagedObjectContextConcurrencyType
        /// Makes the type from its Objective-C form.
        public init(rawValue: NSManagedObjectContextConcurrencyType) { self.rawValue = rawValue }
        /// A private queue.
        public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
        /// The main queue.
        public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
    }

    /// When `perform` runs its block.
    public enum ScheduledTaskType: Sendable {
        /// At once when already on the context's queue, else after what is waiting there.
        case immediate
        /// After what is waiting on the queue.
        case enqueued
    }

    /// Creates a context.
    ///
    /// - Parameter type: a private queue of its own, or the main queue.
    public init(concurrencyType type: NSManagedObjectContextConcurrencyType) {
        concurrencyType = type
        queue = ContextQueue(type)
        super.init()
        table.join(self)
    }

    /// Creates a context.
    ///
    /// - Parameter type: `.privateQueue` or `.mainQueue`.
    public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type.rawValue) }

    deinit {
        // Objects that refer to one another would keep each other alive.
        for object in table.all { object.relations = [] }
        coordinator?.forget(table)
        table.leave()
    }

    /// How the context is tied to a queue.
    public let concurrencyType: NSManagedObjectContextConcurrencyType
    let queue: ContextQueue

    // MARK: Where objects come from

    private var coordinator: NSPersistentStoreCoordinator?

    /// The coordinator of the stores that the context reads and writes.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { coordinator }
        set {
            coordinator?.forget(table)
            coordinator = newValue
            newValue?.remember(table)
            classCache = ClassCache()
        }
    }

    /// A name for logs and the history.
    open var name: String?
    /// Who makes the changes of this context; kept in the history.
    open var transactionAuthor: String?
    /// Facts of the developer's own.
    public let userInfo = NSMutableDictionary()
    /// How conflicts with the stores are resolved when saving: an `NSMergePolicy`. The default is to fail.
    open var mergePolicy: Any = NSMergePolicy.error
    /// Whether saves of other contexts are merged as they happen. The default is `false`.
    open var automaticallyMergesChangesFromParent: Bool {
        get { mergesAutomatically.load(ordering: .relaxed) }
        set { mergesAutomatically.store(newValue, ordering: .relaxed) }
    }
    private let mergesAutomatically = Atomic<Bool>(false)
    /// Whether objects that the store has lost show no values and count as deleted, instead of stopping the program.
    open var shouldDeleteInaccessibleFaults = true
    /// Whether delete rules are followed when changes are processed (`true`) or at the next save.
    open var propagatesDeletesAtEndOfEvent = true
    /// Whether the context keeps all its objects alive. The default is `false`: it keeps changed ones.
    open var retainsRegisteredObjects = false {
        didSet { retained = retainsRegisteredObjects ? table.all : [] }
    }
    /// How old values may be that a fault takes from memory, in seconds; negative for any age.
    open var stalenessInterval: TimeInterval = -1

    // MARK: What the context holds

    let table = ObjectTable()
    /// Objects with unsaved changes, in the order of their first; each has the state `.listed`.
    var changed: ContiguousArray<NSManagedObject> = []
    /// Objects that changed since changes were last processed.
    var event: ContiguousArray<NSManagedObject> = []
    /// Objects that took new values from the store since changes were last processed.
    var refreshed: [NSManagedObject] = []
    private var retained: [NSManagedObject] = []
    var batches: [NSManagedObjectID: FetchBatch] = [:]
    var assignedStores: [ObjectIdentifier: NSPersistentStore] = [:]
    private var materialization: Materialization?
    private var classCache = ClassCache()
    var isProcessingScheduled = false
    var isSaving = false

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
    open var hasChanges: Bool { changed.contains { $0.hasChanges } }

    /// The object of an ID, if the context knows it.
    open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        table.object(for: localIdentifier(objectID))
    }

    /// The ID as this context's coordinator has it, for one that came from another coordinator of the same store.
    func localIdentifier(_ identifier: NSManagedObjectID) -> NSManagedObjectID {
        coordinator?.localIdentifier(identifier) ?? identifier
    }

    func keepIfWanted(_ object: NSManagedObject) {
        if retainsRegisteredObjects { retained.append(object) }
    }

    func forgetRetained() { retained = [] }

    /// Writes all changes to the stores, in one transaction a store.
    ///
    /// Posts `NSManagedObjectContextWillSave` before and `NSManagedObjectContextDidSave` after. Does nothing when
    /// there are no changes. A save that fails leaves the store, and the changes here, as they were.
    ///
    /// - Throws: validation errors (codes 1550 to 1690, several under `NSDetailedErrorsKey`),
    ///   `NSManagedObjectMergeError` and `NSManagedObjectConstraintMergeError` for conflicts that the merge policy does
    ///   not resolve, and the errors of the stores.
    open func save() throws { try saveChanges() }

    // MARK: Making objects

    /// What the next object that is made is to be; see `NSManagedObject.init(entity:insertInto:)`.
    struct Materialization {
        let identifier: NSManagedObjectID
        let values: ContiguousArray<StoredValue>
        let version: Int64
        let state: ObjectState
        let stamp: UInt32
    }

    func takeMaterialization() -> Materialization? { materialization.take() }

    /// Makes the object of an ID, of the class that its entity names, and registers it.
    func materialize(_ what: consuming Materialization) -> NSManagedObject {
        let type = type(for: what.identifier.layout)
        let state = what.state
        materialization = consume what
        let object = type.init(context: self)
        // A subclass may have set properties while it was made; what the store has wins.
        if object.state != state {
            withdraw(object)
            object.values = object.snapshot
            object.state = state
        }
        table.insert(object)
        keepIfWanted(object)
        return object
    }

    /// Makes an object that records the keys that are read from it, and that no context knows; see `KeyPathProbe`.
    func makeProbe(_ type: NSManagedObject.Type, _ layout: EntityLayout) -> NSManagedObject {
        materialization = Materialization(
            identifier: Self.makeTemporaryIdentifier(for: layout), values: [], version: 0, state: .probe, stamp: 0)
        defer { materialization = nil }
        return type.init(context: self)
    }

    /// Takes an object out of the lists of changed objects.
    func withdraw(_ object: NSManagedObject) {
        if object.state.contains(.listed) { changed.removeAll { $0 === object } }
        if !object.state.isDisjoint(with: .anyEvent) { event.removeAll { $0 === object } }
        object.state.remove([.listed, .inserted, .updated, .deleted])
        object.state.remove(.anyEvent)
    }

    private static let temporaryNumber = Atomic<Int64>(0)

    static func makeTemporaryIdentifier(for layout: EntityLayout) -> NSManagedObjectID {
        NSManagedObjectID(
            temporaryFor: layout, number: temporaryNumber.add(1, ordering: .relaxed).newValue)
    }

    // MARK: Classes and entities

    /// The classes of entities and the entities of classes, found once.
    private struct ClassCache {
        var generation = -1
        var typeByEntity: [ObjectIdentifier: NSManagedObject.Type] = [:]
        var lastEntity: EntityLayout?
        var lastType: NSManagedObject.Type?
        var entityByType: [ObjectIdentifier: EntityLayout] = [:]
        var lastMadeType: NSManagedObject.Type?
        var lastMadeEntity: EntityLayout?
    }

    private func type(for layout: EntityLayout) -> NSManagedObject.Type {
        if classCache.lastEntity === layout, let type = classCache.lastType { return type }
        let generation = ManagedClasses.generation
        if classCache.generation != generation {
            classCache.typeByEntity = [:]
            classCache.generation = generation
        }
        let type: NSManagedObject.Type
        if let known = classCache.typeByEntity[ObjectIdentifier(layout)] {
            type = known
        } else {
            type = ManagedClasses.type(for: layout.description)
            classCache.typeByEntity[ObjectIdentifier(layout)] = type
        }
        classCache.lastEntity = layout
        classCache.lastType = type
        return type
    }

    /// Learns a class that a request names; classes are looked up anew when it brings a new module.
    func learn(_ type: NSManagedObject.Type) {
        guard type != NSManagedObject.self, classCache.entityByType[ObjectIdentifier(type)] == nil,
            let layout = modelLayout
        else { return }
        let generation = ManagedClasses.generation
        if let entity = ManagedClasses.entity(for: type, in: layout) {
            classCache.entityByType[ObjectIdentifier(type)] = entity
        }
        if ManagedClasses.generation != generation { classCache.lastEntity = nil }
    }

    /// The entity of a new object of a class, or of the object that is being made from a row.
    func entityForNewObject(of type: NSManagedObject.Type) -> EntityLayout {
        if let layout = materialization?.identifier.layout { return layout }
        if let last = classCache.lastMadeType, last == type, let entity = classCache.lastMadeEntity { return entity }
        guard let layout = modelLayout else {
            programmerError(
                "cannot make a “\(type)”: the context has no coordinator, and so no model. Set "
                    + "persistentStoreCoordinator first.")
        }
        let known = classCache.entityByType[ObjectIdentifier(type)]
        guard let entity = known ?? ManagedClasses.entity(for: type, in: layout) else {
            programmerError(
                "no entity of the model names class “\(String(reflecting: type))”; its entities are "
                    + layout.entities.map { "\($0.name) (\($0.description.managedObjectClassName ?? ""))" }
                    .joined(separator: ", "))
        }
        classCache.entityByType[ObjectIdentifier(type)] = entity
        classCache.lastMadeType = type
        classCache.lastMadeEntity = entity
        return entity
    }

    /// Sets which entity new objects of a class are of, and returns what it was.
    func swapNewObjectEntity(
        _ type: NSManagedObject.Type?, _ entity: EntityLayout?
    ) -> (type: NSManagedObject.Type?, entity: EntityLayout?) {
        let former = (classCache.lastMadeType, classCache.lastMadeEntity)
        classCache.lastMadeType = type
        classCache.lastMadeEntity = entity
        return former
    }

    /// The model of the coordinator.
    var modelLayout: ModelLayout? { coordinator?.modelLayout }

    /// The entity of a name in the coordinator's model.
    func entityLayout(named name: String) -> EntityLayout? { modelLayout?.entityByName[name] }
}

extension NSEntityDescription {
    /// The entity of a name in a context's model, `nil` when there is none.
    public class func entity(
        forEntityName entityName: String, in context: NSManagedObjectContext
    ) -> NSEntityDescription? {
        context.entityLayout(named: entityName)?.description
    }

    /// Makes an object of an entity, of the class that the entity names, and inserts it into a context.
    ///
    /// - Parameters:
    ///   - entityName: an entity of the context's model; any other stops the program.
    ///   - context: where to insert the object.
    public class func insertNewObject(
        forEntityName entityName: String, into context: NSManagedObjectContext
    ) -> NSManagedObject {
        guard let layout = context.entityLayout(named: entityName) else {
            programmerError(
                "the context's model has no entity “\(entityName)”; it has "
                    + (context.modelLayout?.entityByName.keys.sorted().joined(separator: ", ") ?? "no entities"))
        }
        return context.makeNewObject(of: ManagedClasses.type(for: layout.description), entity: layout)
    }
}

extension NSManagedObjectContext {
    /// Makes a new object of a class for an entity, which need not be the only one that names the class.
    fileprivate func makeNewObject(of type: NSManagedObject.Type, entity: EntityLayout) -> NSManagedObject {
        if entity.isAbstract {
            programmerError("cannot make an object of abstract entity “\(entity.name)”; make one of a subentity")
        }
        if type == NSManagedObject.self { return NSManagedObject(entity: entity.description, insertInto: self) }
        let former = swapNewObjectEntity(type, entity)
        defer { _ = swapNewObjectEntity(former.type, former.entity) }
        return type.init(context: self)
    }
}
