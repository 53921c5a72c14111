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
        for store in core.allBridges {
            if let found = try store.using({ try $0.history(descriptor) }) { return found }
        }
        // The program's own stores without a history have none to show.
        if core.coordinator.persistentStores.allSatisfy({ $0 is DataStoreBridge }) { return [] }
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
        for store in core.allBridges {
            if try store.using({ try $0.deleteHistory(descriptor) }) { return }
        }
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
