import Foundation
import SQLiteConnection

/// A store as it was at one moment, for those who read that: a reader in a transaction of its own, which ends with this object.
final class PinnedReader {
    private(set) var store: OpenStore
    private let idle: IdleReaders

    init(_ store: OpenStore, from idle: IdleReaders) { (self.store, self.idle) = (store, idle) }

    deinit {
        // What still goes through rows has the reader to itself, and closes it.
        if isKnownUniquelyReferenced(&store) { idle.give(store) }
    }
}

/// Readers of a store that nobody uses: to open one takes ten times as long as a small reading with it.
final class IdleReaders: @unchecked Sendable {
    // @unchecked Sendable: the lock guards the readers. One that lies here is nobody's, and goes from one user to the next.

    /// Few programs read more states at once, and each keeps files open and pages in memory.
    private static let limit = 4

    private let lock = NSLock()
    private var readers: [OpenStore] = []
    private var isClosed = false

    /// The reader that was used last.
    func take() -> OpenStore? { lock.withLock { readers.popLast() } }

    /// Takes a reader back, whose transaction ends: the log may be moved into the file.
    ///
    /// - Parameter reader: a reader that the caller alone has.
    func give(_ reader: OpenStore) {
        guard (try? reader.connection.rollback()) != nil, !reader.connection.isInTransaction else { return }
        lock.withLock {
            if !isClosed, readers.count < Self.limit { readers.append(reader) }
        }
    }

    /// Closes all; those that are given back from now on are closed, too.
    func close() {
        // They are let go without the lock.
        _ = lock.withLock {
            defer { readers = [] }
            isClosed = true
            return readers
        }
    }
}
