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
    // @unchecked Sendable: see above; one thread at a time has it.
    let value: Value
    init(_ value: Value) { self.value = value }
}

/// The process-wide record of which code waits for which context's queue.
///
/// A child asks its parent on the parent's queue. If that queue is itself waiting for the child's, as a main queue does
/// in the child's `performAndWait`, this would be a deadlock: instead, the waiting queue is lent to the child.
final class QueueWaits: @unchecked Sendable {
    // @unchecked Sendable: everything is accessed with the condition locked.
    static let shared = QueueWaits()

    private let condition = NSCondition()
    private var waiters: [ObjectIdentifier: [Waiter]] = [:]
    /// The number of blocks of each private queue, including the running one.
    private var loads: [ObjectIdentifier: Int] = [:]
    /// Idle queues that a child uses on its own thread; blocks submitted to them begin when it is done.
    private var borrowed: Set<ObjectIdentifier> = []

    /// A block that waits for a queue, and the queues that it holds meanwhile.
    final class Waiter {
        let queue: ObjectIdentifier
        let held: HeldQueues?

        init(for queue: ObjectIdentifier, holding held: HeldQueues?) { (self.queue, self.held) = (queue, held) }
    }

    /// A child's request to run code on its parent's queue. It is accessed with the condition locked, except for
    /// running it.
    final class Request {
        enum State { case waiting, running, done }
        var state = State.waiting
        let waiter: Waiter
        let run: () -> Void

        init(_ waiter: Waiter, _ run: @escaping () -> Void) { (self.waiter, self.run) = (waiter, run) }
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        condition.lock()
        defer { condition.unlock() }
        return body()
    }

    // MARK: Blocks of a queue

    /// Records a block that is about to be submitted to a queue.
    func add(_ waiter: Waiter) {
        locked {
            loads[waiter.queue, default: 0] += 1
            guard waiter.held != nil else { return }
            waiters[waiter.queue, default: []].append(waiter)
            condition.broadcast()
        }
    }

    /// Called on the queue when it is the block's turn; waits until no thread borrows the queue.
    func begin(_ waiter: Waiter) {
        locked {
            while borrowed.contains(waiter.queue) { condition.wait() }
            remove(waiter)
        }
    }

    func end(_ waiter: Waiter) { locked { unload(waiter.queue) } }

    private func remove(_ waiter: Waiter) {
        guard waiter.held != nil else { return }
        waiters[waiter.queue]?.removeAll { $0 === waiter }
        if waiters[waiter.queue]?.isEmpty ?? false { waiters[waiter.queue] = nil }
    }

    private func unload(_ queue: ObjectIdentifier) {
        let load = (loads[queue] ?? 0) - 1
        loads[queue] = load > 0 ? load : nil
    }

    // MARK: Borrowing and lending

    /// Borrows an idle private queue; `giveBack` ends that.
    func borrow(_ queue: ObjectIdentifier) -> Bool {
        locked {
            guard loads[queue] == nil else { return false }
            loads[queue] = 1
            borrowed.insert(queue)
            return true
        }
    }

    func giveBack(_ queue: ObjectIdentifier) {
        locked {
            borrowed.remove(queue)
            unload(queue)
            condition.broadcast()
        }
    }

    /// Whether a queue waits for code that holds these queues, so that it cannot continue before that code does.
    private func lends(_ queue: ObjectIdentifier, to held: HeldQueues?) -> Bool {
        guard let held, !waiters.isEmpty else { return false }
        var known = Set(held.all)
        var rest = held.all
        while let next = rest.popLast() {
            for lender in (waiters[next] ?? []).flatMap({ $0.held?.all ?? [] }) {
                if lender == queue { return true }
                if known.insert(lender).inserted { rest.append(lender) }
            }
        }
        return false
    }

    // MARK: Requests

    /// Runs a request on its queue, unless its sender has run it.
    func serve(_ request: Request) {
        let isWanted = locked {
            while request.state == .waiting, borrowed.contains(request.waiter.queue) { condition.wait() }
            guard request.state == .waiting else { return false }
            request.state = .running
            remove(request.waiter)
            return true
        }
        if isWanted { request.run() }
        locked {
            if isWanted { request.state = .done }
            unload(request.waiter.queue)
            condition.broadcast()
        }
    }

    /// Waits for a request, and runs it here if its queue begins to wait for its sender.
    func wait(for request: Request) {
        let isLent = locked {
            while request.state != .done {
                if request.state == .waiting, lends(request.waiter.queue, to: request.waiter.held) {
                    request.state = .running
                    remove(request.waiter)
                    return true
                }
                condition.wait()
            }
            return false
        }
        if isLent { request.run() }
    }
}

/// The queue to which a context is confined.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// The thread that made it. Deprecated by Apple; treated as a private queue that is not checked.
    case confinementConcurrencyType = 0
    /// A private queue of its own.
    case privateQueueConcurrencyType = 1
    /// The main queue.
    case mainQueueConcurrencyType = 2
}
