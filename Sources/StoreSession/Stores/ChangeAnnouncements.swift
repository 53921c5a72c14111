import Dispatch
import Synchronization

/// The changes of one store that have not been announced yet: the first one is announced immediately, those that follow
/// soon after it a little later.
final class ChangeAnnouncements: Sendable {
    /// When to announce.
    enum Turn: Equatable {
        case now
        case at(DispatchTime)
    }

    private struct State {
        /// Whether an announcement was scheduled and has not begun.
        var isUnderWay = false
        /// For each change, whether a context has reported it.
        var changes: [Bool] = []
        var latest: DispatchTime?
    }

    /// How long later changes wait for others.
    private let pause: DispatchTimeInterval
    private let state = Mutex(State())

    init(pause: DispatchTimeInterval = .milliseconds(20)) { self.pause = pause }

    /// Adds a change.
    ///
    /// - Parameter followsSave: whether a context reports it.
    /// - Returns: when to announce it; nil if that is scheduled already.
    func add(followsSave: Bool) -> Turn? {
        state.withLock { state in
            state.changes.append(followsSave)
            guard !state.isUnderWay else { return nil }
            state.isUnderWay = true
            guard let next = state.latest.map({ $0 + pause }), next > .now() else { return .now }
            return .at(next)
        }
    }

    /// Begins announcing all changes added so far.
    ///
    /// - Returns: for each change, in order, whether a context has reported it.
    func take() -> [Bool] {
        state.withLock { state in
            defer { state = State(latest: .now()) }
            return state.changes
        }
    }
}
