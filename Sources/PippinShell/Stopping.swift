import StoreEngine
import StoreReading
import Synchronization

/// Ctrl-C while a line is being answered: the answer is stopped, and the shell goes on.
final class Stopping: Sendable {
    /// The answer was stopped.
    struct Stopped: Error {}

    private enum State {
        case idle
        /// Ends what the store reads.
        case answering((@Sendable () -> Void)?)
        case stopped
    }

    private let state = Mutex(State.idle)

    /// Stops the answer.
    ///
    /// - Returns: false if there is none, or if it was stopped already and has not ended.
    func stop() -> Bool {
        state.withLock { state in
            guard case .answering(let interrupt) = state else { return false }
            interrupt?()
            state = .stopped
            return true
        }
    }

    /// Answers a line.
    ///
    /// - Parameters:
    ///   - store: the store that is asked.
    ///   - body: answers, and calls ``check()`` now and then.
    /// - Returns: what `body` returns.
    /// - Throws: `Stopped` if the answer was stopped before its end; what `body` throws.
    func answering<Result>(_ store: DirectStore, _ body: () throws -> Result) throws -> Result {
        let interrupt = try store.asking { $0.interruption?.interrupter }
        state.withLock { $0 = .answering(interrupt) }
        defer { state.withLock { $0 = .idle } }
        do { return try body() } catch {
            // The store says in its own way that it was interrupted.
            try check()
            throw error
        }
    }

    /// - Throws: `Stopped` if the answer was stopped.
    func check() throws {
        if isStopped { throw Stopped() }
    }

    private var isStopped: Bool {
        state.withLock { if case .stopped = $0 { true } else { false } }
    }
}
