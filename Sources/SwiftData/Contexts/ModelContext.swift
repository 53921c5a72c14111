import CoreData
import Synchronization

/// A scratch pad for models: they are fetched into it, changed in it, and saved from it together.
///
/// A context and its models are used by one actor or thread at a time. Other contexts of the container see what it
/// saves at their next fetch or save; the main context as soon as the main actor is free.
public class ModelContext: Equatable, SendableMetatype {
    let objectContext: NSManagedObjectContext
    let mailbox: ContextMailbox
    private let isMain: Bool
    /// The models that had an identifier before they were inserted, by its number.
    private var earlyNumbers: [Int64: Int64] = [:]
    /// What was refused where nothing could be thrown; the next save throws it.
    private var refusals: [String] = []
    /// The properties that could not be shown as the stores have them.
    private var doubts: [Doubt] = []
    private var isAutosaveScheduled = false
    private var lastBinding: EntityBinding?
    /// Those who follow the context's models.
    private var followers: [WeakFollower] = []

    private struct Doubt {
        weak var state: ModelState?
        let property: ModelProperty
        let reason: String
    }

    private struct WeakFollower { weak var follower: (any ContextFollower)? }

    /// The container whose stores the context reads and writes.
    public var container: ModelContainer { core.container }
    /// What the container's contexts share. A main context does not hold its container, which holds it.
    let core: ContainerCore

    /// Whether changes are saved without a call of `save()`. `true` for a container's main context, `false` for others.
    ///
    /// The main context saves when the main actor is free after a change. A program whose main thread does not serve
    /// the main actor, or that ends before, calls `save()` itself. Changes that cannot be saved stay unsaved, and the
    /// next call of `save()` throws the reason.
    public var autosaveEnabled: Bool { didSet { if autosaveEnabled { scheduleAutosave() } } }

    /// The author of the changes, which the history records; nil for none.
    public var author: String? {
        get { objectContext.transactionAuthor }
        set { objectContext.transactionAuthor = newValue }
    }

    /// The undo manager with which changes are registered; nil, the default, for no undo.
    public var undoManager: UndoManager? {
        get { objectContext.undoManager }
        set { objectContext.undoManager = newValue }
    }

    /// Creates a context.
    ///
    /// - Parameter container: the container whose stores it reads and writes.
    public convenience init(_ container: ModelContainer) { self.init(container.core, isMain: false) }

    init(_ core: ContainerCore, isMain: Bool) {
        self.core = core
        self.isMain = isMain
        autosaveEnabled = isMain
        mailbox = isMain ? ContextMailbox(ofMainContextIn: core) : ContextMailbox()
        // Confined to nobody: SwiftData's contexts may be used from anywhere, by one at a time.
        objectContext = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        objectContext.persistentStoreCoordinator = core.coordinator
        // The last one who saves wins, and a new model with the unique values of another becomes an update of that one.
        objectContext.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        core.join(self)
        for bridge in core.allBridges { try? bridge.using { $0.begin(editingState) } }
    }

    deinit {
        for bridge in core.allBridges { try? bridge.using { $0.end(editingState) } }
    }

    private let editingID = UUID()

    /// What tells the context from others, for stores of the program's own types.
    public var editingState: EditingState {
        get { EditingState(id: editingID, author: author) }
        set { author = newValue.author }
    }

    /// Whether both are the same context.
    ///
    /// - Parameters:
    ///   - lhs: a context.
    ///   - rhs: another one.
    /// - Returns: `true` if they are.
    public static func == (lhs: ModelContext, rhs: ModelContext) -> Bool { lhs === rhs }

    // MARK: Changes

    /// Whether any model is new, changed or deleted.
    public var hasChanges: Bool { objectContext.hasChanges }

    /// The new models.
    public var insertedModelsArray: [any PersistentModel] { models(objectContext.insertedObjects) }

    /// The changed models.
    public var changedModelsArray: [any PersistentModel] { models(objectContext.updatedObjects) }

    /// The deleted models.
    public var deletedModelsArray: [any PersistentModel] { models(objectContext.deletedObjects) }

    func models(_ objects: Set<NSManagedObject>) -> [any PersistentModel] {
        objects.compactMap { $0 as? ModelObject }.sorted { $0.objectID.key < $1.objectID.key }.map { model(of: $0) }
    }

    /// Applies the delete rules of deleted models, and takes over what other contexts have saved.
    public func processPendingChanges() {
        takeOver()
        objectContext.processPendingChanges()
    }

    /// Discards all unsaved changes. New models belong to no context again.
    public func rollback() {
        let inserted = objectContext.insertedObjects.compactMap { ($0 as? ModelObject)?.modelState }
        let values = inserted.map(\.currentValues)
        objectContext.rollback()
        for (state, values) in zip(inserted, values) { state.withdraw(with: values) }
        forgetRefusals()
        notifyFollowers(of: nil)
    }

    /// Notes that a model was inserted, changed or deleted.
    func noteChange(of type: ModelType) {
        scheduleAutosave()
        notifyFollowers(of: type)
    }

    // MARK: Followers

    func add(_ follower: any ContextFollower) {
        followers.removeAll { $0.follower == nil }
        followers.append(WeakFollower(follower: follower))
    }

    /// - Parameter type: the class of the models that changed; nil for several.
    func notifyFollowers(of type: ModelType?) {
        for entry in followers { entry.follower?.contextDidChange(type) }
    }

    func forgetRefusals() { (refusals, doubts) = ([], []) }

    func refuse(_ reason: String) { refusals.append(reason) }

    /// Notes that what a store has of a property was not shown. The next save throws the reason, unless the property
    /// was set until then.
    func doubt(_ property: ModelProperty, of state: ModelState, _ reason: String) {
        let isKnown = doubts.contains { $0.state === state && $0.property.number == property.number }
        if !isKnown { doubts.append(Doubt(state: state, property: property, reason: reason)) }
    }

    var refusal: String? {
        doubts.removeAll { !($0.state?.isUnreadable($0.property) ?? false) }
        let reasons = refusals + doubts.map(\.reason)
        return reasons.isEmpty ? nil : reasons.joined(separator: " ")
    }

    private func scheduleAutosave() {
        guard isMain, autosaveEnabled, !isAutosaveScheduled else { return }
        isAutosaveScheduled = true
        Task { @MainActor [weak core] in core?.mainContext?.autosave() }
    }

    private func autosave() {
        isAutosaveScheduled = false
        guard autosaveEnabled, hasChanges else { return }
        // What cannot be saved stays as it is, for the program's own save.
        try? save()
    }

    // MARK: Inserting and deleting

    /// Inserts a model, and the models that it leads to. The next save writes them.
    ///
    /// Inserting a model twice has no effect; inserting a deleted one takes the deletion back.
    ///
    /// - Parameter model: a model; one that belongs to another context is refused by the next save.
    public func insert<T>(_ model: T) where T: PersistentModel {
        guard let state = model.modelState else {
            return refuse("A \(T.self) with backing data of another kind cannot be inserted.")
        }
        attach(state)
        if let object = state.object, state.context === self, object.isDeleted { objectContext.insert(object) }
        noteChange(of: state.type)
    }

    /// Marks a model for deletion by the next save, and others according to the delete rules.
    ///
    /// - Parameter model: a model of the context. One without a context is left alone.
    public func delete<T>(_ model: T) where T: PersistentModel {
        guard let state = model.modelState, let object = state.object else { return }
        guard state.context === self else {
            if state.context != nil { refuse("A \(T.self) of another context cannot be deleted.") }
            return
        }
        objectContext.delete(object)
        noteChange(of: state.type)
    }

    /// Makes objects for a model without a context, and for those that it leads to.
    func attach(_ root: ModelState) {
        guard root.context !== self else { return }
        guard root.object == nil else {
            return refuse("A \(root.type.name) belongs to another context. Fetch it here by its persistentModelID.")
        }
        // In the order of the arrays, so that these have it after the save.
        var made: [ModelState] = []
        var waiting = [root]
        var next = 0
        while next < waiting.count {
            let state = waiting[next]
            next += 1
            guard state.object == nil else {
                if state.context !== self { refuse("A related \(state.type.name) belongs to another context.") }
                continue
            }
            guard let binding = core.binding(of: state.type) else {
                refuse("The container has no \(state.type.name). Name the class where the container is made.")
                continue
            }
            let object = ModelObject(entity: binding.layout.description, insertInto: objectContext)
            if let number = state.temporaryNumber { earlyNumbers[number] = object.objectID.key }
            state.attach(to: object, binding, in: self)
            made.append(state)
            if state.related.isEmpty { continue }
            for (_, ends) in state.related.sorted(by: { $0.key < $1.key }) { waiting += ends.all.map(\.state) }
        }
        for state in made { state.attachRelated() }
        for state in made { noteChange(of: state.type) }
    }

    /// Gives a model of a subclass the place of the object that its superclass's initializer has made.
    func replace(_ inherited: ModelState, by state: ModelState) {
        if let object = inherited.object { objectContext.delete(object) }
        attach(state)
    }

    // MARK: Finding models

    /// The model with an identifier: the one that the context has, or one that reads its values when it is asked for
    /// them.
    ///
    /// - Parameter persistentModelID: the identifier.
    /// - Returns: the model. If no store has it, it shows the initial values of its class; `isDeleted` is `true` for
    ///   one that belongs to no store of the container.
    public func model(for persistentModelID: PersistentIdentifier) -> any PersistentModel {
        takeOver()
        guard let object = object(for: persistentModelID) else {
            return ModelState.vanished(core.schema.modelTypes[persistentModelID.entityName], persistentModelID)
        }
        return model(of: object)
    }

    /// The model with an identifier, if the context has it.
    ///
    /// - Parameter persistentModelID: the identifier.
    /// - Returns: nil for a model that the context does not have; no store is asked.
    public func registeredModel<T>(for persistentModelID: PersistentIdentifier) -> T? where T: PersistentModel {
        takeOver()
        guard let identifier = objectID(of: persistentModelID),
            let object = objectContext.registeredObject(for: identifier) as? ModelObject
        else { return nil }
        return model(of: object) as? T
    }

    /// The object of an identifier, made if the context does not have it; nil for one of another container.
    func object(for identifier: PersistentIdentifier) -> ModelObject? {
        objectID(of: identifier).map { objectContext.object(with: $0) } as? ModelObject
    }

    func objectID(of identifier: PersistentIdentifier) -> NSManagedObjectID? {
        guard case .temporary(let number) = identifier.id.content else { return core.objectID(of: identifier) }
        guard let layout = core.coordinator.modelLayout.entityByName[identifier.entityName] else { return nil }
        let temporary = NSManagedObjectID(temporaryFor: layout, number: earlyNumbers[number] ?? number)
        return objectContext.registeredObject(for: temporary)?.objectID
    }

    /// The object of a model of this context.
    func object(of state: ModelState) -> ModelObject? { state.context === self ? state.object : nil }

    /// The class of an entity's models: most fetches have one.
    private func binding(of layout: EntityLayout) -> EntityBinding {
        if let lastBinding, lastBinding.layout === layout { return lastBinding }
        guard let binding = core.binding(of: layout) else {
            programmerError("the schema has no class for the entity “\(layout.name)”")
        }
        lastBinding = binding
        return binding
    }

    /// The model that shows an object: always the same one, as long as the program holds it.
    func model(of object: ModelObject) -> any PersistentModel {
        if let state = object.modelState { return state.shownModel }
        let binding = binding(of: object.layout)
        let state = ModelState(binding.type, of: object, binding, in: self)
        object.modelState = state
        return state.shownModel
    }
}

extension ModelContext: ModelPlaces {
    func layout(of type: ModelType) -> EntityLayout? { core.binding(of: type)?.layout }
}

// @unchecked Sendable: no program can use it; it is there for the message.
@available(*, unavailable, message: "contexts cannot be shared across concurrency contexts")
extension ModelContext: @unchecked Sendable {}

/// Who wants to know when models of a context change, on the context's own thread.
protocol ContextFollower: AnyObject {
    /// - Parameter type: the class of the models that changed; nil for several.
    func contextDidChange(_ type: ModelType?)
}

/// The identifiers of what a context saved.
struct SavedIdentifiers: Sendable {
    var inserted: [NSManagedObjectID] = []
    var updated: [NSManagedObjectID] = []
    var deleted: [NSManagedObjectID] = []

    /// Whether all stores were emptied.
    var isEverything = false

    static let everything = SavedIdentifiers(isEverything: true)

    var isEmpty: Bool { !isEverything && inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    /// As the user info of a notification of Core Data's.
    var userInfo: [AnyHashable: Any] {
        [
            NSInsertedObjectIDsKey: Set(inserted), NSUpdatedObjectIDsKey: Set(updated),
            NSDeletedObjectIDsKey: Set(deleted),
        ]
    }
}

/// What other contexts have saved, until a context takes it over on the thread that uses it.
final class ContextMailbox: Sendable {
    private let changes = Mutex<[SavedIdentifiers]>([])
    /// Called after changes were put in, on any thread.
    private let wakes = Mutex<[(number: Int, wake: @Sendable () -> Void)]>([])

    init() {}

    /// A mailbox that the main context empties as soon as the main actor is free.
    init(ofMainContextIn core: ContainerCore) {
        _ = onArrival { [weak core] in
            Task { @MainActor [weak core] in core?.mainContext?.takeOver() }
        }
    }

    /// Adds what is called after changes were put in, on any thread.
    ///
    /// - Returns: a number by which it is removed again.
    func onArrival(_ wake: @escaping @Sendable () -> Void) -> Int {
        wakes.withLock { wakes in
            let number = (wakes.last?.number ?? 0) + 1
            wakes.append((number, wake))
            return number
        }
    }

    func removeArrival(_ number: Int) { wakes.withLock { $0.removeAll { $0.number == number } } }

    func put(_ saved: SavedIdentifiers) {
        changes.withLock { $0.append(saved) }
        for entry in wakes.withLock({ $0 }) { entry.wake() }
    }

    func take() -> [SavedIdentifiers] {
        changes.withLock { changes in
            guard !changes.isEmpty else { return [] }
            defer { changes = [] }
            return changes
        }
    }
}
