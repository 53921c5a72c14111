import Foundation

/// The queues that the running code holds: the one that runs it, and those whose blocks wait for it.
///
/// A block that waits for another queue lends its own queue to the code that runs there, since no other code can run
/// on it meanwhile. A main queue that waits for a child context thereby lets the child read its parent on the main
/// queue.
package final class HeldQueues {
    private let queue: ObjectIdentifier
    private let others: HeldQueues?
    /// The queue that the code has begun to hold meanwhile, and who has that queue.
    private var later: (queue: ObjectIdentifier, user: AnyObject)?

    package init(_ queue: ObjectIdentifier, and others: HeldQueues?) {
        self.queue = queue
        self.others = others
    }

    package func contains(_ wanted: ObjectIdentifier) -> Bool {
        var held: HeldQueues? = self
        while let current = held {
            if current.queue == wanted || current.later?.queue == wanted { return true }
            held = current.others
        }
        return false
    }

    /// All of them.
    package var all: [ObjectIdentifier] {
        [queue] + (later.map { [$0.queue] } ?? []) + (others?.all ?? [])
    }

    /// Makes the running code hold one more queue, on which nothing else may run meanwhile, for `user`.
    package func hold(_ queue: ObjectIdentifier, for user: AnyObject) { later = (queue, user) }

    /// Who has the queue that the calling code has begun to hold.
    package static var user: AnyObject? {
        var held = current
        while let one = held {
            if let later = one.later { return later.user }
            held = one.others
        }
        return nil
    }

    // Kept by thread, since blocks do not change threads. A task-local value would be inherited by tasks for which
    // no block waits.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The queues that the calling code holds.
    package static var current: HeldQueues? {
        // Unretained: `run` keeps the object alive as long as it is set.
        pthread_getspecific(key).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs a block that holds these queues.
    package func run<Result>(_ block: () throws -> Result) rethrows -> Result {
        let former = pthread_getspecific(Self.key)
        pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
        defer { pthread_setspecific(Self.key, former) }
        return try withExtendedLifetime(self) { try block() }
    }
}
