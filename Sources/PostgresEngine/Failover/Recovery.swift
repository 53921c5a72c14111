/// What to do after a connection was lost: a value that is told what happened, and says what comes next. It knows no socket and no clock.
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
    /// What of the transaction may be there.
    package enum Doubt: Equatable, Sendable {
        /// Nothing: the server was never asked to commit.
        case none
        /// All of it, or nothing. Whether the server can be asked for the save's mark is what is said with it.
        case commit(hasMark: Bool)
    }

    package enum State: Equatable, Sendable {
        case connecting
        case asking
        /// Waiting before the next attempt.
        case waiting
        case ended(Verdict)
    }

    package enum Verdict: Equatable, Sendable {
        /// The transaction is there, on the server that is the primary now and on those that it waits for.
        case saved
        /// Nothing of it is there, nor will be: it can be done again, on the connection that was made.
        case undone
        /// Nobody could be asked in time.
        case undecided
        /// Nothing of it is there, and no server was found in time, or none lets the program in.
        case unreachable
    }

    package enum Event: Equatable, Sendable {
        case connected
        /// No server takes writes. Some reasons do not go away by waiting, such as a wrong password.
        case refused(passes: Bool)
        /// What the server says of the mark.
        case answered(isSaved: Bool)
        /// The connection was lost again, or the server's answer is not to be relied on.
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

    /// What comes first.
    package mutating func begin() -> Action {
        // A server that cannot be asked leaves the doubt as it is.
        doubt == .commit(hasMark: false) ? end(.undecided) : go(.connecting, .connect)
    }

    /// What comes after something has happened.
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
