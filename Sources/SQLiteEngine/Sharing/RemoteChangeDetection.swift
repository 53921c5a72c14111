import Dispatch
import Foundation
import SQLiteConnection

/// Tells when others have changed a store's file.
final class RemoteChangeDetection: @unchecked Sendable {
    // @unchecked Sendable: `watcher` is set once before anyone else has the object; `version` belongs to the thread that uses
    // the engine, as the connection does; `round` to `queue`.
    private let counting: () -> Int64?
    private let asking: @Sendable (() -> Bool) -> Bool?
    private let heard: @Sendable () -> Void
    /// One for all stores of the process: a queue of its own for each would have a thread for each store whenever a folder with many of
    /// them is written to. What runs here waits for nobody.
    private static let queue = DispatchQueue(label: "RemoteChangeDetection")
    private var queue: DispatchQueue { Self.queue }
    private var watcher: StoreWatcher?
    private var version: Int64
    /// Counts the writes that were heard of: looking again after one of them ends when the next one comes.
    private var round = 0

    /// When to look once more after a write that has changed nothing yet, in milliseconds: a log is written before the index that
    /// makes what is in it visible.
    private static let delays = [2, 10, 50, 250]
    /// When to try again while somebody else asks the engine, in milliseconds.
    private static let busyDelay = 20

    /// - Parameters:
    ///   - url: where the store is.
    ///   - version: what `counting` gives now.
    ///   - counting: SQLite's `data_version` of the connection, which grows when others commit; nil while it cannot be told. Called
    ///     by `asking`.
    ///   - asking: runs a question unless somebody else asks the engine: `nil` then.
    ///   - heard: called after somebody has changed the store.
    init(
        _ url: URL, version: Int64, counting: @escaping () -> Int64?,
        asking: @escaping @Sendable (() -> Bool) -> Bool?,
        heard: @escaping @Sendable () -> Void
    ) {
        (self.version, self.counting, self.asking, self.heard) = (version, counting, asking, heard)
        watcher = StoreWatcher(url, on: queue) { [weak self] in self?.hear() }
    }

    /// Stops watching.
    func cancel() { watcher?.cancel() }

    private func hear() {
        round += 1
        look(Self.delays[...], round)
    }

    private func look(_ delays: ArraySlice<Int>, _ round: Int) {
        guard round == self.round else { return }
        let isChanged = asking {
            guard let now = counting(), now != version else { return false }
            version = now
            return true
        }
        guard let isChanged else { return look(delays, round, after: Self.busyDelay) }
        if isChanged { return heard() }
        if let delay = delays.first { look(delays.dropFirst(), round, after: delay) }
    }

    private func look(_ delays: ArraySlice<Int>, _ round: Int, after delay: Int) {
        queue.asyncAfter(deadline: .now() + .milliseconds(delay)) { [weak self] in self?.look(delays, round) }
    }
}
