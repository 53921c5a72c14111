import CoreData
import Pippin

extension PersistenceManager {
    /// A new context with a queue of its own, for longer use: it merges what other contexts save, and the main context
    /// merges what it saves.
    public func backgroundContext() -> NSManagedObjectContext {
        let context = makeWorker()
        context.automaticallyMergesChangesFromParent = true
        contexts.background.add(context)
        return context
    }

    /// A new context whose saves go into another one.
    ///
    /// - Parameters:
    ///   - parent: the context that its saves go to, such as the main context.
    ///   - concurrencyType: by default, a queue of its own.
    ///   - mergePolicy: the merge policy of its saves; without one, the manager's.
    /// - Returns: the context.
    public func childContext(
        of parent: NSManagedObjectContext,
        concurrencyType: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType,
        mergePolicy: NSMergePolicy? = nil
    ) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: concurrencyType)
        context.parent = parent
        context.mergePolicy = mergePolicy ?? contextPolicy
        return context
    }

    /// Saves a context, then its parent, and so on up to the store.
    ///
    /// - Parameter context: the context. Other changes of its parents are saved too.
    /// - Throws: ``PersistenceError``. The contexts below the failing one have then been saved into their parents.
    public func saveToStore(_ context: NSManagedObjectContext) async throws {
        var next: NSManagedObjectContext? = context
        while let current = next {
            try await perform(in: current) { try self.save($0) }
            next = current.parent
        }
    }

    /// Saves a context up to the store, as the `async` form does.
    ///
    /// - Parameters:
    ///   - context: the context.
    ///   - completion: called on the main thread, with the error if there was one.
    public func saveToStore(
        _ context: NSManagedObjectContext, completion: @escaping @MainActor @Sendable ((any Error)?) -> Void
    ) {
        Task {
            do {
                try await saveToStore(context)
                await completion(nil)
            } catch {
                await completion(error)
            }
        }
    }
}

/// Adopted by a screen that receives the app's manager from the previous one.
///
/// ```swift
/// if let next = segue.destination as? any PersistenceManagerSettable { next.persistenceManager = persistenceManager }
/// ```
public protocol PersistenceManagerSettable: AnyObject {
    /// The app's manager.
    var persistenceManager: PersistenceManager? { get set }
}

extension PersistenceManager {
    /// The main thread's context, for reading. It merges what the workers save.
    public var mainContext: NSManagedObjectContext { container.viewContext }

    /// A new context with a queue of its own, for short work: change, save, release.
    ///
    /// - Returns: a new context, which does not merge the saves of others.
    public func newWorkerContext() -> NSManagedObjectContext { makeWorker() }

    /// The current thread's context, for reading: the main context on the main thread and queue; elsewhere a context
    /// that is made at first use and kept as long as the thread.
    ///
    /// - Returns: the context, which merges what others save.
    public func contextForThread() -> NSManagedObjectContext {
        guard !MainQueue.isCurrent else { return mainContext }
        return contexts.ofThreads.current {
            let context = makeWorker()
            context.automaticallyMergesChangesFromParent = true
            return context
        }
    }
}
