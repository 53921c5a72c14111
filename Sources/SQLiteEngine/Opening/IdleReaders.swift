import Foundation
import SQLiteConnection

/// A store as it was at one moment: a reader in a transaction of its own, which ends when this object is released.
final class PinnedReader {
    private(set) var store: OpenStore
    private let idle: IdleReaders

    init(_ store: OpenStore, from idle: IdleReaders) { (self.store, self.idle) = (store, idle) }

    deinit {
        // If rows are still being read, the reading holds the reader alone, and closes it.
        if isKnownUniquelyReferenced(&store) { idle.give(store) }
    }
}

/// Unused readers of a store, kept because opening one takes ten times as long as a small reading with it.
final class IdleReaders: @unchecked Sendable {
    // @unchecked Sendable: the lock guards the readers. A reader in here is unused, and is passed from one user to the
    // next.

    /// Few programs read more states at once, and each reader keeps files open and pages in memory.
    private static let limit = 4

    private let lock = NSLock()
    private var readers: [OpenStore] = []
    private var isClosed = false

    /// The reader that was used last.
    func take() -> OpenStore? { lock.withLock { readers.popLast() } }

    /// Takes a reader back, ending its transaction, so that the log can be moved into the file.
    ///
    /// - Parameter reader: a reader that only the caller holds.
    func give(_ reader: OpenStore) {
        guard (try? reader.connection.rollback()) != nil, !reader.connection.isInTransaction else { return }
        lock.withLock {
            if !isClosed, readers.count < Self.limit { readers.append(reader) }
        }
    }

    /// Closes all readers, and those that are returned later.
    func close() {
        // They are released outside the lock.
        _ = lock.withLock {
            defer { readers = [] }
            isClosed = true
            return readers
        }
    }
}
