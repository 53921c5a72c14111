import Foundation

/// The future answer to an asynchronous request, and its progress.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
    // @unchecked Sendable: `operationError` and what subclasses add only change on the context's queue; the rest is
    // immutable or safe to share.

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

    /// Why there is no final result: the store's error. Read it on the context's queue.
    open var operationError: (any Error)? { error }

    /// The progress of the request; a child of the progress that was current when the request was run.
    open var progress: Progress? { storedProgress }

    /// Cancels the request, unless it has its result already. The completion block is called all the same, with an
    /// empty result.
    open func cancel() { storedProgress.cancel() }

    final func fail(_ error: any Error) { self.error = error }
}
