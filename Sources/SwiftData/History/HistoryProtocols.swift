import CoreData

/// What one save wrote.
public protocol HistoryTransaction: Hashable, Identifiable, Sendable {
    /// A position in the history.
    associatedtype TokenType: Comparable, Hashable, Identifiable, Sendable
    /// What tells a transaction from others of its store.
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable

    /// When it was written.
    var timestamp: Date { get }
    /// What was changed, in order.
    var changes: [HistoryChange] { get }
    /// The position after the transaction.
    var token: TokenType { get }
    /// What tells the transaction from others of its store.
    var transactionIdentifier: TransactionIdentifier { get }
    /// The identifier of the store.
    var storeIdentifier: String { get }
    /// The author of the context that was saved; nil for none.
    var author: String? { get }
}

/// A change of one model in one transaction.
public enum HistoryChange: Sendable {
    /// A model was inserted.
    case insert(any HistoryInsert)
    /// Properties of a model were changed.
    case update(any HistoryUpdate)
    /// A model was deleted.
    case delete(any HistoryDelete)

    /// The identifier of the model.
    public var changedPersistentIdentifier: PersistentIdentifier {
        switch self {
        case .insert(let insert): insert.changedPersistentIdentifier
        case .update(let update): update.changedPersistentIdentifier
        case .delete(let delete): delete.changedPersistentIdentifier
        }
    }
}

/// The insertion of a model.
public protocol HistoryInsert<Model>: Sendable {
    /// The model class.
    associatedtype Model: PersistentModel
    /// What tells a transaction from others of its store.
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
    /// What tells a change from others of its store.
    associatedtype ChangeIdentifier: Comparable, Hashable, Sendable

    /// What tells the change from others of its store.
    var changeIdentifier: ChangeIdentifier { get }
    /// What tells the transaction from others of its store.
    var transactionIdentifier: TransactionIdentifier { get }
    /// The identifier of the model.
    var changedPersistentIdentifier: PersistentIdentifier { get }
}

/// The change of a model.
public protocol HistoryUpdate<Model>: Sendable {
    /// The model class.
    associatedtype Model: PersistentModel
    /// What tells a transaction from others of its store.
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
    /// What tells a change from others of its store.
    associatedtype ChangeIdentifier: Comparable, Hashable, Sendable
    /// The key path of a changed property.
    typealias PropertyUpdate = PartialKeyPath<Model> & Sendable

    /// What tells the change from others of its store.
    var changeIdentifier: ChangeIdentifier { get }
    /// What tells the transaction from others of its store.
    var transactionIdentifier: TransactionIdentifier { get }
    /// The identifier of the model.
    var changedPersistentIdentifier: PersistentIdentifier { get }
    /// The key paths of the changed properties.
    var updatedAttributes: [any PartialKeyPath<Model> & Sendable] { get }
}

/// The deletion of a model.
public protocol HistoryDelete<Model>: Sendable {
    /// The model class.
    associatedtype Model: PersistentModel
    /// What tells a transaction from others of its store.
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
    /// What tells a change from others of its store.
    associatedtype ChangeIdentifier: Comparable, Hashable, Sendable

    /// What tells the change from others of its store.
    var changeIdentifier: ChangeIdentifier { get }
    /// What tells the transaction from others of its store.
    var transactionIdentifier: TransactionIdentifier { get }
    /// The identifier of the model.
    var changedPersistentIdentifier: PersistentIdentifier { get }
    /// The values that the history keeps of the model.
    var tombstone: HistoryTombstone<Model> { get }
}

/// A position in the history.
public protocol HistoryToken: Comparable, Decodable, Encodable, Hashable, Identifiable, Sendable {
    /// The type of the token's value.
    associatedtype TokenType: Decodable, Encodable, Hashable, Sendable
    /// The position by store.
    var tokenValue: TokenType? { get }
}

/// The values of a deleted model that the history keeps: those of attributes with `.preserveValueOnDeletion`.
public struct HistoryTombstone<Model>: Sequence, @unchecked Sendable where Model: PersistentModel {
    // @unchecked Sendable: the values are immutable.
    private let values: [(keyPath: AnyKeyPath, value: Any)]

    init(_ values: [(keyPath: AnyKeyPath, value: Any)]) { self.values = values }

    /// The kept values, one after the other.
    public struct Iterator: IteratorProtocol {
        /// A value.
        public typealias Element = Any
        fileprivate var values: ArraySlice<Any>

        /// The next value; nil after the last one.
        public mutating func next() -> Any? { values.popFirst() }
    }

    /// The value of a property.
    ///
    /// - Parameter keyPath: the key path of the property.
    /// - Returns: nil for a property without a kept value.
    public subscript(keyPath: PartialKeyPath<Model>) -> (any Sendable)? {
        // Attributes have values that are sendable: numbers, texts, dates, bytes, and structs of these.
        values.first { $0.keyPath == keyPath }.flatMap { $0.value as? any StoredPrimitive }
    }

    /// The kept values.
    public func makeIterator() -> HistoryTombstone<Model>.Iterator { Iterator(values: values.map(\.value)[...]) }
}

/// Which transactions of the history to fetch or to delete.
///
/// ```swift
/// let new = HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token })
/// ```
public struct HistoryDescriptor<TransactionType> where TransactionType: HistoryTransaction {
    /// The condition; nil for all transactions.
    public var predicate: Predicate<TransactionType>?
    /// The largest number of transactions; 0 for no limit.
    public var fetchLimit: UInt64 = 0
    /// The order; by default, that in which they were written.
    public var sortBy: [SortDescriptor<TransactionType>] = []

    /// Creates a descriptor.
    ///
    /// - Parameter predicate: the condition; nil for all transactions.
    public init(predicate: Predicate<TransactionType>? = nil) { self.predicate = predicate }

    /// Creates a descriptor with an order.
    ///
    /// - Parameters:
    ///   - predicate: the condition; nil for all transactions.
    ///   - sortBy: the order.
    public init(predicate: Predicate<TransactionType>? = nil, sortBy: [SortDescriptor<TransactionType>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}
