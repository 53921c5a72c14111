import CoreData
import PredicateFormat

extension ModelContext {
    /// Fetches transactions of the history, with their changes.
    ///
    /// A condition `$0.token > token` is evaluated by the store; others, on the transactions that are left.
    ///
    /// - Parameter descriptor: which transactions; of the type ``DefaultHistoryTransaction``.
    /// - Returns: the transactions.
    /// - Throws: ``SwiftDataError/historyTokenExpired`` if history after the token was deleted,
    ///   ``SwiftDataError/invalidTransactionFetchRequest`` for transactions of another type, and the errors of the
    ///   stores.
    public func fetchHistory<T>(_ descriptor: HistoryDescriptor<T>) throws -> [T] where T: HistoryTransaction {
        guard let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction>,
            let found = try transactions(descriptor) as? [T]
        else {
            throw SwiftDataError.invalidTransactionFetchRequest.because(
                "The container's stores have transactions of the type DefaultHistoryTransaction, not \(T.self).")
        }
        return found
    }

    private func transactions(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] {
        var found = try allTransactions(after: descriptor.predicate.flatMap { HistoryBound.token(in: $0) })
        if let predicate = descriptor.predicate { found = try found.filter { try predicate.evaluate($0) } }
        if !descriptor.sortBy.isEmpty { found.sort(using: descriptor.sortBy) }
        return descriptor.fetchLimit > 0 ? Array(found.prefix(Int(clamping: descriptor.fetchLimit))) : found
    }

    private func allTransactions(after token: DefaultHistoryToken?) throws -> [DefaultHistoryTransaction] {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(
            after: token?.tokenValue.map { NSPersistentHistoryToken($0) })
        do {
            let result = try objectContext.execute(request) as? NSPersistentHistoryResult
            let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
            return transactions.map { transaction in
                DefaultHistoryTransaction(
                    transaction,
                    changes: (transaction.changes ?? []).compactMap {
                        change($0, of: transaction.transactionNumber)
                    })
            }
        } catch let error as NSError where error.code == NSPersistentHistoryTokenExpiredError {
            throw SwiftDataError.historyTokenExpired.because(error.localizedDescription)
        }
    }

    private func change(_ change: NSPersistentHistoryChange, of transaction: Int64) -> HistoryChange? {
        // A class that the schema no longer has has no changes to show.
        guard let type = core.binding(of: change.changedObjectID.layout)?.type else { return nil }
        return Self.change(change, of: transaction, type, type.type)
    }

    private static func change<Model: PersistentModel>(
        _ change: NSPersistentHistoryChange, of transaction: Int64, _ type: ModelType, _ model: Model.Type
    ) -> HistoryChange {
        let identifier = PersistentIdentifier(change.changedObjectID)
        switch change.changeType {
        case .insert:
            return .insert(
                DefaultHistoryInsert<Model>(
                    changeIdentifier: change.changeID, transactionIdentifier: transaction,
                    changedPersistentIdentifier: identifier))
        case .update:
            let names = Set((change.updatedProperties ?? []).map(\.name))
            let keyPaths = type.properties.filter { names.contains($0.name) }
                .compactMap { $0.keyPath as? PartialKeyPath<Model> }
            return .update(
                DefaultHistoryUpdate<Model>(
                    changeIdentifier: change.changeID, transactionIdentifier: transaction,
                    changedPersistentIdentifier: identifier, updatedAttributes: keyPaths.map(Self.sendable)))
        case .delete:
            let values = type.properties.compactMap { property in
                change.tombstone?[property.name].map { (keyPath: property.keyPath, value: property.value(of: $0)) }
            }
            return .delete(
                DefaultHistoryDelete<Model>(
                    changeIdentifier: change.changeID, transactionIdentifier: transaction,
                    changedPersistentIdentifier: identifier, tombstone: HistoryTombstone(values)))
        }
    }

    /// A key path of a model's property, which captures nothing. No cast adds a marker protocol: its existential is the
    /// reference itself.
    private static func sendable<Model>(_ keyPath: PartialKeyPath<Model>) -> any PartialKeyPath<Model> & Sendable {
        unsafeBitCast(keyPath, to: (any PartialKeyPath<Model> & Sendable).self)
    }

    /// Deletes transactions of the history, from its beginning.
    ///
    /// - Parameter descriptor: which transactions; without a predicate, all.
    /// - Throws: ``SwiftDataError/invalidTransactionFetchRequest`` for transactions before which others would be left,
    ///   and the errors of the stores.
    public func deleteHistory<T>(_ descriptor: HistoryDescriptor<T>) throws where T: HistoryTransaction {
        let doomed = Set(try fetchHistory(descriptor) as? [DefaultHistoryTransaction] ?? [])
        let all = try allTransactions(after: nil)
        let left = all.filter { !doomed.contains($0) }
        guard all.prefix(doomed.count).allSatisfy(doomed.contains) else {
            throw SwiftDataError.invalidTransactionFetchRequest.because(
                "History is deleted from its beginning. Delete up to a token or a date: #Predicate { $0.token < token }."
            )
        }
        let end = left.first?.token.tokenValue.map { NSPersistentHistoryToken($0) }
        _ = try objectContext.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: end))
    }
}

/// The token after which a predicate's transactions begin.
enum HistoryBound {
    static func token(in predicate: Predicate<DefaultHistoryTransaction>) -> DefaultHistoryToken? {
        var tokens: [DefaultHistoryToken] = []
        let tree = try? predicateTree(
            of: predicate,
            constant: { value in
                guard let token = value as? DefaultHistoryToken else { return constantTree(value) }
                tokens.append(token)
                return .constant(.string("token \(tokens.count - 1)"))
            })
        guard let tree, let name = bound(in: tree), let index = Int(name.dropFirst("token ".count)) else { return nil }
        return tokens[index]
    }

    /// The constant that `token` must be greater than, if it must under any circumstances.
    private static func bound(in tree: PredicateTree) -> String? {
        switch tree {
        case .and(let parts): return parts.lazy.compactMap { bound(in: $0) }.first
        case .comparison(let comparison):
            guard comparison.comparison == .greaterThan, case .keyPath(["token"]) = comparison.left,
                case .constant(.string(let name)) = comparison.right, name.hasPrefix("token ")
            else { return nil }
            return name
        default: return nil
        }
    }
}

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
