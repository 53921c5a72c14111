import CoreData

extension ModelProperty {
    /// The value of the property's type for one in key-value coding; the latter for a type that it does not fit.
    func value(of object: Any) -> Any {
        let wrapped = optionalContent(of: valueType) ?? valueType
        guard let primitive = wrapped as? any StoredPrimitive.Type else { return object }
        return primitive.init(object: object) ?? object
    }
}

/// A transaction of SwiftData's own stores.
public struct DefaultHistoryTransaction: HistoryTransaction {
    /// The number of the transaction.
    public typealias TransactionIdentifier = Int64
    /// A position in the history.
    public typealias TokenType = DefaultHistoryToken
    /// The number of the transaction.
    public typealias ID = Int64

    /// The number of the transaction.
    public var id: Int64 { transactionIdentifier }
    /// When it was written.
    public let timestamp: Date
    /// What was changed, in order.
    public let changes: [HistoryChange]
    /// The position after the transaction.
    public let token: DefaultHistoryTransaction.TokenType
    /// The number of the transaction, which increases within its store.
    public let transactionIdentifier: DefaultHistoryTransaction.TransactionIdentifier
    /// The identifier of the store.
    public let storeIdentifier: String
    /// The bundle identifier of the program that wrote it, or its name.
    public let bundleIdentifier: String
    /// The name of the program that wrote it.
    public let processIdentifier: String
    /// The author of the context that was saved; nil for none.
    public let author: String?

    init(_ transaction: NSPersistentHistoryTransaction, changes: [HistoryChange]) {
        timestamp = transaction.timestamp
        self.changes = changes
        token = DefaultHistoryToken([transaction.storeID: transaction.transactionNumber])
        transactionIdentifier = transaction.transactionNumber
        storeIdentifier = transaction.storeID
        bundleIdentifier = transaction.bundleID
        processIdentifier = transaction.processID
        author = transaction.author
    }

    /// Whether both are the same transaction.
    ///
    /// - Parameters:
    ///   - lhs: a transaction.
    ///   - rhs: another one.
    /// - Returns: `true` if they are.
    public static func == (lhs: DefaultHistoryTransaction, rhs: DefaultHistoryTransaction) -> Bool {
        lhs.storeIdentifier == rhs.storeIdentifier && lhs.transactionIdentifier == rhs.transactionIdentifier
    }

    /// Hashes the store and the number.
    ///
    /// - Parameter hasher: the hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(storeIdentifier)
        hasher.combine(transactionIdentifier)
    }
}

/// A position in the history of SwiftData's own stores.
public struct DefaultHistoryToken: HistoryToken, Codable {
    /// The number of the latest transaction by the identifier of the store.
    public typealias TokenType = [String: Int64]
    /// A hash of the position.
    public typealias ID = Int

    /// The number of the latest transaction by the identifier of the store.
    public var tokenValue: DefaultHistoryToken.TokenType? { numbers }
    private let numbers: [String: Int64]

    init(_ numbers: [String: Int64]) { self.numbers = numbers }

    /// A hash of the position.
    public var id: Int { numbers.hashValue }

    /// Whether a position comes before another one: in no store after it, and in one before.
    ///
    /// - Parameters:
    ///   - lhs: a position.
    ///   - rhs: another one.
    /// - Returns: `true` if it does.
    public static func < (lhs: DefaultHistoryToken, rhs: DefaultHistoryToken) -> Bool {
        lhs != rhs && lhs.numbers.allSatisfy { store, number in rhs.numbers[store].map { number <= $0 } ?? false }
    }
}

/// An insertion in SwiftData's own stores.
public struct DefaultHistoryInsert<Model>: HistoryInsert, Hashable where Model: PersistentModel {
    /// The number of the transaction.
    public typealias TransactionIdentifier = Int64
    /// The number of the change.
    public typealias ChangeIdentifier = Int64

    /// The number of the change.
    public let changeIdentifier: DefaultHistoryInsert<Model>.ChangeIdentifier
    /// The number of the transaction.
    public let transactionIdentifier: DefaultHistoryInsert<Model>.TransactionIdentifier
    /// The identifier of the model.
    public let changedPersistentIdentifier: PersistentIdentifier
}

/// A change in SwiftData's own stores.
public struct DefaultHistoryUpdate<Model>: HistoryUpdate, Hashable where Model: PersistentModel {
    /// The number of the transaction.
    public typealias TransactionIdentifier = Int64
    /// The number of the change.
    public typealias ChangeIdentifier = Int64
    /// The key path of a changed property.
    public typealias PropertyUpdate = PartialKeyPath<Model> & Sendable

    /// The number of the change.
    public let changeIdentifier: DefaultHistoryUpdate<Model>.ChangeIdentifier
    /// The number of the transaction.
    public let transactionIdentifier: DefaultHistoryUpdate<Model>.TransactionIdentifier
    /// The identifier of the model.
    public let changedPersistentIdentifier: PersistentIdentifier
    /// The key paths of the changed properties.
    public let updatedAttributes: [any PartialKeyPath<Model> & Sendable]

    /// Whether both are the same change.
    ///
    /// - Parameters:
    ///   - lhs: a change.
    ///   - rhs: another one.
    /// - Returns: `true` if they are.
    public static func == (lhs: DefaultHistoryUpdate<Model>, rhs: DefaultHistoryUpdate<Model>) -> Bool {
        lhs.changeIdentifier == rhs.changeIdentifier
            && lhs.changedPersistentIdentifier == rhs.changedPersistentIdentifier
    }

    /// Hashes the number and the identifier.
    ///
    /// - Parameter hasher: the hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(changeIdentifier)
        hasher.combine(changedPersistentIdentifier)
    }
}

/// A deletion in SwiftData's own stores.
public struct DefaultHistoryDelete<Model>: HistoryDelete, Hashable where Model: PersistentModel {
    /// The number of the transaction.
    public typealias TransactionIdentifier = Int64
    /// The number of the change.
    public typealias ChangeIdentifier = Int64

    /// The number of the change.
    public let changeIdentifier: DefaultHistoryDelete<Model>.ChangeIdentifier
    /// The number of the transaction.
    public let transactionIdentifier: DefaultHistoryDelete<Model>.TransactionIdentifier
    /// The identifier of the model.
    public let changedPersistentIdentifier: PersistentIdentifier
    /// The values that the history keeps of the model.
    public let tombstone: HistoryTombstone<Model>

    /// Whether both are the same deletion.
    ///
    /// - Parameters:
    ///   - lhs: a deletion.
    ///   - rhs: another one.
    /// - Returns: `true` if they are.
    public static func == (lhs: DefaultHistoryDelete<Model>, rhs: DefaultHistoryDelete<Model>) -> Bool {
        lhs.changeIdentifier == rhs.changeIdentifier
            && lhs.changedPersistentIdentifier == rhs.changedPersistentIdentifier
    }

    /// Hashes the number and the identifier.
    ///
    /// - Parameter hasher: the hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(changeIdentifier)
        hasher.combine(changedPersistentIdentifier)
    }
}
