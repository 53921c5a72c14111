import Foundation

/// Runs one write at a time. Between looking a record up and inserting it, no other write of the manager can intervene.
package final class WriteQueue: Sendable {
    private let queue = DispatchQueue(label: "Pippin.writes")

    /// The queues that are running the write which contains the current code: a write within a write need not wait.
    @TaskLocal private static var entered: Set<ObjectIdentifier> = []

    package func sync<Result>(_ work: () throws -> Result) rethrows -> Result {
        guard !Self.entered.contains(ObjectIdentifier(self)) else { return try work() }
        return try queue.sync(execute: work)
    }

    package func async<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result { try work() }) }
        }
    }

    /// Marks `work` as a part of this queue's write, on any thread.
    package func entering<Result>(_ work: () throws -> Result) rethrows -> Result {
        try Self.$entered.withValue(Self.entered.union([ObjectIdentifier(self)]), operation: work)
    }
}
