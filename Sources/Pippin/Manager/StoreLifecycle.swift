import Foundation

/// The life of a manager's store, as a value: whether it is open, and whether a thread opens or destroys it.
///
/// Each step is a function that returns the next value. A manager takes a step only while it holds `opening`, so that
/// the value from which a step was computed is still the present one when it is replaced.
struct StoreLifecycle: Equatable {
    private(set) var state = State.closed(isDestroyed: false)
    /// How often the store was closed.
    private(set) var closings = 0

    enum State: Equatable {
        /// The first use opens the store, unless this manager has destroyed it.
        case closed(isDestroyed: Bool)
        case opening(by: Thread, Opening)
        case open(Opener)
        case destroying(by: Thread, Destruction)
        /// The manager has closed the store, and does nothing more.
        case ended
    }

    enum Opening: Equatable {
        /// The manager has not destroyed the store.
        case usual
        /// The manager has destroyed the store, and makes a new one.
        case anew(startsOver: Bool)
    }

    enum Opener: Equatable { case use, load }

    enum Destruction: Equatable {
        /// By `destroy()`, which refuses a store that is destroyed already.
        case leavesNothing
        /// By `startOver()`.
        case startsOver(wasDestroyed: Bool)
    }

    /// The reason why a step is not taken.
    enum Refusal: Error {
        /// A thread opens or destroys the store.
        case inProgress
        /// The manager has destroyed the store.
        case destroyed
        /// The store is open already.
        case loaded
        /// The manager has closed the store for good.
        case ended
    }

    // MARK: Questions

    var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    /// Whether the manager has closed the store for good.
    var hasEnded: Bool { state == .ended }

    /// Whether the manager has destroyed the store and not opened a new one since.
    var isDestroyed: Bool {
        switch state {
        case .closed(let isDestroyed): isDestroyed
        case .opening(_, .usual), .open, .destroying(_, .leavesNothing), .ended: false
        case .opening(_, .anew): true
        case .destroying(_, .startsOver(let wasDestroyed)): wasDestroyed
        }
    }

    /// Whether a new store is about to replace one that is being destroyed.
    var isStartingOver: Bool {
        switch state {
        case .opening(_, .anew(startsOver: true)), .destroying(_, .startsOver): true
        default: false
        }
    }

    /// Whether a thread opens or destroys the store, so that it must not wait for that.
    func isInProgress(on thread: Thread) -> Bool { inProgress === thread }

    /// The thread that opens or destroys the store.
    private var inProgress: Thread? {
        switch state {
        case .opening(let thread, _), .destroying(let thread, _): thread
        case .closed, .open, .ended: nil
        }
    }

    // MARK: Steps

    /// The step before a use: a store that is open stays so, and `thread` opens one that is closed.
    func opening(on thread: Thread) throws(Refusal) -> StoreLifecycle {
        switch state {
        case .open: return self
        case .closed(isDestroyed: false): return next(.opening(by: thread, .usual))
        case .closed(isDestroyed: true): throw .destroyed
        case .ended: throw .ended
        case .opening, .destroying: throw .inProgress
        }
    }

    /// The step of `load()`: a store that a use has opened is loaded, unless it is to be migrated, and `thread` opens
    /// one that is closed.
    func loading(on thread: Thread, migrates: Bool) throws(Refusal) -> StoreLifecycle {
        switch state {
        case .open(.use) where !migrates: return next(.open(.load))
        case .open: throw .loaded
        case .closed(let isDestroyed):
            return next(.opening(by: thread, isDestroyed ? .anew(startsOver: false) : .usual))
        case .ended: throw .ended
        case .opening, .destroying: throw .inProgress
        }
    }

    /// The store was opened.
    func opened(by opener: Opener) -> StoreLifecycle {
        guard case .opening = state else { return self }
        return next(.open(opener))
    }

    /// The step of `destroy()` and `startOver()`: the store is closed, and `thread` destroys it.
    func destroying(on thread: Thread, startsOver: Bool) throws(Refusal) -> StoreLifecycle {
        guard inProgress == nil else { throw .inProgress }
        if hasEnded { throw .ended }
        if isDestroyed, !startsOver { throw .destroyed }
        let purpose: Destruction = startsOver ? .startsOver(wasDestroyed: isDestroyed) : .leavesNothing
        var next = next(.destroying(by: thread, purpose))
        next.closings += 1
        return next
    }

    /// The store was destroyed. The same thread opens the new one if the manager starts over.
    func destroyed() -> StoreLifecycle {
        switch state {
        case .destroying(_, .leavesNothing): next(.closed(isDestroyed: true))
        case .destroying(let thread, .startsOver): next(.opening(by: thread, .anew(startsOver: true)))
        case .closed, .opening, .open, .ended: self
        }
    }

    /// The step of `close()`: the store is closed for good, unless a thread opens or destroys it.
    func ending() -> StoreLifecycle {
        guard inProgress == nil, !hasEnded else { return self }
        var next = next(.ended)
        next.closings += 1
        return next
    }

    /// The store could not be opened or destroyed. The next use tries to open one that the manager has not destroyed.
    func failed() -> StoreLifecycle { inProgress == nil ? self : next(.closed(isDestroyed: isDestroyed)) }

    private func next(_ state: State) -> StoreLifecycle {
        var next = self
        next.state = state
        return next
    }
}
