import Foundation

/// One save, or one batch request, in the history of a store.
open class NSPersistentHistoryTransaction: NSObject, NSCopying, @unchecked Sendable {
    // @unchecked Sendable: immutable.

    let record: HistoryRecord
    /// Whether the request asked for the changes too.
    private let showsChanges: Bool

    init(_ record: HistoryRecord, showsChanges: Bool) {
        self.record = record
        self.showsChanges = showsChanges
        super.init()
    }

    /// Creates a transaction of no store, for subclasses that stand for one in tests: everything in it is empty.
    public override init() {
        let row = HistoryTransactionRow(
            number: 0, timestamp: 0, author: nil, bundleID: "", contextName: nil, processID: "")
        record = HistoryRecord(row, storeID: "", changes: [])
        showsChanges = false
        super.init()
    }

    /// When the transaction was written.
    open var timestamp: Date { Date(timeIntervalSinceReferenceDate: record.row.timestamp) }
    /// The transaction's number, which increases within its store: `ATRANSACTION.Z_PK`.
    open var transactionNumber: Int64 { record.row.number }
    /// The UUID of the store.
    open var storeID: String { record.storeID }
    /// The bundle identifier of the program that wrote it, or the program's name if it has none.
    open var bundleID: String { record.row.bundleID }
    /// The name of the program that wrote it.
    open var processID: String { record.row.processID }
    /// The name of the context that was saved.
    open var contextName: String? { record.row.contextName }
    /// The transaction author of the context that was saved.
    open var author: String? { record.row.author }
    /// The position in the history after this transaction.
    open var token: NSPersistentHistoryToken { NSPersistentHistoryToken([record.storeID: record.row.number]) }

    /// The changes, in their order; `nil` if the request only asked for transactions.
    open var changes: [NSPersistentHistoryChange]? {
        showsChanges ? record.changes.map { NSPersistentHistoryChange($0, of: record) } : nil
    }

    /// A notification for `NSManagedObjectContext.mergeChanges(fromContextDidSave:)`, with the IDs of the changed
    /// objects.
    open func objectIDNotification() -> Notification {
        func identifiers(_ kind: HistoryChangeKind) -> Set<NSManagedObjectID> {
            Set(record.changes.filter { $0.kind == kind }.map(\.objectID))
        }
        var info: [AnyHashable: Any] = [NSPersistentHistoryTokenKey: token]
        let (inserted, updated, deleted) = (identifiers(.insert), identifiers(.update), identifiers(.delete))
        if !inserted.isEmpty { info[NSInsertedObjectIDsKey] = inserted }
        if !updated.isEmpty { info[NSUpdatedObjectIDsKey] = updated }
        if !deleted.isEmpty { info[NSDeletedObjectIDsKey] = deleted }
        return Notification(name: SaveNotifications.didSaveObjectIDs, object: nil, userInfo: info)
    }

    /// The entity with the properties of transactions that predicates of a history request can use: `author`,
    /// `bundleID`, `contextName`, `processID`, `timestamp`, `token`, `transactionNumber`, `storeID`.
    open class var entityDescription: NSEntityDescription? { HistoryEntities.transaction() }

    /// The same as `entityDescription`, for code that has a context at hand.
    ///
    /// - Parameter context: not used: the entity is the same for all contexts.
    /// - Returns: the entity.
    open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
        entityDescription
    }

    /// A new request for transactions, to which a predicate can be added before it is passed to a history request.
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        HistoryEntities.request(entityDescription)
    }

    /// Transactions are immutable: the copy is the transaction itself.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the object itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both are the same transaction of the same store.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but the same transaction.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryTransaction else { return false }
        return transactionNumber == other.transactionNumber && storeID == other.storeID
    }

    /// A hash of the transaction's number.
    open override var hash: Int { transactionNumber.hashValue }
}

/// A transaction with its changes, as read from a store.
final class HistoryRecord: @unchecked Sendable {
    // @unchecked Sendable: immutable.
    let row: HistoryTransactionRow
    let storeID: String
    let changes: [HistoryChangeRow]

    init(_ row: HistoryTransactionRow, storeID: String, changes: [HistoryChangeRow]) {
        self.row = row
        self.storeID = storeID
        self.changes = changes
    }
}

/// A position in the history of one or several stores: after one transaction of each.
///
/// Archive it to continue from there in a later run of the program.
open class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable: immutable.

    /// The number of the latest transaction by the UUID of the store.
    package let numbers: [String: Int64]

    package init(_ numbers: [String: Int64]) {
        self.numbers = numbers
        super.init()
    }

    /// Tokens are immutable: the copy is the token itself.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the object itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both tokens stand for the same position.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but a token of the same position.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? NSPersistentHistoryToken).map { $0.numbers == numbers } ?? false
    }

    /// A hash of the position.
    open override var hash: Int { numbers.hashValue }

    /// The stores and the numbers of their transactions.
    open override var description: String {
        let places = numbers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return "<NSPersistentHistoryToken \(places.joined(separator: ", "))>"
    }

    // MARK: Coding

    /// `true`: tokens support secure coding.
    open class var supportsSecureCoding: Bool { true }

    private static let numbersKey = "NSPersistentHistoryTokenDictionary"

    /// Archives the token.
    ///
    /// - Parameter coder: a keyed coder.
    open func encode(with coder: NSCoder) {
        let dictionary = NSMutableDictionary()
        for (store, number) in numbers { dictionary.setObject(NSNumber(value: number), forKey: store as NSString) }
        coder.encode(dictionary.copy() as? NSDictionary, forKey: Self.numbersKey)
    }

    /// Reads an archived token; `nil` for anything else.
    ///
    /// - Parameter coder: a keyed coder.
    public required init?(coder: NSCoder) {
        let classes: [AnyClass] = [NSDictionary.self, NSString.self, NSNumber.self]
        guard let dictionary = coder.decodeObject(of: classes, forKey: Self.numbersKey) as? NSDictionary else {
            return nil
        }
        var numbers: [String: Int64] = [:]
        for (store, number) in dictionary {
            guard let store = store as? String, let number = number as? NSNumber else { return nil }
            numbers[store] = number.int64Value
        }
        self.numbers = numbers
        super.init()
    }
}
