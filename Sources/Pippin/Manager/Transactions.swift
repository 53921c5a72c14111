import StoreSession

/// What a `write` does if others have saved to the store after its block read and before it is saved.
public enum WriteConflictPolicy: Sendable {
    /// Runs the block again, in a new context, on what is stored now.
    case retry
    /// Throws a ``PersistenceError`` with the code ``PersistenceError/Code/conflict``, so that the caller can decide.
    case fail
}

/// How often a write is attempted.
enum WriteAttempts {
    /// The attempts during which others may save: most blocks finish before another save.
    static let unhindered = 4
    /// The most attempts. During the later ones other programs wait until the block is done, so that only other saves
    /// of this program can interfere.
    static let limit = 16

    /// Waits a random time whose limit grows with each attempt, so that competing writers wait for different times.
    static func pause(after attempt: Int) { usleep(.random(in: 0..<(200 << UInt32(min(attempt, 7))))) }
}

extension PersistenceManager {
    /// Does work whose reads and saves are one transaction, and repeats it if others interfere.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    func inTransaction<Result>(
        _ policy: WriteConflictPolicy, _ work: (WriteTurn) throws -> Result
    ) throws -> Result {
        // The store may have been destroyed while this waited for its turn.
        try openIfNeeded()
        var attempt = 0
        while true {
            attempt += 1
            if attempt > 1 { try Cancellation.current?.check() }
            let transaction = OptimisticTransaction(session)
            defer { transaction.end() }
            if attempt > WriteAttempts.unhindered {
                try PersistenceError.explaining(.saveFailed) { try transaction.lockOutWriters() }
            }
            let outcome = Swift.Result { try perform(work, in: transaction) }
            // The block may have caught the error of a read that failed because the transaction is broken.
            guard transaction.isBroken else { return try outcome.get() }
            let conflict = OptimisticTransaction.conflict(session.openStores.first?.url)
            // The block's own saves must not be repeated.
            if transaction.hasSaved { throw PersistenceError(saving: conflict, registry) }
            if policy == .fail || attempt == WriteAttempts.limit {
                throw PersistenceError(saving: conflict, registry)
            }
            WriteAttempts.pause(after: attempt)
        }
    }

    /// Does work in a transaction during which others cannot save, on this thread, which tasks share: only where it
    /// need not wait. Going to another thread and back takes longer than a small save.
    ///
    /// - Returns: what the work returns; nil where it would have to wait, where such work takes long, or where
    ///   others came first: nothing is saved then.
    /// - Throws: what the work and its save throw.
    func changeAtOnce<Result>(
        _ kind: WorkKind, _ work: (WriteTurn) throws -> Result
    ) throws -> Result? {
        guard ThreadSharing.allowsWork, OptimisticTransaction.current == nil, workDurations.areShort(kind) else {
            return nil
        }
        let result: Result?? = try writes.runIfFree {
            let transaction = OptimisticTransaction(session)
            // An error here occurs again, and is reported, in the transaction that waits.
            guard (try? transaction.lockOutWritersUnlessBusy()) == true else { return nil }
            defer { transaction.end() }
            let outcome = Swift.Result { try workDurations.timing(kind) { try perform(work, in: transaction) } }
            if case .failure(is WorkDurations.TooMuch) = outcome {
                for _ in 0..<2 { workDurations.note(kind, .seconds(1)) }
                return nil
            }
            // Contexts of this program are not kept out.
            if transaction.isBroken, !transaction.hasSaved { return nil }
            return try outcome.get()
        }
        return result ?? nil
    }

    private func perform<Result>(
        _ work: (WriteTurn) throws -> Result, in transaction: OptimisticTransaction
    ) throws -> Result {
        try WriteTurn(self, transaction).run { turn in
            try writes.entering {
                try OptimisticTransaction.$current.withValue(transaction) { try work(turn) }
            }
        }
    }
}
