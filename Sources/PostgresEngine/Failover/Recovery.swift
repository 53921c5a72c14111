import Foundation
import PostgresConnection

/// Decides what to do after a connection was lost: a value that receives events and returns the next action. It knows
/// no socket and no clock.
///
/// ```
///              ┌──────── refused, lost: wait ───────┐
///              ▼                                    │
/// lost ──▶ connecting ──▶ connected ──▶ asking ─────┤     what was not asked to be committed needs no asking
///              │                           │        │
///              ▼                           ▼        ▼
///         out of time               saved, or not   out of time: undecided
/// ```
package struct Recovery: Equatable, Sendable {
    /// What may have been committed of the transaction.
    package enum Doubt: Equatable, Sendable {
        /// Nothing: the server was never asked to commit.
        case none
        /// All or nothing. `hasMark` says whether the server can be asked for the save's mark.
        case commit(hasMark: Bool)
    }

    package enum State: Equatable, Sendable {
        case connecting
        case asking
        /// Wait before the next attempt.
        case waiting
        case ended(Verdict)
    }

    package enum Verdict: Equatable, Sendable {
        /// The transaction was committed, on the server that is now the primary and on the standbys that it waits for.
        case saved
        /// Nothing was committed, nor will be: the transaction can be run again, on the new connection.
        case undone
        /// No server could be asked in time.
        case undecided
        /// Nothing was committed, and no server was found in time, or none lets the program in.
        case unreachable
    }

    package enum Event: Equatable, Sendable {
        case connected
        /// No server takes writes. Waiting does not help against some reasons, such as a wrong password.
        case refused(passes: Bool)
        /// The server's answer about the mark.
        case answered(isSaved: Bool)
        /// The connection was lost again, or the server's answer cannot be relied on.
        case lost
        case waited
    }

    package enum Action: Equatable, Sendable {
        case connect
        case ask
        case wait(Duration)
        case end(Verdict)
    }

    package let doubt: Doubt
    /// When to give up, counted from the loss.
    package let deadline: Duration
    package private(set) var state = State.connecting
    private var pause = Duration.milliseconds(50)
    private static let longestPause = Duration.milliseconds(500)

    package init(_ doubt: Doubt, deadline: Duration) { (self.doubt, self.deadline) = (doubt, deadline) }

    /// The first action.
    package mutating func begin() -> Action {
        // A server that cannot be asked cannot remove the doubt.
        doubt == .commit(hasMark: false) ? end(.undecided) : go(.connecting, .connect)
    }

    /// The action that follows an event.
    ///
    /// - Parameters:
    ///   - event: what has happened.
    ///   - elapsed: how long ago the connection was lost.
    /// - Returns: what to do.
    package mutating func next(_ event: Event, after elapsed: Duration) -> Action {
        switch (state, event) {
        case (.ended(let verdict), _): .end(verdict)
        case (.connecting, .connected): doubt == .none ? end(.undone) : go(.asking, .ask)
        case (.connecting, .refused(passes: false)): end(failure)
        case (.asking, .answered(let isSaved)): end(isSaved ? .saved : .undone)
        case (.waiting, .waited): go(.connecting, .connect)
        case (_, .refused), (_, .lost), (_, .connected), (_, .answered), (_, .waited): rest(elapsed)
        }
    }

    private var failure: Verdict { doubt == .none ? .unreachable : .undecided }

    private mutating func rest(_ elapsed: Duration) -> Action {
        guard elapsed < deadline else { return end(failure) }
        let length = min(pause, deadline - elapsed)
        pause = min(pause * 2, Self.longestPause)
        return go(.waiting, .wait(length))
    }

    private mutating func go(_ state: State, _ action: Action) -> Action {
        self.state = state
        return action
    }

    private mutating func end(_ verdict: Verdict) -> Action { go(.ended(verdict), .end(verdict)) }
}

/// Performs the actions of a recovery, and reports their results to it.
enum RecoveryRun {
    /// - Parameters:
    ///   - recovery: the recovery to run.
    ///   - error: the error with which the connection was lost.
    ///   - start: when it was lost.
    ///   - connect: makes a connection to a server that takes writes.
    ///   - ask: says whether the save was committed; `nil` if the answer cannot be relied on.
    /// - Returns: the outcome, and the latest error.
    /// - Throws: the errors of `connect` and `ask` that do not come from the server.
    static func run(
        _ recovery: Recovery, from error: PostgresError, since start: ContinuousClock.Instant,
        connect: () throws -> Void, ask: () throws -> Bool? = { nil }
    ) throws -> (verdict: Recovery.Verdict, error: PostgresError) {
        var (recovery, latest) = (recovery, error)
        var action = recovery.begin()
        while true {
            let event: Recovery.Event
            switch action {
            case .end(let verdict): return (verdict, latest)
            case .wait(let duration):
                Thread.sleep(forTimeInterval: duration / .seconds(1))
                event = .waited
            case .connect:
                do {
                    try connect()
                    event = .connected
                } catch let error as PostgresError {
                    latest = error
                    event = .refused(passes: error.isWorthLookingElsewhere)
                }
            case .ask:
                do { event = try ask().map { .answered(isSaved: $0) } ?? .lost } catch let error as PostgresError {
                    latest = error
                    event = .lost
                }
            }
            action = recovery.next(event, after: ContinuousClock.now - start)
        }
    }
}
