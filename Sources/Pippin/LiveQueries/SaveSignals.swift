import CoreData

/// Signals a manager's observations when a save may affect them: saves in this process, and everything else that
/// changes a store, such as batch requests and other processes. One listener checks each save for all observations.
///
/// Several changes before the next read make one signal, so that a slow reader gets the newest state rather than a
/// queue.
final class SaveSignals: Sendable {
    /// Posted, with the coordinator, when a manager has loaded its stores.
    static let managerDidLoad = Notification.Name("Pippin.managerDidLoad")

    /// Posted, with the coordinator, when a manager has destroyed or closed its stores.
    static let managerDidDestroy = Notification.Name("Pippin.managerDidDestroy")

    private let state = Locked(State())

    private struct State: @unchecked Sendable {
        // @unchecked Sendable: an observer's token is only passed back to the notification center.
        var listeners: [Int: Listener] = [:] {
            didSet { all = nil }
        }
        /// All listeners, cached for saves until the set of listeners changes.
        private var all: ContiguousArray<Listener>?
        var next = 0
        /// How many signals there have been.
        var count = 0
        var sources: [Source] = []

        mutating func allListeners() -> ContiguousArray<Listener> {
            if let all { return all }
            let new = ContiguousArray(listeners.values)
            all = new
            return new
        }
    }

    /// The source of signals, as long as there are listeners.
    private enum Source {
        case notifications(any NSObjectProtocol)
        case saves(SaveListeners, Int)

        func end() {
            switch self {
            case .notifications(let token): NotificationCenter.default.removeObserver(token)
            case .saves(let listeners, let number): listeners.remove(number)
            }
        }
    }

    private struct Listener {
        let interest: Interest
        let continuation: AsyncStream<Void>.Continuation
    }

    /// - Parameters:
    ///   - container: the container whose stores matter; all of its contexts count.
    ///   - interest: says which saves matter.
    /// - Returns: an element for each save that matters; several in a row may be merged into one.
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
        // The notification does not say which entities others have changed.
        let others = center.addObserver(forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil) {
            [weak self] note in
            if !Self.followsSave(note) { self?.signalAll() }
        }
        let stores = [Self.managerDidLoad, Self.managerDidDestroy].map { name in
            center.addObserver(forName: name, object: coordinator, queue: nil) { [weak self] _ in self?.signalAll() }
        }
        return [saves(of: coordinator), .notifications(others)] + stores.map { .notifications($0) }
    }

    /// How many signals there have been, whichever observations they touched.
    var count: Int { state.withLock { $0.count } }

    /// Counts a signal before any listener is informed.
    ///
    /// - Returns: the listeners that it may concern.
    private func nextSignal() -> ContiguousArray<Listener> {
        state.withLock {
            $0.count += 1
            return $0.allListeners()
        }
    }

    private func signalAll() { for listener in nextSignal() { listener.continuation.yield() } }

    private func saves(of coordinator: NSPersistentStoreCoordinator) -> Source {
        let listeners = coordinator.saveListeners
        let number = listeners.add { [weak self] entities, changes in
            self?.didSave(WrittenRows(entities, changes))
        }
        return .saves(listeners, number)
    }

    private func didSave(_ written: WrittenRows) {
        nextSignal().withUnsafeBufferPointer { listeners in
            // By index: each listener is read in place, without retaining it.
            for place in listeners.indices where listeners[place].interest.isTouched(by: written) {
                listeners[place].continuation.yield()
            }
        }
    }

    /// Whether a context's save has reported the change already.
    private static func followsSave(_ note: Notification) -> Bool {
        note.userInfo?[NSPersistentStoreCoordinator.followsSaveKey] != nil
    }
}

extension ModelRegistry {
    /// The entities whose changes are visible in a model: its own, and those of the models in it.
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
