import CoreData

/// Tells observations of a manager of saves that may touch them: those in this process, and everything else that changes a store, such
/// as batch requests and other processes. One listener looks at each save for all of them.
///
/// Several changes that come before anyone asks are one signal, so that a slow reader finds one newest state and no queue.
final class SaveSignals: Sendable {
    /// Posted, with the coordinator, when a manager has loaded its stores.
    static let managerDidLoad = Notification.Name("Pippin.managerDidLoad")

    /// Posted, with the coordinator, when a manager has taken its stores away.
    static let managerDidDestroy = Notification.Name("Pippin.managerDidDestroy")

    private let state = Locked(State())

    private struct State: @unchecked Sendable {
        // @unchecked Sendable: an observer's token is only ever handed back.
        var listeners: [Int: Listener] = [:] {
            didSet { all = nil }
        }
        /// All of them, for the saves that come until there are others.
        private var all: ContiguousArray<Listener>?
        var next = 0
        /// How many signals there were.
        var count = 0
        var tokens: [any NSObjectProtocol] = []

        mutating func allListeners() -> ContiguousArray<Listener> {
            if let all { return all }
            let new = ContiguousArray(listeners.values)
            all = new
            return new
        }
    }

    private struct Listener {
        let interest: Interest
        let continuation: AsyncStream<Void>.Continuation
    }

    /// - Parameters:
    ///   - container: whose stores matter; all its contexts count.
    ///   - interest: says which saves matter.
    /// - Returns: an element for each save that matters; several in a row may come as one.
    func stream(of container: NSPersistentContainer, for interest: Interest) -> AsyncStream<Void> {
        let coordinator = container.persistentStoreCoordinator
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = state.withLock { state in
                state.next += 1
                state.listeners[state.next] = Listener(interest: interest, continuation: continuation)
                if state.tokens.isEmpty { state.tokens = observers(of: coordinator) }
                return state.next
            }
            continuation.onTermination = { _ in self.forget(number) }
        }
    }

    private func forget(_ number: Int) {
        let tokens = state.withLock { state -> [any NSObjectProtocol] in
            state.listeners[number] = nil
            guard state.listeners.isEmpty else { return [] }
            defer { state.tokens = [] }
            return state.tokens
        }
        tokens.forEach(NotificationCenter.default.removeObserver)
    }

    private func observers(of coordinator: NSPersistentStoreCoordinator) -> [any NSObjectProtocol] {
        let center = NotificationCenter.default
        let identity = ObjectIdentifier(coordinator)
        let saves = center.addObserver(forName: Self.didSave, object: nil, queue: nil) { [weak self] note in
            // A child's save is in no store yet.
            guard let context = note.object as? NSManagedObjectContext, context.parent == nil,
                context.persistentStoreCoordinator.map(ObjectIdentifier.init) == identity
            else { return }
            self?.didSave(note)
        }
        // Which entities others have changed is not said.
        let others = center.addObserver(forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil) {
            [weak self] note in
            if !Self.followsSave(note) { self?.signalAll() }
        }
        let stores = [Self.managerDidLoad, Self.managerDidDestroy].map { name in
            center.addObserver(forName: name, object: coordinator, queue: nil) { [weak self] _ in self?.signalAll() }
        }
        return [saves, others] + stores
    }

    /// How many signals there were, whomever they touched.
    var count: Int { state.withLock { $0.count } }

    /// Counts a signal before anybody hears of it.
    ///
    /// - Returns: who may want to.
    private func nextSignal() -> ContiguousArray<Listener> {
        state.withLock {
            $0.count += 1
            return $0.allListeners()
        }
    }

    private func signalAll() { for listener in nextSignal() { listener.continuation.yield() } }

    #if canImport(ObjectiveC)
        private static let didSave = Notification.Name.NSManagedObjectContextDidSave

        // Apple's Core Data says neither which rows were written nor that a change was told of already.
        private func didSave(_ note: Notification) { signalAll() }

        private static func followsSave(_ note: Notification) -> Bool { false }
    #else
        // The names of the entities are enough, and the rows where there are few.
        private static let didSave = SaveNews.didSave

        private func didSave(_ note: Notification) {
            guard let entities = Self.entities(note) else { return signalAll() }
            let rows = (note.userInfo?[NSManagedObjectContext.savedRowsKey] as? SavedRows)?.changes
            let written = WrittenRows(entities, rows)
            nextSignal().withUnsafeBufferPointer { listeners in
                // By place: each listener is looked at where it is, which counts no references.
                for place in listeners.indices where listeners[place].interest.isTouched(by: written) {
                    listeners[place].continuation.yield()
                }
            }
        }

        private static func entities(_ note: Notification) -> Set<String>? {
            if let saved = note.userInfo?[NSManagedObjectContext.savedEntitiesKey] as? Set<String> { return saved }
            var names: Set<String> = []
            for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
                for object in note.userInfo?[key] as? Set<NSManagedObject> ?? [] {
                    guard let name = object.entity.name else { return nil }
                    names.insert(name)
                }
            }
            return names
        }

        /// Whether a context's save has told of the change already.
        private static func followsSave(_ note: Notification) -> Bool {
            note.userInfo?[NSPersistentStoreCoordinator.followsSaveKey] != nil
        }
    #endif
}

extension ModelRegistry {
    /// The entities whose changes show in a model: its own, and those of the models in it.
    func entities(within plan: EntityPlan) throws -> Set<String> {
        var names: Set<String> = []
        var queue = [plan]
        while let next = queue.popLast() {
            guard names.insert(next.name).inserted else { continue }
            queue += try next.fields.compactMap(\.related).map { try self.plan($0) }
        }
        return names
    }
}
