import Foundation

/// Who waits for which context's queue, in the whole process.
///
/// A child asks its parent on the parent's queue. Where that queue waits for the child's own at the same time, as a main
/// queue does in the child's `performAndWait`, neither would ever get on: the waiting one lends its queue to the child.
final class QueueWaits: @unchecked Sendable {
    // @unchecked Sendable: everything is used while the condition is locked.
    static let shared = QueueWaits()

    private let condition = NSCondition()
    private var waiters: [ObjectIdentifier: [Waiter]] = [:]
    /// How many blocks each private queue has, the running one included.
    private var loads: [ObjectIdentifier: Int] = [:]
    /// Idle queues that a child uses on its own thread; their blocks begin when it is done.
    private var borrowed: Set<ObjectIdentifier> = []

    /// A block that waits for a queue, and the queues that it holds meanwhile.
    final class Waiter {
        let queue: ObjectIdentifier
        let held: HeldQueues?

        init(for queue: ObjectIdentifier, holding held: HeldQueues?) { (self.queue, self.held) = (queue, held) }
    }

    /// What a child asks on its parent's queue. Used while the condition is locked, but for running it.
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

    /// Notes a block that is about to be given to a queue.
    func add(_ waiter: Waiter) {
        locked {
            loads[waiter.queue, default: 0] += 1
            guard waiter.held != nil else { return }
            waiters[waiter.queue, default: []].append(waiter)
            condition.broadcast()
        }
    }

    /// Called on the queue when the block's turn has come; waits until nobody borrows the queue.
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

    /// Takes a private queue that has nothing to do; `giveBack` ends that.
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

    /// Whether a queue waits for code that holds these queues: it cannot get on before that code does.
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

    /// Runs a request on its queue, unless its asker did so itself.
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

    /// Waits for a request; runs it here when its queue comes to wait for the asker.
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
