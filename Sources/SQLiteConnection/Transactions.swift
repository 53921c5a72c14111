import CPippinSQLite

/// When a transaction takes its locks.
package enum TransactionKind: String, Sendable {
    /// With the first statement that reads or writes.
    case deferred = "BEGIN DEFERRED"
    /// At once for writing, so that nothing read inside can have changed by the time of the commit.
    case immediate = "BEGIN IMMEDIATE"
    /// At once for writing, and keeping readers out unless the journal is a write-ahead log.
    case exclusive = "BEGIN EXCLUSIVE"
}

/// How far a checkpoint goes in moving the write-ahead log into the database file.
package enum CheckpointMode: Sendable {
    /// As far as it can without waiting.
    case passive
    /// Waits for writers and readers, then moves everything.
    case full
    /// Like `full`, and waits until no connection reads from the log.
    case restart
    /// Like `restart`, and cuts the log to zero bytes.
    case truncate

    var code: Int32 {
        switch self {
        case .passive: return SQLITE_CHECKPOINT_PASSIVE
        case .full: return SQLITE_CHECKPOINT_FULL
        case .restart: return SQLITE_CHECKPOINT_RESTART
        case .truncate: return SQLITE_CHECKPOINT_TRUNCATE
        }
    }
}

extension Connection {
    /// Whether a transaction is open.
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Opens a transaction, or a part of the long one.
    package func begin(_ kind: TransactionKind = .immediate) throws {
        // Prepared, since parsing it takes longer than running it.
        guard let longTransaction else { return try statement(kind.rawValue).run() }
        // SQLite would begin another one, which would have only a part of the changes.
        guard isInTransaction else { throw undone("a part of it failed") }
        if longTransaction.undoesParts { try execute("SAVEPOINT part") }
    }

    /// Makes the open transaction's changes permanent; those of a part become permanent with the long transaction.
    package func commit() throws {
        guard let longTransaction else {
            changeCollector?.finish()
            return try statement("COMMIT").run()
        }
        if longTransaction.undoesParts { try execute("RELEASE part") }
    }

    /// Rolls back the open transaction, or the part of the long one. Does nothing if SQLite has already rolled back by
    /// itself, as it does when the disk is full.
    package func rollback() throws {
        guard isInTransaction else { return }
        if longTransaction?.undoesParts == true {
            try execute("ROLLBACK TO part; RELEASE part")
        } else {
            changeCollector?.forget()
            try execute("ROLLBACK")
        }
    }

    /// Runs a closure inside a transaction, which is committed when the closure returns and rolled back if it throws.
    package func transaction<Result>(
        _ kind: TransactionKind = .immediate, _ body: () throws -> Result
    ) throws -> Result {
        try begin(kind)
        do {
            let result = try body()
            try commit()
            return result
        } catch {
            // The first error is the one to report; a failed rollback adds nothing.
            try? rollback()
            throw error
        }
    }

    /// Runs work that fails instead of waiting for another connection's lock.
    package func withoutWaiting<Result>(_ body: () throws -> Result) throws -> Result {
        let timeout = try busyTimeout()
        setBusyTimeout(0)
        defer { setBusyTimeout(timeout) }
        return try body()
    }

    // MARK: Long transactions

    /// Opens a transaction that includes all others until it ends: other connections see none of their changes before.
    ///
    /// - Parameter undoesParts: whether one of the others can be rolled back by itself, for which SQLite copies every
    ///   page before one of them changes it. Otherwise rolling back one rolls back the whole, and further statements
    ///   throw.
    /// - Throws: SQLite's errors.
    package func beginLong(undoesParts: Bool) throws {
        try begin()
        longTransaction = LongTransaction(undoesParts: undoesParts)
    }

    /// Makes all that follows in the open transaction parts of a preview, until `endPreview()` undoes them.
    package func beginPreview() throws {
        try execute("SAVEPOINT preview")
        longTransaction = LongTransaction(undoesParts: true)
    }

    /// Undoes the parts of the preview. The transaction stays open.
    package func endPreview() throws {
        longTransaction = nil
        changeCollector?.forget()
        guard isInTransaction else { throw undone("a part of it failed") }
        try execute("ROLLBACK TO preview; RELEASE preview")
    }

    /// Sets whether the following parts can be rolled back by themselves; does nothing without a long transaction.
    package func setUndoesParts(_ undoesParts: Bool) { longTransaction?.undoesParts = undoesParts }

    /// Ends the long transaction.
    ///
    /// - Throws: an error if its changes cannot be made permanent, or were rolled back already.
    package func endLong(commits: Bool) throws {
        guard longTransaction != nil else { return }
        longTransaction = nil
        guard commits else { return try rollback() }
        guard isInTransaction else { throw undone("a part of it failed") }
        do { try commit() } catch {
            // The first error is the one to report.
            try? rollback()
            throw error
        }
    }

    private func undone(_ reason: String) -> SQLiteError {
        SQLiteError(
            extendedCode: SQLITE_ABORT, message: "the transaction was undone: \(reason)", sql: nil, path: path)
    }

    // MARK: The log

    /// Moves the write-ahead log into the database file.
    package func checkpoint(_ mode: CheckpointMode = .passive) throws {
        let code = sqlite3_wal_checkpoint_v2(handle, nil, mode.code, nil, nil)
        // Another connection is moving it already, and this call must not wait.
        if mode == .passive, code == SQLITE_BUSY { return }
        guard code == SQLITE_OK else { throw database.error(code, sql: nil) }
    }

    /// Whether no connection reads a former state. It does not wait, and returns false if that is unknown.
    package func hasNoOlderReaders() -> Bool {
        // Without a write-ahead log, there are no writes while there are readers.
        (try? withoutWaiting { try checkpoint(.restart) }) != nil
    }
}

/// A transaction of which those opened inside it become parts.
struct LongTransaction {
    /// Whether a part can be rolled back by itself.
    var undoesParts: Bool
}
