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
        var sources: [Source] = []

        mutating func allListeners() -> ContiguousArray<Listener> {
            if let all { return all }
            let new = ContiguousArray(listeners.values)
            all = new
            return new
        }
    }

    /// Where signals come from, until nobody listens.
    private enum Source {
        case notifications(any NSObjectProtocol)
        #if !canImport(ObjectiveC)
            case saves(SaveListeners, Int)
        #endif

        func end() {
            switch self {
            case .notifications(let token): NotificationCenter.default.removeObserver(token)
            #if !canImport(ObjectiveC)
                case .saves(let listeners, let number): listeners.remove(number)
            #endif
            }
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
                if state.sources.isEmpty { state.sources = sources(of: coordinator) }
                return state.next
            }
            continuation.onTermination = { _ in self.forget(number) }
        }
    }

    private func forget(_ number: Int) {
        let sources = state.withLock { state -> [Source] in
            state.listeners[number] = nil
            guard state.listeners.isEmpty else { return [] }
            defer { state.sources = [] }
            return state.sources
        }
        for source in sources { source.end() }
    }

    private func sources(of coordinator: NSPersistentStoreCoordinator) -> [Source] {
        let center = NotificationCenter.default
        // Which entities others have changed is not said.
        let others = center.addObserver(forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil) {
            [weak self] note in
            if !Self.followsSave(note) { self?.signalAll() }
        }
        let stores = [Self.managerDidLoad, Self.managerDidDestroy].map { name in
            center.addObserver(forName: name, object: coordinator, queue: nil) { [weak self] _ in self?.signalAll() }
        }
        return [saves(of: coordinator), .notifications(others)] + stores.map { .notifications($0) }
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
        // Apple's Core Data says neither which rows were written nor that a change was told of already.
        private func saves(of coordinator: NSPersistentStoreCoordinator) -> Source {
            let identity = ObjectIdentifier(coordinator)
            let name = Notification.Name.NSManagedObjectContextDidSave
            let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
                [weak self] note in
                // A child's save is in no store yet.
                guard let context = note.object as? NSManagedObjectContext, context.parent == nil,
                    context.persistentStoreCoordinator.map(ObjectIdentifier.init) == identity
                else { return }
                self?.signalAll()
            }
            return .notifications(token)
        }

        private static func followsSave(_ note: Notification) -> Bool { false }
    #else
        private func saves(of coordinator: NSPersistentStoreCoordinator) -> Source {
            let listeners = coordinator.saveListeners
            let number = listeners.add { [weak self] entities, changes in
                self?.didSave(WrittenRows(entities, changes))
            }
            return .saves(listeners, number)
        }

        private func didSave(_ written: WrittenRows) {
            nextSignal().withUnsafeBufferPointer { listeners in
                // By place: each listener is looked at where it is, which counts no references.
                for place in listeners.indices where listeners[place].interest.isTouched(by: written) {
                    listeners[place].continuation.yield()
                }
            }
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
