import StoreSession
import Foundation

/// Runs one write at a time. Between looking a record up and inserting it, no other write of the manager can intervene.
package final class WriteQueue: Sendable {
    private let queue = DispatchQueue(label: "Pippin.writes")
    /// Held by the write whose turn it is.
    private let turn = NSLock()
    /// How many writes the queue has, the running one included.
    private let queued = Locked(0)

    /// The queues that are running the write which contains the current code: a write within a write need not wait.
    @TaskLocal private static var entered: Set<ObjectIdentifier> = []

    package func sync<Result>(_ work: () throws -> Result) rethrows -> Result {
        guard !Self.entered.contains(ObjectIdentifier(self)) else { return try work() }
        queued.withLock { $0 += 1 }
        defer { queued.withLock { $0 -= 1 } }
        return try MainQueue.waiting(for: queue) { try inTurn(work) }
    }

    package func async<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        queued.withLock { $0 += 1 }
        defer { queued.withLock { $0 -= 1 } }
        return try await Cancellation.running(on: queue) { try self.inTurn(work) }
    }

    /// Runs work of the queue.
    private func inTurn<Result>(_ work: () throws -> Result) rethrows -> Result {
        turn.lock()
        defer { turn.unlock() }
        return try work()
    }

    /// Runs work on this thread where no other write runs or waits.
    ///
    /// - Returns: what the work returns; nil where it was not run.
    package func runIfFree<Result>(_ work: () throws -> Result) rethrows -> Result? {
        guard queued.withLock({ $0 == 0 }), turn.try() else { return nil }
        defer { turn.unlock() }
        return try work()
    }

    /// Marks `work` as a part of this queue's write, on any thread.
    package func entering<Result>(_ work: () throws -> Result) rethrows -> Result {
        try Self.$entered.withValue(Self.entered.union([ObjectIdentifier(self)]), operation: work)
    }
}
