import StoreSession

/// Signals a manager's observations when a save may affect them: saves in this process, and everything else that
/// changes a store, such as batch requests and other processes. One listener checks each save for all observations.
///
/// Several changes before the next read make one signal, so that a slow reader gets the newest state rather than a
/// queue.
final class SaveSignals: Sendable {
    private let state = Locked(State())

    private struct State {
        var listeners: [Int: Listener] = [:] {
            didSet { all = nil }
        }
        /// All listeners, cached for saves until the set of listeners changes.
        private var all: ContiguousArray<Listener>?
        var next = 0
        /// How many signals there have been.
        var count = 0
        /// Ends the listening to a session; nil where there are no listeners.
        var end: (@Sendable () -> Void)?

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
    ///   - session: the session whose stores matter, whoever saves to them.
    ///   - interest: says which saves matter.
    /// - Returns: an element for each save that matters; several in a row may be merged into one.
    func stream(of session: StoreSession, for interest: Interest) -> AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = state.withLock { state in
                state.next += 1
                state.listeners[state.next] = Listener(interest: interest, continuation: continuation)
                if state.end == nil { state.end = listen(to: session) }
                return state.next
            }
            continuation.onTermination = { _ in self.forget(number) }
        }
    }

    private func forget(_ number: Int) {
        let end = state.withLock { state -> (@Sendable () -> Void)? in
            state.listeners[number] = nil
            guard state.listeners.isEmpty else { return nil }
            defer { state.end = nil }
            return state.end
        }
        end?()
    }

    private func listen(to session: StoreSession) -> @Sendable () -> Void {
        let saves = session.saves.add { [weak self] in self?.didSave(WrittenRows($0.names, $0.changes)) }
        // Nobody says which entities others have changed.
        let changes = session.changes.add { [weak self] in
            if $0.followSaves.contains(false) { self?.signalAll() }
        }
        return {
            session.saves.remove(saves)
            session.changes.remove(changes)
        }
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

    /// Signals all observations, as when the store was opened, destroyed or closed.
    func signalAll() { for listener in nextSignal() { listener.continuation.yield() } }

    private func didSave(_ written: WrittenRows) {
        nextSignal().withUnsafeBufferPointer { listeners in
            // By index: each listener is read in place, without retaining it.
            for place in listeners.indices where listeners[place].interest.isTouched(by: written) {
                listeners[place].continuation.yield()
            }
        }
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

/// The rows that a save wrote, as far as interests need them. They are collected once per save, for all interests.
struct WrittenRows {
    /// The entities that it touched.
    let entities: Set<String>
    /// The only entity; nil for several.
    let entity: String?
    /// The rows that are new or changed; nil if they are unknown, or so many that reading again costs less than
    /// checking each.
    let rows: ContiguousArray<Row>?
    /// The entities of deleted rows.
    let deleted: Set<String>

    struct Row {
        let layout: EntityLayout
        let identity: ObjectIdentifier
        let key: Int64
        /// By slot.
        let values: ContiguousArray<StoredValue>
        let changedSlots: [Int]
        /// The relationships to many that changed.
        let changedLists: [ToManyChange]
        let isNew: Bool
    }

    private static let manyRows = 64

    /// - Parameters:
    ///   - entities: the entities that the save touched.
    ///   - changes: what it wrote; nil where that is not known.
    init(_ entities: Set<String>, _ changes: ChangeSet?) {
        self.entities = entities
        entity = entities.count == 1 ? entities.first : nil
        guard let changes, changes.inserted.count + changes.updated.count <= Self.manyRows else {
            (rows, deleted) = (nil, [])
            return
        }
        var rows = ContiguousArray<Row>()
        rows.reserveCapacity(changes.inserted.count + changes.updated.count)
        for change in changes.inserted { rows.append(Row(change, isNew: true)) }
        for change in changes.updated { rows.append(Row(change, isNew: false)) }
        self.rows = rows
        deleted = changes.deleted.isEmpty ? [] : Set(changes.deleted.map(\.objectID.layout.name))
    }
}

extension WrittenRows.Row {
    fileprivate init(_ change: RowChange, isNew: Bool) {
        layout = change.objectID.layout
        identity = ObjectIdentifier(layout)
        key = change.objectID.key
        values = change.values
        changedSlots = change.changedSlots
        changedLists = change.toManyChanges
        self.isNew = isNew
    }
}
