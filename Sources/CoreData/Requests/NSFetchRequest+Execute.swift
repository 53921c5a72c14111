import Foundation

extension NSFetchRequest: ImmediateFetch {
    func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let others: NSFetchRequestResultType = [
            .managedObjectIDResultType, .dictionaryResultType, .countResultType,
        ]
        guard ResultType.self is NSManagedObject.Type, !resultType.isDisjoint(with: others) else {
            return NSAsynchronousFetchResult(self, context, found: try context.fetch(self))
        }
        // A request of books may ask for their number, which is not a book.
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.take(from: self)
        return NSAsynchronousFetchResult(request, context, found: try context.fetch(request))
    }
}

/// The block to call with the result of an asynchronous fetch of any result type.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock =
    (NSAsynchronousFetchResult<any NSFetchRequestResult>) -> Void

/// A fetch that does not block its caller.
///
/// ```swift
/// let request = NSAsynchronousFetchRequest(fetchRequest: Person.fetchRequest()) { result in
///     show(result.finalResult ?? [])
/// }
/// try context.execute(request)
/// ```
///
/// The fetch runs later on the context's queue, and so does the completion block.
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
    private let fetch: NSFetchRequest<ResultType>
    private let typedBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - request: the fetch request.
    ///   - blk: called on the context's queue when the fetch has ended, successfully or not.
    public init(
        fetchRequest request: NSFetchRequest<ResultType>,
        completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
    ) {
        fetch = request
        typedBlock = blk
        super.init()
        affectedStoreObjects = request.affectedStoreObjects
    }

    /// The fetch request.
    open var fetchRequest: NSFetchRequest<ResultType> { fetch }

    /// Called when the fetch has ended, with a result of any type.
    open var completionBlock: NSPersistentStoreAsynchronousFetchResultCompletionBlock? {
        guard let typedBlock else { return nil }
        return { [self] erased in typedBlock(NSAsynchronousFetchResult(self, like: erased)) }
    }

    /// An estimate of the number of results, for the fetch's progress. The default is 0: unknown.
    open var estimatedResultCount = 0

    /// Returns a copy of the request.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the copy, which can be changed on its own.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSAsynchronousFetchRequest(fetchRequest: fetch, completionBlock: typedBlock)
        copy.affectedStoreObjects = affectedStoreObjects
        copy.estimatedResultCount = estimatedResultCount
        return copy
    }

    fileprivate func complete(_ result: NSAsynchronousFetchResult<ResultType>) { typedBlock?(result) }
}

/// The result of an asynchronous fetch.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult, @unchecked Sendable {
    // @unchecked Sendable: see the superclass.

    private let request: NSAsynchronousFetchRequest<ResultType>
    private var results: [ResultType]?

    init(_ request: NSAsynchronousFetchRequest<ResultType>, _ context: NSManagedObjectContext, progress: Progress) {
        self.request = request
        super.init(context, progress: progress)
    }

    /// The result of a fetch that has ended.
    init(_ request: NSFetchRequest<ResultType>, _ context: NSManagedObjectContext, found: [ResultType]) {
        self.request = NSAsynchronousFetchRequest(fetchRequest: request)
        results = found
        let progress = Progress(totalUnitCount: Int64(max(found.count, 1)))
        progress.completedUnitCount = progress.totalUnitCount
        super.init(context, progress: progress)
    }

    /// A result of this type, from one of another type.
    fileprivate init(
        _ request: NSAsynchronousFetchRequest<ResultType>,
        like other: NSAsynchronousFetchResult<any NSFetchRequestResult>
    ) {
        self.request = request
        results = other.finalResult?.compactMap { $0 as? ResultType }
        super.init(other.managedObjectContext, progress: other.progress ?? Progress(totalUnitCount: 1))
        if let error = other.operationError { fail(error) }
    }

    /// The request.
    open var fetchRequest: NSAsynchronousFetchRequest<ResultType> { request }

    /// The results; `nil` until the fetch has ended, and if it failed; none if it was cancelled. Read it on the
    /// context's queue.
    open var finalResult: [ResultType]? { results }

    /// Runs the fetch, on the context's queue.
    fileprivate func run() {
        let progress = progress ?? Progress(totalUnitCount: 1)
        do {
            let found = progress.isCancelled ? [] : try managedObjectContext.fetch(request.fetchRequest)
            results = progress.isCancelled ? [] : found
            if !progress.isCancelled {
                progress.totalUnitCount = Int64(max(found.count, 1))
                progress.completedUnitCount = progress.totalUnitCount
            }
        } catch { fail(error) }
        request.complete(self)
    }
}

extension NSAsynchronousFetchRequest: ExecutableRequest {
    func execute(in source: NSPersistentStoreCoordinator, for context: NSManagedObjectContext) throws -> Any {
        // A request that the context cannot run at all throws immediately.
        _ = try context.entity(of: fetchRequest)
        if let affectedStores { fetchRequest.affectedStores = affectedStores }
        let progress = Progress(totalUnitCount: Int64(max(estimatedResultCount, 1)))
        let result = NSAsynchronousFetchResult(self, context, progress: progress)
        context.perform { result.run() }
        return result
    }
}

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
