import Dispatch
import Foundation

/// The queue of a context, and the knowledge whether the caller is on it.
final class ContextQueue: Sendable {
    private let queue: DispatchQueue
    /// Whether changes are processed when the main queue gets to it, rather than at the end of a block.
    let isMainQueue: Bool

    init(_ type: NSManagedObjectContextConcurrencyType) {
        isMainQueue = type == .mainQueueConcurrencyType
        queue = isMainQueue ? .main : DispatchQueue(label: "NSManagedObjectContext")
        if isMainQueue { _ = Self.markMainQueue }
    }

    // Once a program waits in dispatchMain(), as one with an async main does, the main queue runs on any thread.
    private static let main = DispatchSpecificKey<Bool>()
    private static let markMainQueue: Void = DispatchQueue.main.setSpecific(key: main, value: true)

    private static var isOnMainQueue: Bool { MainThread.isCurrent || DispatchQueue.getSpecific(key: main) == true }
    private static let mainIdentity = ObjectIdentifier(DispatchQueue.main)

    private var identity: ObjectIdentifier { isMainQueue ? Self.mainIdentity : ObjectIdentifier(self) }

    /// Whether the caller runs on the queue, or on one that this queue waits for.
    var isCurrent: Bool {
        if isMainQueue, Self.isOnMainQueue { return true }
        return HeldQueues.current?.contains(identity) ?? false
    }

    /// The queues that the caller holds.
    private var heldByCaller: HeldQueues? {
        let held = HeldQueues.current
        return !isMainQueue && Self.isOnMainQueue ? HeldQueues(Self.mainIdentity, and: held) : held
    }

    /// Runs a block on the queue and waits for it; at once when the caller is on the queue already.
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

    /// Answers a child on the queue, while the child waits. The queue may wait for the child at the same time, or come to.
    ///
    /// - Parameter block: code of this module, which does not ask what thread it is on.
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
        // The one of the two threads that marks the request first runs it.
        let transferred = Transferred(request)
        queue.async { waits.serve(transferred.value) }
        waits.wait(for: request)
    }

    /// Runs a block on the queue later, and lets go of it there.
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

/// Whether the caller is on the main thread, which Foundation asks the kernel each time.
private enum MainThread {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    static var isCurrent: Bool {
        // A thread stays what it is: its answer is kept with it, as an address that is nothing's. 2 is yes, 1 is no.
        if let known = pthread_getspecific(key) { return UInt(bitPattern: known) == 2 }
        let isMain = Thread.isMainThread
        pthread_setspecific(key, UnsafeMutableRawPointer(bitPattern: isMain ? 2 : 1 as UInt))
        return isMain
    }
}

/// A block that one thread hands to another, which runs it once.
///
/// What the block kept alive goes as soon as it has run: not when the queue lets go of its own block, later, where nobody knows
/// on which queue that is, and a `deinit` that waits for the context would wait for ever.
final class HandedBlock: @unchecked Sendable {
    // @unchecked Sendable: one thread makes it, and the queue that it is given to runs it, once.
    private var block: (() -> Void)?

    init(_ block: @escaping () -> Void) { self.block = block }

    func run() {
        let block = block
        self.block = nil
        block?()
    }
}

/// A value that one thread hands to another and does not touch again.
struct Transferred<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
