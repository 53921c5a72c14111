import Dispatch
import Foundation
import StoreSession

/// The queue of a context, which knows whether the caller is on it.
final class ContextQueue: Sendable {
    private let queue: DispatchQueue
    /// Whether changes are processed in a later turn of the main queue, rather than at the end of a block.
    let isMainQueue: Bool

    init(_ type: NSManagedObjectContextConcurrencyType) {
        isMainQueue = type == .mainQueueConcurrencyType
        queue = isMainQueue ? .main : DispatchQueue(label: "NSManagedObjectContext")
    }

    private var identity: ObjectIdentifier { isMainQueue ? MainQueue.identity : ObjectIdentifier(self) }

    /// Whether the caller runs on the queue, or on a queue for which this queue waits.
    var isCurrent: Bool {
        if isMainQueue, MainQueue.isCallers { return true }
        return HeldQueues.current?.contains(identity) ?? false
    }

    /// The queues that the caller holds.
    private var heldByCaller: HeldQueues? {
        let held = HeldQueues.current
        return !isMainQueue && MainQueue.isCallers ? HeldQueues(MainQueue.identity, and: held) : held
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

    /// Lets the calling code, which runs with these queues, use the queue as if it ran on it, until `giveBack()`.
    func lend(to held: HeldQueues, for user: AnyObject) {
        queue.suspend()
        held.hold(identity, for: user)
    }

    /// Ends `lend(to:for:)`.
    func giveBack() { queue.resume() }

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
