import Foundation

/// What a store will answer to an asynchronous request, and how far it has come.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
    // @unchecked Sendable: `operationError` and what subclasses add change on the context's queue only; the rest is immutable or
    // safe to share.

    private let context: NSManagedObjectContext
    private let storedProgress: Progress
    private var error: (any Error)?

    init(_ context: NSManagedObjectContext, progress: Progress) {
        self.context = context
        storedProgress = progress
        super.init()
    }

    /// The context that ran the request.
    open var managedObjectContext: NSManagedObjectContext { context }

    /// Why there is no final result: what the store threw, or `NSUserCancelledError`. Read it on the context's queue.
    open var operationError: (any Error)? { error }

    /// How far the request has come; a part of the progress that was current when the request was run.
    open var progress: Progress? { storedProgress }

    /// Gives the request up, unless it has its result already. The completion block runs all the same.
    open func cancel() { storedProgress.cancel() }

    final func fail(_ error: any Error) { self.error = error }
}
