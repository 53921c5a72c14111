import Dispatch
import Foundation
import SQLiteConnection

/// Tells a coordinator when others have changed a store's file.
final class RemoteChangeDetection: @unchecked Sendable {
    // @unchecked Sendable: `watcher` is set once before anyone else has the object; `version` belongs to the lock of the
    // coordinator, as the connection does; `round` to `queue`.
    private weak var store: SQLiteStore?
    private let queue = DispatchQueue(label: "RemoteChangeDetection")
    private var watcher: StoreWatcher?
    private var version: Int64
    /// Counts the writes that were heard of: looking again after one of them ends when the next one comes.
    private var round = 0

    /// When to look once more after a write that has changed nothing yet, in milliseconds: a log is written before the index that
    /// makes what is in it visible.
    private static let delays = [2, 10, 50, 250]

    /// - Parameter version: SQLite's `data_version` of the connection, which grows when others commit.
    init(_ store: SQLiteStore, _ url: URL, version: Int64) {
        self.store = store
        self.version = version
        watcher = StoreWatcher(url, on: queue) { [weak self] in self?.hear() }
    }

    /// Stops watching.
    func cancel() { watcher?.cancel() }

    private func hear() {
        round += 1
        look(Self.delays[...], round)
    }

    private func look(_ delays: ArraySlice<Int>, _ round: Int) {
        guard round == self.round, let store, let coordinator = store.persistentStoreCoordinator else { return }
        let isChanged = coordinator.withLock { () -> Bool in
            guard let opened = store.opened, !opened.connection.isInTransaction,
                // A store that cannot be read now tells so to whoever reads it next.
                let now = try? opened.connection.integer("PRAGMA data_version"), now != version
            else { return false }
            version = now
            return true
        }
        if isChanged { return coordinator.announceChange(of: store) }
        guard let delay = delays.first else { return }
        queue.asyncAfter(deadline: .now() + .milliseconds(delay)) { [weak self] in self?.look(delays.dropFirst(), round)
        }
    }
}
