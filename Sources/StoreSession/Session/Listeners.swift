import CoreDataModel
import StoreEngine
import Synchronization

/// Listeners that are called for each event.
///
/// Notifications are for programs, and contain sets of objects like Core Data's, which these listeners do not need.
package final class Listeners<Event>: Sendable {
    package typealias Listener = @Sendable (Event) -> Void

    private struct State {
        var listeners: [(number: Int, listener: Listener)] = []
        var next = 0
    }

    private let state = Mutex(State())

    /// - Parameter listener: is called for each event from now on.
    /// - Returns: the listener's number, by which it is removed.
    package func add(_ listener: @escaping Listener) -> Int {
        state.withLock { state in
            state.next += 1
            state.listeners.append((state.next, listener))
            return state.next
        }
    }

    /// - Parameter number: a listener's number. The listener may still be called for an event that is being reported.
    package func remove(_ number: Int) { state.withLock { $0.listeners.removeAll { $0.number == number } } }

    /// Reports an event, which is only made if there are listeners.
    package func notify(_ event: @autoclosure () -> Event) {
        let listeners = state.withLock { $0.listeners }
        if listeners.isEmpty { return }
        let event = event()
        for (_, listener) in listeners { listener(event) }
    }
}

/// What a save wrote.
package struct SavedEntities: Sendable {
    /// The names of the saved entities.
    package let names: Set<String>
    /// What was written; nil for a save of objects.
    package let changes: ChangeSet?

    package init(_ names: Set<String>, _ changes: ChangeSet?) { (self.names, self.changes) = (names, changes) }
}

/// Changes of one store.
package struct StoreChanges: Sendable {
    package let store: SessionStore
    /// For each change, in order, whether a save of the session has reported it.
    package let followSaves: [Bool]
}
