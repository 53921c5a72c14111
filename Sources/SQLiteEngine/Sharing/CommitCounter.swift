import SQLGeneration
import SQLiteConnection
import Synchronization

/// Counts the commits of others to an engine's open store, for the thread that watches the file.
///
/// The watching thread does not refer to the engine: a weak reference would make everything that retains the engine
/// slower, and each request does.
final class CommitCounter: @unchecked Sendable {
    // @unchecked Sendable: the lock guards `store`. The connection is used by one thread at a time, because counting is
    // done while no other thread uses the engine, and `follow` waits for a count that has begun.
    private let lock = Mutex(())
    private var store: OpenStore?

    /// Counts in another store from now on, or, once the engine is closed, in none.
    func follow(_ store: OpenStore?) { lock.withLock { _ in self.store = store } }

    /// SQLite's number that changes when another connection commits; nil while it is unknown.
    func count() -> Int64? {
        lock.withLock { _ in
            // While other writers are locked out, there are no commits in between: the number is current.
            guard let store, !store.connection.isInTransaction || store.locksOutWriters else { return nil }
            // If this fails, the next reader gets the error.
            return try? store.connection.integer("PRAGMA data_version")
        }
    }
}
