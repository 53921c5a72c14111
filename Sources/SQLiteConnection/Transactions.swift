import CSQLite

/// When a transaction takes its locks.
package enum TransactionKind: String, Sendable {
    /// With the first statement that reads or writes.
    case deferred = "BEGIN DEFERRED"
    /// At once for writing, so that nothing that was read inside can have changed by the time of the commit.
    case immediate = "BEGIN IMMEDIATE"
    /// At once for writing, and keeping readers out unless the journal is a write-ahead log.
    case exclusive = "BEGIN EXCLUSIVE"
}

/// How far a checkpoint goes in moving the write-ahead log into the database file.
package enum CheckpointMode: Sendable {
    /// As far as it can without waiting for anyone.
    case passive
    /// Waits for writers and readers, then moves everything.
    case full
    /// Like `full`, and cuts the log to zero bytes.
    case truncate

    var code: Int32 {
        switch self {
        case .passive: return SQLITE_CHECKPOINT_PASSIVE
        case .full: return SQLITE_CHECKPOINT_FULL
        case .truncate: return SQLITE_CHECKPOINT_TRUNCATE
        }
    }
}

extension Connection {
    /// Whether a transaction is open.
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Opens a transaction.
    package func begin(_ kind: TransactionKind = .immediate) throws { try execute(kind.rawValue) }

    /// Makes the open transaction's changes permanent.
    package func commit() throws { try execute("COMMIT") }

    /// Undoes the open transaction. Nothing happens where SQLite has already rolled back by itself, as it does when the
    /// disk is full.
    package func rollback() throws {
        if isInTransaction { try execute("ROLLBACK") }
    }

    /// Runs a closure inside a transaction, which is committed when the closure returns and undone when it throws.
    package func transaction<Result>(
        _ kind: TransactionKind = .immediate, _ body: () throws -> Result
    ) throws -> Result {
        try begin(kind)
        do {
            let result = try body()
            try commit()
            return result
        } catch {
            // The first error is the one to tell; a rollback that fails as well leaves nothing to add.
            try? rollback()
            throw error
        }
    }

    /// Moves the write-ahead log into the database file.
    package func checkpoint(_ mode: CheckpointMode = .passive) throws {
        let code = sqlite3_wal_checkpoint_v2(handle, nil, mode.code, nil, nil)
        guard code == SQLITE_OK else { throw database.error(code, sql: nil) }
    }
}
