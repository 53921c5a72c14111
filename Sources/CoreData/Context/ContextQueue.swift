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

    private static var isOnMainQueue: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: main) == true }
    private static let mainIdentity = ObjectIdentifier(DispatchQueue.main)

    private var identity: ObjectIdentifier { isMainQueue ? Self.mainIdentity : ObjectIdentifier(self) }

    /// Whether the caller runs on the queue, or on one that this queue waits for.
    var isCurrent: Bool {
        if isMainQueue, Self.isOnMainQueue { return true }
        return HeldQueues.current?.contains(identity) ?? false
    }

    /// Runs a block on the queue and waits for it; at once when the caller is on the queue already.
    func sync(_ block: () -> Void) {
        if isCurrent { return block() }
        var held = HeldQueues.current
        if !isMainQueue, Self.isOnMainQueue { held = HeldQueues(Self.mainIdentity, and: held) }
        let holding = HeldQueues(identity, and: held)
        queue.sync { holding.run(block) }
    }

    /// Runs a block on the queue later.
    func async(_ block: @escaping () -> Void) {
        // The block goes to one queue and is run there once: nobody shares it.
        let transferred = Transferred(block)
        let identity = identity
        queue.async { HeldQueues(identity, and: nil).run(transferred.value) }
    }
}

/// A value that one thread hands to another and does not touch again.
struct Transferred<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
