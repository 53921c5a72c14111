import Dispatch
import Foundation

/// The queue of a context, and the knowledge whether the caller is on it.
final class ContextQueue: Sendable {
    private let queue: DispatchQueue
    private let isMain: Bool
    private static let current = DispatchSpecificKey<ObjectIdentifier>()

    init(_ type: NSManagedObjectContextConcurrencyType) {
        isMain = type == .mainQueueConcurrencyType
        queue = isMain ? .main : DispatchQueue(label: "NSManagedObjectContext")
        if isMain {
            _ = Self.markMainQueue
        } else {
            queue.setSpecific(key: Self.current, value: ObjectIdentifier(self))
        }
    }

    // Once a program waits in dispatchMain(), as one with an async main does, the main queue runs on any thread.
    private static let main = DispatchSpecificKey<Bool>()
    private static let markMainQueue: Void = DispatchQueue.main.setSpecific(key: main, value: true)

    /// Whether the caller runs on the queue.
    var isCurrent: Bool {
        if isMain { return Thread.isMainThread || DispatchQueue.getSpecific(key: Self.main) == true }
        return DispatchQueue.getSpecific(key: Self.current) == ObjectIdentifier(self)
    }

    /// Whether changes are processed when the main queue gets to it, rather than at the end of a block.
    var isMainQueue: Bool { isMain }

    /// Runs a block on the queue and waits for it; at once when the caller is on the queue already.
    func sync(_ block: () -> Void) {
        if isCurrent { block() } else { queue.sync(execute: block) }
    }

    /// Runs a block on the queue later.
    func async(_ block: @escaping () -> Void) {
        // The block goes to one queue and is run there once: nobody shares it.
        let transferred = Transferred(block)
        queue.async { transferred.value() }
    }
}

/// A value that one thread hands to another and does not touch again.
struct Transferred<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
