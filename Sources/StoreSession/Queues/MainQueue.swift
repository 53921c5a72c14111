import Dispatch
import Foundation

/// The main queue, as contexts and managers know it.
package enum MainQueue {
    // Once a program waits in dispatchMain(), as one with an async main does, the main queue may run on any thread.
    private static let key = Key()
    private static let mark: Void = DispatchQueue.main.setSpecific(key: key.key, value: true)

    /// The key of the mark, which Dispatch compares by its address.
    private struct Key: @unchecked Sendable {
        // @unchecked Sendable: immutable; with Swift 6.0 the class is not known to be safe.
        let key = DispatchSpecificKey<Bool>()
    }

    package static let identity = ObjectIdentifier(DispatchQueue.main)

    /// Whether the caller is on the main queue. The main thread does not always serve it: in a Linux program with an
    /// asynchronous `main`, other threads take turns at it.
    package static var isCallers: Bool {
        _ = mark
        return MainThread.isCurrent || DispatchQueue.getSpecific(key: key.key) == true
    }

    /// Whether the caller is on the main queue, or on a queue for which the main queue waits.
    package static var isCurrent: Bool { isCallers || HeldQueues.current?.contains(identity) ?? false }

    /// Waits for work on another queue. A caller on the main queue lends it to the work, which may use its contexts.
    package static func waiting<Result>(
        for queue: DispatchQueue, _ work: () throws -> Result
    ) rethrows -> Result {
        guard isCallers else { return try queue.sync(execute: work) }
        let held = HeldQueues(identity, and: HeldQueues.current)
        return try queue.sync { try held.run(work) }
    }
}

/// Whether the caller is on the main thread. Foundation asks the kernel each time.
private enum MainThread {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    static var isCurrent: Bool {
        // The answer never changes for a thread, so it is kept in the thread as a pointer that is not an address: 2 is
        // yes, 1 is no.
        if let known = pthread_getspecific(key) { return UInt(bitPattern: known) == 2 }
        let isMain = Thread.isMainThread
        pthread_setspecific(key, UnsafeMutableRawPointer(bitPattern: isMain ? 2 : 1 as UInt))
        return isMain
    }
}
