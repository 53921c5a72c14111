import Foundation

/// The content of a history request's result. The raw values are Apple's.
public enum NSPersistentHistoryResultType: Int, Sendable {
    /// Whether the request succeeded.
    case statusOnly = 0
    /// The IDs of the changed objects.
    case objectIDs = 1
    /// The number of transactions, or of changes for a request for changes.
    case count = 2
    /// The transactions, without their changes.
    case transactionsOnly = 3
    /// The changes, without their transactions.
    case changesOnly = 4
    /// The transactions with their changes. The default.
    case transactionsAndChanges = 5
}

/// Asks for the changes of stores, or deletes old history. The stores must have been opened with
/// `NSPersistentHistoryTrackingKey`.
///
/// ```swift
/// let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
/// let result = try context.execute(request) as? NSPersistentHistoryResult
/// for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
///     context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
/// }
/// ```
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    /// The position where the request begins, or up to which it deletes.
    enum Bound {
        case all
        case date(Date)
        case token(NSPersistentHistoryToken)
    }

    private(set) var bound = Bound.all
    private(set) var deletes = false

    /// Creates a request for the whole history; use a class method instead.
    public required override init() { super.init() }

    private class func make(_ bound: Bound, deletes: Bool) -> Self {
        let request = self.init()
        request.bound = bound
        request.deletes = deletes
        if deletes { request.resultType = .statusOnly }
        return request
    }

    /// A request for what was written after a date.
    ///
    /// - Parameter date: transactions of this date and earlier ones are left out.
    /// - Returns: the request, whose result is of the type `.transactionsAndChanges`.
    open class func fetchHistory(after date: Date) -> Self { make(.date(date), deletes: false) }

    /// A request for what was written after a position in the history; `nil` for all of it.
    ///
    /// Running it throws `NSPersistentHistoryTokenExpiredError` if history after the token has been deleted.
    ///
    /// - Parameter token: the token of the last known transaction; `nil` for none.
    /// - Returns: the request, whose result is of the type `.transactionsAndChanges`.
    open class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self {
        make(token.map(Bound.token) ?? .all, deletes: false)
    }

    /// A request for what was written after a transaction; `nil` for the whole history.
    ///
    /// - Parameter transaction: the last known transaction; `nil` for none.
    /// - Returns: the request, whose result is of the type `.transactionsAndChanges`.
    open class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self {
        fetchHistory(after: transaction?.token)
    }

    /// A request for the transactions or changes that satisfy a predicate.
    ///
    /// - Parameter fetchRequest: made by `NSPersistentHistoryTransaction.fetchRequest` or
    ///   `NSPersistentHistoryChange.fetchRequest`; its predicate, sort descriptors and limit are used.
    /// - Returns: the request, whose result is of the type `.transactionsAndChanges`.
    open class func fetchHistory(withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>) -> Self {
        let request = make(.all, deletes: false)
        request.fetchRequest = fetchRequest
        return request
    }

    /// A request that deletes what was written before a date.
    ///
    /// - Parameter date: transactions of this date and later ones stay.
    /// - Returns: the request; run it with `NSManagedObjectContext.execute(_:)`.
    open class func deleteHistory(before date: Date) -> Self { make(.date(date), deletes: true) }

    /// A request that deletes what was written before the transaction of a token, which stays; `nil` for all of it.
    ///
    /// - Parameter token: the token of the first transaction that stays; `nil` for none.
    /// - Returns: the request; run it with `NSManagedObjectContext.execute(_:)`.
    open class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self {
        make(token.map(Bound.token) ?? .all, deletes: true)
    }

    /// A request that deletes what was written before a transaction, which stays; `nil` for all of it.
    ///
    /// - Parameter transaction: the first transaction that stays; `nil` for none.
    /// - Returns: the request; run it with `NSManagedObjectContext.execute(_:)`.
    open class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self {
        deleteHistory(before: transaction?.token)
    }

    /// The content of the result. The default is transactions with changes; for deletions, the status.
    open var resultType: NSPersistentHistoryResultType = .transactionsAndChanges

    /// The position with which the request was made.
    open var token: NSPersistentHistoryToken? {
        if case .token(let token) = bound { return token }
        return nil
    }

    /// Restricts the request to the transactions or changes that satisfy the fetch request's predicate.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

    /// Returns a copy of the request.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the copy, which can be changed on its own.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = type(of: self).make(bound, deletes: deletes)
        copy.affectedStoreObjects = affectedStoreObjects
        copy.resultType = resultType
        copy.fetchRequest = fetchRequest
        return copy
    }
}

/// The result of a history request.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
    /// Transactions, changes, IDs, the count (`Int`) or the status (`Bool`), depending on `resultType`.
    open var result: Any? { storedResult }
    /// The kind of `result`.
    open var resultType: NSPersistentHistoryResultType { storedType }

    private let storedResult: Any?
    private let storedType: NSPersistentHistoryResultType

    /// Creates a result without content, for subclasses that stand in for one in tests.
    public override init() { (storedResult, storedType) = (nil, .statusOnly) }

    package init(result: Any?, resultType: NSPersistentHistoryResultType) {
        storedResult = result
        storedType = resultType
    }
}
