import Foundation

extension NSPersistentHistoryChangeRequest: ExecutableRequest {
    func execute(in source: NSPersistentStoreCoordinator, for context: NSManagedObjectContext) throws -> Any {
        try source.withLock {
            let stores = (affectedStores ?? source.persistentStores).filter { $0.engine.history != nil }
            guard !stores.isEmpty else {
                throw StoreError.make(
                    CoreDataErrorCode.persistentStoreUnsupportedRequestType,
                    "No history tracking option detected on store: open it with NSPersistentHistoryTrackingKey.",
                    url: source.persistentStores.first?.url)
            }
            if deletes {
                for store in stores { try delete(in: store) }
                return NSPersistentHistoryResult(result: NSNumber(value: true), resultType: .statusOnly)
            }
            try checkToken(stores)
            var found = HistoryFindings()
            for store in stores { try found.add(from: store, self) }
            return NSPersistentHistoryResult(result: found.result(of: resultType), resultType: resultType)
        }
    }

    /// The position in a store's history at which the request begins.
    fileprivate func start(in store: NSPersistentStore) throws -> HistoryPosition? {
        switch bound {
        case .all: return nil
        case .date(let date): return .date(date.timeIntervalSinceReferenceDate)
        case .token(let token):
            guard let number = token.numbers[store.identity.uuid] else { return nil }
            // A token may come from anywhere; only the relation of its number to the store's shows whether it has
            // expired. Its transaction is missing in a copy of the store that was made before it.
            let history = try store.history()
            if let oldest = try history.oldestKeptTransaction(), number < oldest, number + 1 < oldest {
                throw expired(store)
            }
            if !history.mayLag, try number > history.latestTransaction() { throw expired(store) }
            return .transaction(number)
        }
    }

    private func checkToken(_ stores: [NSPersistentStore]) throws {
        guard case .token(let token) = bound, !token.numbers.isEmpty,
            !stores.contains(where: { token.numbers[$0.identity.uuid] != nil }), let first = stores.first
        else { return }
        throw expired(first)
    }

    private func expired(_ store: NSPersistentStore) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentHistoryTokenExpired,
            "The history token has expired: transactions after it have been deleted from “\(store.url?.lastPathComponent ?? "")”, "
                + "or it is of another store, or of a later state than the one that was restored.", url: store.url,
            suggestion: "Read the objects anew, and go on from currentPersistentHistoryToken(fromStores:).",
            userInfo: [NSAffectedStoresErrorKey: [store]])
    }

    private func delete(in store: NSPersistentStore) throws {
        switch bound {
        case .all: try store.history().deleteHistory(before: nil)
        case .date(let date): try store.history().deleteHistory(before: .date(date.timeIntervalSinceReferenceDate))
        case .token(let token):
            guard let number = token.numbers[store.identity.uuid] else { return }
            try store.history().deleteHistory(before: .transaction(number))
        }
    }
}

/// The result of a history request so far.
private struct HistoryFindings {
    private var records: [HistoryRecord] = []
    private var changes: [HistoryChangeRow] = []
    private var countsChanges = false

    mutating func add(from store: NSPersistentStore, _ request: NSPersistentHistoryChangeRequest) throws {
        let storeID = store.identity.uuid
        let start = try request.start(in: store)
        let filter = try request.fetchRequest.map { try HistoryFilter($0, storeID: storeID) } ?? .all
        countsChanges = filter.isAboutChanges
        let history = try store.history()
        var transactions =
            filter.changedKeys == nil
            ? try history.historyTransactions(after: start, limit: filter.transactionsNeeded) : []
        let needsChanges = [.objectIDs, .changesOnly, .transactionsAndChanges].contains(request.resultType)
        var found: [HistoryChangeRow] = []
        if filter.isAboutChanges {
            found = try history.historyChanges(after: start, through: nil, ofKeys: filter.changedKeys)
            if filter.changedKeys != nil {
                transactions = try history.historyTransactions(numbered: Set(found.map(\.transaction)))
            }
            found = try StoreError.evaluating { filter.apply(found) { HistoryOperand($0) } }
        } else {
            let all = transactions
            transactions = try StoreError.evaluating { filter.apply(all) { HistoryOperand($0, storeID: storeID) } }
            if needsChanges, let last = transactions.map(\.number).max() {
                found = try history.historyChanges(after: start, through: last, ofKeys: nil)
            }
        }
        let wanted = Set(transactions.map(\.number))
        found = found.filter { wanted.contains($0.transaction) }
        let byTransaction = Dictionary(grouping: found, by: \.transaction)
        if filter.isAboutChanges { transactions = transactions.filter { byTransaction[$0.number] != nil } }
        records += transactions.map {
            HistoryRecord($0, storeID: storeID, changes: byTransaction[$0.number] ?? [])
        }
        changes += found
    }

    func result(of type: NSPersistentHistoryResultType) -> Any {
        switch type {
        case .statusOnly: return NSNumber(value: true)
        case .objectIDs: return changes.map(\.objectID)
        case .count: return NSNumber(value: countsChanges ? changes.count : records.count)
        case .transactionsOnly: return records.map { NSPersistentHistoryTransaction($0, showsChanges: false) }
        case .changesOnly: return changes.map { NSPersistentHistoryChange($0, of: nil) }
        case .transactionsAndChanges: return records.map { NSPersistentHistoryTransaction($0, showsChanges: true) }
        }
    }
}

extension NSPersistentStore {
    /// The store's history.
    ///
    /// - Throws: an error for a store that keeps none.
    func history() throws -> any HistoryEngine {
        if let history = engine.history { return history }
        throw StoreError.unsupported("history", storeType: type, url: url)
    }
}
