import Synchronization

/// Listeners that are called immediately after each save to the stores of a coordinator, with the rows that it wrote.
///
/// The notifications of saves are for programs, and contain sets of objects like Core Data's, which these listeners do
/// not need.
package final class SaveListeners: Sendable {
    /// Called by the saving thread, before the notifications are posted.
    ///
    /// - Parameters:
    ///   - entities: the names of the saved entities.
    ///   - changes: what was written; nil for a save of objects.
    package typealias Listener = @Sendable (_ entities: Set<String>, _ changes: ChangeSet?) -> Void

    private struct State {
        var listeners: [(number: Int, listener: Listener)] = []
        var next = 0
    }

    private let state = Mutex(State())

    /// - Parameter listener: is called for each save from now on.
    /// - Returns: the listener's number, by which it is removed.
    package func add(_ listener: @escaping Listener) -> Int {
        state.withLock { state in
            state.next += 1
            state.listeners.append((state.next, listener))
            return state.next
        }
    }

    /// - Parameter number: a listener's number. The listener may still be called for a save that is being reported.
    package func remove(_ number: Int) { state.withLock { $0.listeners.removeAll { $0.number == number } } }

    /// Reports a save. Its entities are only determined if there are listeners.
    func notify(_ entities: @autoclosure () -> Set<String>, _ changes: ChangeSet?) {
        let listeners = state.withLock { $0.listeners }
        if listeners.isEmpty { return }
        let entities = entities()
        for (_, listener) in listeners { listener(entities, changes) }
    }
}
