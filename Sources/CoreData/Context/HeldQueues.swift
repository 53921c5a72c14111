import Foundation

/// The queues that the running code is on: the one that runs it, and those whose blocks wait for it.
///
/// A block that waits for another queue lends its own to what runs there: nobody else can be on it meanwhile. So a main
/// queue that waits for a child context lets the child read its parent on the main queue.
final class HeldQueues {
    private let queue: ObjectIdentifier
    private let others: HeldQueues?

    init(_ queue: ObjectIdentifier, and others: HeldQueues?) {
        self.queue = queue
        self.others = others
    }

    func contains(_ wanted: ObjectIdentifier) -> Bool {
        var held: HeldQueues? = self
        while let current = held {
            if current.queue == wanted { return true }
            held = current.others
        }
        return false
    }

    /// All of them.
    var all: [ObjectIdentifier] { [queue] + (others?.all ?? []) }

    // Kept by thread, since blocks do not change threads; a task-local value would be passed on to tasks, which are not
    // waited for.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// What the calling code holds.
    static var current: HeldQueues? {
        // Unretained: `run` keeps the object alive as long as it is set.
        pthread_getspecific(key).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs a block that holds these queues.
    func run(_ block: () -> Void) {
        let former = pthread_getspecific(Self.key)
        pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
        defer { pthread_setspecific(Self.key, former) }
        withExtendedLifetime(self) { block() }
    }
}
