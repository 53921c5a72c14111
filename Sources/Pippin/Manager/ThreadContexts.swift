package import CoreData

/// A context for each thread, which lives as long as its thread and this cache.
package final class ThreadContexts: Sendable {
    private let contexts = Locked<[ObjectIdentifier: NSManagedObjectContext]>([:])

    /// All contexts of the cache.
    package var all: [NSManagedObjectContext] { contexts.withLock { Array($0.values) } }

    /// The current thread's context; it is made if there is none yet.
    package func current(make: () -> NSManagedObjectContext) -> NSManagedObjectContext {
        let thread = Thread.current.threadDictionary
        if let entry = thread[key] as? ThreadEntry, let context = context(of: entry) { return context }
        let context = make()
        let entry = ThreadEntry(owner: self)
        contexts.withLock { $0[ObjectIdentifier(entry)] = context }
        thread[key] = entry
        return context
    }

    private var key: String { "Pippin.ThreadContexts.\(ObjectIdentifier(self).hashValue)" }

    private func context(of entry: ThreadEntry) -> NSManagedObjectContext? {
        contexts.withLock { $0[ObjectIdentifier(entry)] }
    }

    fileprivate func forget(_ entry: ObjectIdentifier) {
        contexts.withLock { _ = $0.removeValue(forKey: entry) }
    }
}

/// An entry in a thread's dictionary, released with the thread, which then releases its context. The cache holds the
/// context itself, so that no thread keeps a store open after its manager is gone.
private final class ThreadEntry {
    private weak var owner: ThreadContexts?

    init(owner: ThreadContexts) { self.owner = owner }

    deinit { owner?.forget(ObjectIdentifier(self)) }
}
