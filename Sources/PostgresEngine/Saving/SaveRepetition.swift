import PostgresConnection

/// Whether and how a save that failed is attempted again: a value that receives failures and returns the next step. It
/// knows no connection.
struct SaveRepetition {
    /// Why an attempt failed.
    enum Failure {
        /// Two rows would have the same unique values.
        case sameValues
        /// A row is not there in the expected version.
        case changedRow
        /// Rows may not be copied into a table, as for roles under row-level security.
        case refusedCopy
        /// Another transaction was in the way.
        case otherTransaction
        /// The server is lost, and was not asked to commit.
        case lostServer
        case other

        init(_ error: PostgresError, isServerLost: Bool) {
            switch error {
            case _ where error.isUniqueViolation: self = .sameValues
            // A division by zero in a trigger is not a conflict.
            case _ where SaveRun.isConflict(error): self = .changedRow
            case _ where error.refusesCopying: self = .refusedCopy
            case _ where error.isRetryable: self = .otherTransaction
            default: self = isServerLost ? .lostServer : .other
            }
        }
    }

    /// What to do before the next attempt, if there is one.
    enum Step {
        /// See whether the changes are to be refused.
        case check
        /// Insert rows instead of copying them, from now on.
        case insert
        /// Find a server that accepts writes.
        case reconnect
        /// Give up.
        case fail
    }

    /// How often a save that conflicted with another transaction is attempted.
    private static let attempts = 5

    /// The number of the current attempt.
    private(set) var attempt = 1
    /// Whether unique values are to be cleared before they are written, since they conflict only with one another.
    private(set) var clearsUniqueValues = false

    /// Counts an attempt whose transaction is known to be undone, and which is simply repeated.
    mutating func startOver() { attempt += 1 }

    /// The step that follows a failure.
    ///
    /// - Parameters:
    ///   - failure: why the attempt failed.
    ///   - isDecided: whether something depends on what the transaction has read or written: it is part of a longer
    ///     one, or other stores have been written to.
    ///   - isBound: whether the work cannot move to another connection.
    /// - Returns: what to do.
    mutating func next(_ failure: Failure, isDecided: Bool, isBound: Bool) -> Step {
        let step = step(after: failure, isDecided: isDecided, isBound: isBound)
        startOver()
        if failure == .sameValues { clearsUniqueValues = true }
        return step
    }

    private func step(after failure: Failure, isDecided: Bool, isBound: Bool) -> Step {
        switch failure {
        case .sameValues: clearsUniqueValues ? .fail : .check
        case .changedRow: attempt < Self.attempts ? .check : .fail
        case .refusedCopy: .insert
        case .otherTransaction: attempt < Self.attempts && !isDecided ? .check : .fail
        case .lostServer: isBound ? .fail : .reconnect
        case .other: .fail
        }
    }
}
