import Synchronization

/// Who hears of each save to the stores of a coordinator at once, and of the rows that it wrote.
///
/// The notifications of saves are for programs, and carry what Core Data's carry: sets of objects, which nobody here needs.
package final class SaveListeners: Sendable {
    /// Is called by the thread that saves, before the notifications are posted.
    ///
    /// - Parameters:
    ///   - entities: the names of the entities of what was saved.
    ///   - changes: what was written; nil for a save of objects.
    package typealias Listener = @Sendable (_ entities: Set<String>, _ changes: ChangeSet?) -> Void

    private struct State {
        var listeners: [(number: Int, listener: Listener)] = []
        var next = 0
    }

    private let state = Mutex(State())

    /// - Parameter listener: hears of the saves from now on.
    /// - Returns: the listener's number, by which it is removed.
    package func add(_ listener: @escaping Listener) -> Int {
        state.withLock { state in
            state.next += 1
            state.listeners.append((state.next, listener))
            return state.next
        }
    }

    /// - Parameter number: a listener's number. A save that is being told may still be heard.
    package func remove(_ number: Int) { state.withLock { $0.listeners.removeAll { $0.number == number } } }

    /// Tells of a save; what it concerned is made out only if somebody listens.
    func tell(_ entities: @autoclosure () -> Set<String>, _ changes: ChangeSet?) {
        let listeners = state.withLock { $0.listeners }
        if listeners.isEmpty { return }
        let entities = entities()
        for (_, listener) in listeners { listener(entities, changes) }
    }
}
