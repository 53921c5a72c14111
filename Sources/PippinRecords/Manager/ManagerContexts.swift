import CoreData
import Pippin
import StoreSession

extension PersistenceManager {
    /// Core Data's container, for what structs cannot express. It has the manager's store, also one that is open.
    public var container: NSPersistentContainer { contexts.container }

    /// The manager's contexts, made when they are first asked for.
    var contexts: ManagerContexts {
        if let made = keptContexts.withLock({ $0 }) as? ManagerContexts { return made }
        // The session's lock comes first, as where a container is made.
        return session.withLock {
            keptContexts.withLock { kept in
                if let made = kept as? ManagerContexts { return made }
                let new = ManagerContexts(objectContainer, contextPolicy)
                kept = new
                return new
            }
        }
    }
}

/// The contexts of a manager that are kept: the main one, those of threads, and those that were handed out for longer
/// use.
final class ManagerContexts: KeptContexts {
    let container: NSPersistentContainer
    let ofThreads = ThreadContexts()
    let background = WeakContexts()

    /// - Parameters:
    ///   - container: the manager's container.
    ///   - policy: the merge policy of its main context.
    init(_ container: NSPersistentContainer, _ policy: NSMergePolicy) {
        self.container = container
        container.viewContext.mergePolicy = policy
        container.viewContext.automaticallyMergesChangesFromParent = true
    }

    private var all: [NSManagedObjectContext] { [container.viewContext] + ofThreads.all + background.all }

    func reset() {
        for context in all { context.perform { context.reset() } }
    }

    func merge(updated: [NSManagedObjectID], deleted: [NSManagedObjectID]) {
        for context in all {
            let isOnQueue = context.concurrencyType == .mainQueueConcurrencyType && MainQueue.isCurrent
            // Without waiting: a queue that waits for this one would wait for ever.
            if isOnQueue {
                context.merge(updated: updated, deleted: deleted)
            } else {
                context.perform { context.merge(updated: updated, deleted: deleted) }
            }
        }
    }
}

extension NSManagedObjectContext {
    /// Merges changes that were made in the store.
    func merge(updated: [NSManagedObjectID] = [], deleted: [NSManagedObjectID] = []) {
        let changes: [AnyHashable: Any] = [NSUpdatedObjectsKey: updated, NSDeletedObjectsKey: deleted]
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [self])
    }
}

/// Weak references to contexts that others own.
final class WeakContexts: Sendable {
    private struct Entry {
        weak var context: NSManagedObjectContext?
    }

    private let entries = Locked<[Entry]>([])

    /// The contexts that still exist.
    var all: [NSManagedObjectContext] { entries.withLock { $0.compactMap(\.context) } }

    func add(_ context: NSManagedObjectContext) {
        entries.withLock { entries in
            entries.removeAll { $0.context == nil }
            entries.append(Entry(context: context))
        }
    }
}

/// A context for each thread, which lives as long as its thread and this cache.
final class ThreadContexts: Sendable {
    private let contexts = Locked<[ObjectIdentifier: NSManagedObjectContext]>([:])

    /// All contexts of the cache.
    var all: [NSManagedObjectContext] { contexts.withLock { Array($0.values) } }

    /// The current thread's context; it is made if there is none yet.
    func current(make: () -> NSManagedObjectContext) -> NSManagedObjectContext {
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

extension StoreLocation {
    /// A store given by a description: its type, options, whether it is read-only, and its migration.
    ///
    /// - Parameter description: the description, which is copied.
    /// - Returns: the location.
    public static func description(_ description: NSPersistentStoreDescription) -> StoreLocation {
        // It may be of a type that keeps objects.
        _ = PersistenceManager.usesObjects
        return StoreLocation(description)
    }
}
