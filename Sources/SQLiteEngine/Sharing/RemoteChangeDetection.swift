import Dispatch
import Foundation
import SQLiteConnection

/// Detects changes of a store's file by others.
final class RemoteChangeDetection: @unchecked Sendable {
    // @unchecked Sendable: `watcher` is set once before the object is shared; `version` belongs to the thread
    // that uses the engine, as the connection does; `round` to `queue`.
    private let counting: () -> Int64?
    private let whileIdle: @Sendable (() -> Bool) -> Bool?
    private let handler: @Sendable () -> Void
    /// One queue for all stores of the process: with a queue for each, writes to a folder with many stores would create
    /// a thread for each. Code on this queue never waits.
    private static let queue = DispatchQueue(label: "RemoteChangeDetection")
    private var queue: DispatchQueue { Self.queue }
    private var watcher: StoreWatcher?
    private var version: Int64
    /// Counts the reported writes: the repeated checks after one of them end when the next one comes.
    private var round = 0

    /// When to check again after a write that has changed nothing yet, in milliseconds: a log is written before the
    /// index that makes its content visible.
    private static let delays = [2, 10, 50, 250]
    /// When to try again while another thread uses the engine, in milliseconds.
    private static let busyDelay = 20

    /// - Parameters:
    ///   - url: the location of the store.
    ///   - version: the present value of `counting`.
    ///   - counting: returns SQLite's `data_version` of the connection, which changes when others commit; nil while it
    ///     is unknown. It is called within `whileIdle`.
    ///   - whileIdle: runs a check unless another thread uses the engine; otherwise it returns `nil`.
    ///   - handler: called after others have changed the store.
    init(
        _ url: URL, version: Int64, counting: @escaping () -> Int64?,
        whileIdle: @escaping @Sendable (() -> Bool) -> Bool?,
        handler: @escaping @Sendable () -> Void
    ) {
        (self.version, self.counting, self.whileIdle, self.handler) = (version, counting, whileIdle, handler)
        watcher = StoreWatcher(url, on: queue) { [weak self] in self?.fileDidChange() }
    }

    /// Stops watching.
    func cancel() { watcher?.cancel() }

    /// Runs work that writes much to the store, without a report of each write.
    func withoutReports<Result>(_ work: () throws -> Result) rethrows -> Result {
        guard let watcher else { return try work() }
        return try watcher.withoutReports(work)
    }

    private func fileDidChange() {
        round += 1
        look(Self.delays[...], round)
    }

    private func look(_ delays: ArraySlice<Int>, _ round: Int) {
        guard round == self.round else { return }
        let isChanged = whileIdle {
            guard let now = counting(), now != version else { return false }
            version = now
            return true
        }
        guard let isChanged else { return look(delays, round, after: Self.busyDelay) }
        if isChanged { return handler() }
        if let delay = delays.first { look(delays.dropFirst(), round, after: delay) }
    }

    private func look(_ delays: ArraySlice<Int>, _ round: Int, after delay: Int) {
        queue.asyncAfter(deadline: .now() + .milliseconds(delay)) { [weak self] in self?.look(delays, round) }
    }
}
