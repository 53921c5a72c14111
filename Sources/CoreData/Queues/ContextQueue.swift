import Dispatch
import Foundation

/// The queue of a context, which knows whether the caller is on it.
final class ContextQueue: Sendable {
    private let queue: DispatchQueue
    /// Whether changes are processed in a later turn of the main queue, rather than at the end of a block.
    let isMainQueue: Bool

    init(_ type: NSManagedObjectContextConcurrencyType) {
        isMainQueue = type == .mainQueueConcurrencyType
        queue = isMainQueue ? .main : DispatchQueue(label: "NSManagedObjectContext")
        if isMainQueue { _ = Self.markMainQueue }
    }

    // Once a program waits in dispatchMain(), as one with an async main does, the main queue may run on any thread.
    private static let main = DispatchSpecificKey<Bool>()
    private static let markMainQueue: Void = DispatchQueue.main.setSpecific(key: main, value: true)

    private static var isOnMainQueue: Bool { MainThread.isCurrent || DispatchQueue.getSpecific(key: main) == true }

    /// Whether the caller is on the main queue.
    static var isCallerOnMainQueue: Bool {
        _ = markMainQueue
        return isOnMainQueue
    }

    private static let mainIdentity = ObjectIdentifier(DispatchQueue.main)

    /// Whether the caller is on the main queue, or holds it.
    static var holdsMainQueue: Bool {
        _ = markMainQueue
        return isOnMainQueue || HeldQueues.current?.contains(mainIdentity) ?? false
    }

    /// The queues that a caller on the main queue holds; nil for another caller.
    fileprivate static var mainQueueOfCaller: HeldQueues? {
        _ = markMainQueue
        return isOnMainQueue ? HeldQueues(mainIdentity, and: HeldQueues.current) : nil
    }

    private var identity: ObjectIdentifier { isMainQueue ? Self.mainIdentity : ObjectIdentifier(self) }

    /// Whether the caller runs on the queue, or on a queue for which this queue waits.
    var isCurrent: Bool {
        if isMainQueue, Self.isOnMainQueue { return true }
        return HeldQueues.current?.contains(identity) ?? false
    }

    /// The queues that the caller holds.
    private var heldByCaller: HeldQueues? {
        let held = HeldQueues.current
        return !isMainQueue && Self.isOnMainQueue ? HeldQueues(Self.mainIdentity, and: held) : held
    }

    /// Runs a block on the queue and waits for it; immediately if the caller is on the queue already.
    func sync(_ block: () -> Void) {
        if isCurrent { return block() }
        let held = heldByCaller
        let holding = HeldQueues(identity, and: held)
        let waits = QueueWaits.shared
        let waiter = QueueWaits.Waiter(for: identity, holding: held)
        waits.add(waiter)
        queue.sync {
            waits.begin(waiter)
            holding.run(block)
            waits.end(waiter)
        }
    }

    /// Answers a child's request on the queue while the child waits. The queue may itself be waiting for the child, or
    /// begin to.
    ///
    /// - Parameter block: code of this module that does not depend on its thread.
    func answer(_ block: @escaping () -> Void) {
        if isCurrent { return block() }
        let held = heldByCaller
        let holding = HeldQueues(identity, and: held)
        let waits = QueueWaits.shared
        if !isMainQueue, waits.borrow(identity) {
            holding.run(block)
            return waits.giveBack(identity)
        }
        let waiter = QueueWaits.Waiter(for: identity, holding: held)
        let request = QueueWaits.Request(waiter) { holding.run(block) }
        waits.add(waiter)
        // Whichever of the two threads marks the request first runs it.
        let transferred = Transferred(request)
        queue.async { waits.serve(transferred.value) }
        waits.wait(for: request)
    }

    /// Runs a block on the queue later, and releases it there.
    func async(_ block: @escaping () -> Void) {
        let work = HandedBlock(block)
        let waiter = Transferred(QueueWaits.Waiter(for: identity, holding: nil))
        let identity = identity
        QueueWaits.shared.add(waiter.value)
        queue.async {
            QueueWaits.shared.begin(waiter.value)
            HeldQueues(identity, and: nil).run { work.run() }
            QueueWaits.shared.end(waiter.value)
        }
    }
}

/// The main queue, as contexts know it.
package enum MainQueue {
    /// Whether the caller runs on the main queue, or on a queue for which that waits. The main thread does not always
    /// serve it: in a Linux program with an asynchronous `main`, other threads take turns at it.
    package static var isCurrent: Bool { ContextQueue.holdsMainQueue }

    /// Waits for work on another queue. A caller on the main queue lends it to the work, which may use its contexts.
    package static func waiting<Result>(
        for queue: DispatchQueue, _ work: () throws -> Result
    ) rethrows -> Result {
        guard let held = ContextQueue.mainQueueOfCaller else { return try queue.sync(execute: work) }
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

/// A block that one thread passes to another, which runs it once.
///
/// The objects captured by the block are released as soon as it has run. If they were released with the queue's own
/// block, this could happen on any queue, where a `deinit` that waits for the context would wait for ever.
final class HandedBlock: @unchecked Sendable {
    // @unchecked Sendable: one thread makes it, and the queue that receives it runs it, once.
    private var block: (() -> Void)?

    init(_ block: @escaping () -> Void) { self.block = block }

    func run() {
        let block = block
        self.block = nil
        block?()
    }
}

/// A value that one thread passes to another and does not use again.
struct Transferred<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
