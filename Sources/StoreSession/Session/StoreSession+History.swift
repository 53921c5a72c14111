import CoreDataModel
import Foundation
import StoreEngine

// The history of a session with one store, with the values that rows had before and after each change.
extension StoreSession {
    /// The store and its history.
    ///
    /// - Throws: 134091 where there are several stores, or the store keeps no history.
    private func storeWithHistory() throws -> (store: SessionStore, history: any HistoryEngine) {
        guard let store = stores.first, stores.count == 1, let history = store.engine.history else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreUnsupportedRequestType,
                stores.count == 1
                    ? "The store “\(stores[0].url?.lastPathComponent ?? "")” keeps no history."
                    : "A history is read of one store, and there are \(stores.count).",
                url: stores.first?.url,
                suggestion: "Open it with NSPersistentHistoryTrackingKey, or with keepsHistory: .always.")
        }
        return (store, history)
    }

    /// The store's UUID, and the number of the latest transaction of its history; 0 before the first one.
    package func latestTransaction() throws -> (store: String, number: Int64) {
        try withLock {
            let (store, history) = try storeWithHistory()
            return (store.identity.uuid, try history.latestTransaction())
        }
    }

    /// Deletes the transactions before a moment, in seconds since 2001.
    package func deleteHistory(before date: Double) throws {
        try withLock { try storeWithHistory().history.deleteHistory(before: .date(date)) }
    }

    /// Deletes the transactions of stores' histories that are older than the stores' options allow.
    package func trimHistories() throws {
        try withLock {
            for store in stores where !store.isReadOnly {
                guard let age = StoreSettings(store.facts.options).historyAge else { continue }
                let date = Date().timeIntervalSinceReferenceDate - age
                try store.engine.history?.deleteHistory(before: .date(date))
            }
        }
    }

    /// The transactions after a number, with their changes, read from one state of the store.
    ///
    /// - Parameters:
    ///   - number: the number of the last known transaction; nil for the beginning of what is kept.
    ///   - limit: how many at most.
    /// - Returns: the transactions, in order; nil if some after the number are missing: they were deleted, or the store
    ///   was replaced by an older copy.
    /// - Throws: 134091 for a store without a history, and the errors of the store.
    package func transactions(after number: Int64?, limit: Int) throws -> [RecordedTransaction]? {
        let read = { [self] in
            try withLock {
                let (store, history) = try storeWithHistory()
                return try RecordedHistory(store, history).transactions(after: number, limit: limit)
            }
        }
        if let scope = try pinnedScope() { return try scope.reading(self, read) }
        if let result = try readingOneState(read) { return result }
        return try read()
    }
}

/// A transaction of a store's history.
package struct RecordedTransaction: Sendable {
    package let row: HistoryTransactionRow
    /// The UUID of the store.
    package let store: String
    package var changes: [RecordedChange] = []
}

/// A change of a row in a store's history.
package struct RecordedChange: Sendable {
    package let kind: HistoryChangeKind
    package let objectID: NSManagedObjectID
    /// The properties that an update changed; nil for other changes, and if the model does not determine them.
    package let names: [String]?
    /// What the row was before, by property, as far as that is known: what an update changed, or the whole row that a
    /// deletion deleted.
    package fileprivate(set) var former: [String: KeptValue] = [:]
    /// What the row was afterwards, by property, as far as that is known: what an update changed, or the whole row that
    /// was inserted.
    package fileprivate(set) var current: [String: KeptValue] = [:]
    /// The row's values that the change left as they were, as far as they are known, its identifier among them.
    package fileprivate(set) var others: [String: KeptValue] = [:]
}

/// Reads the history of a store. The values that a change has left are those that the row has now, with what later
/// changes say of it taken back.
private struct RecordedHistory {
    let store: SessionStore
    let history: any HistoryEngine

    init(_ store: SessionStore, _ history: any HistoryEngine) { (self.store, self.history) = (store, history) }

    func transactions(after number: Int64?, limit: Int) throws -> [RecordedTransaction]? {
        if let number {
            if let oldest = try history.oldestKeptTransaction(), number + 1 < oldest { return nil }
            if !history.mayLag, try number > history.latestTransaction() { return nil }
        }
        let start = number.map { HistoryPosition.transaction($0) }
        let rows = try history.historyTransactions(after: start, limit: limit)
        guard let last = rows.last?.number else { return [] }
        var transactions = rows.map { RecordedTransaction(row: $0, store: store.identity.uuid) }
        let places = Dictionary(uniqueKeysWithValues: rows.enumerated().map { ($1.number, $0) })
        // Later changes tell what the rows were in between.
        let changes = try later(after: number ?? 0, through: last)
        var states = try presentStates(changes.filter { $0.transaction <= last })
        var recorded: [(place: Int, change: RecordedChange)] = []
        for change in changes.reversed() {
            let identifier = change.objectID
            var recordedChange = RecordedChange(
                kind: change.kind, objectID: identifier, names: change.kind == .update ? change.changedNames : nil)
            var state = states[identifier] ?? [:]
            switch change.kind {
            case .insert:
                recordedChange.current = state
                state = [:]
            case .update:
                if let names = change.changedNames {
                    for name in names {
                        recordedChange.current[name] = state[name]
                        state[name] = nil
                    }
                } else {
                    state = [:]
                }
                recordedChange.former = change.former ?? [:]
                recordedChange.others = state
                state.merge(recordedChange.former) { $1 }
            case .delete:
                recordedChange.former =
                    change.former ?? change.tombstone?.mapValues { .value($0) } ?? [:]
                state = recordedChange.former
            }
            states[identifier] = state
            if let place = places[change.transaction] { recorded.append((place, recordedChange)) }
        }
        for (place, change) in recorded.reversed() { transactions[place].changes.append(change) }
        return transactions
    }

    /// The changes of some transactions, and all later ones of the same rows.
    private func later(after number: Int64, through last: Int64) throws -> [HistoryChangeRow] {
        let start = HistoryPosition.transaction(number)
        guard try history.latestTransaction() > last else {
            return try history.historyChanges(after: start, through: nil, ofKeys: nil)
        }
        let wanted = try history.historyChanges(after: start, through: last, ofKeys: nil)
        let rows = Set(wanted.map(\.objectID))
        let later = try history.historyChanges(ofRowsChangedAfter: number, through: last)
        // Rows of different entities have the same keys.
        return wanted + later.filter { rows.contains($0.objectID) }
    }

    /// The present values of changed rows.
    private func presentStates(
        _ changes: [HistoryChangeRow]
    ) throws -> [NSManagedObjectID: [String: KeptValue]] {
        var states: [NSManagedObjectID: [String: KeptValue]] = [:]
        let identifiers = Array(Set(changes.map(\.objectID)))
        for row in try store.engine.rows(for: identifiers) {
            states[row.objectID] = KeptValues.slots(of: row.objectID.layout).reduce(into: [:]) { values, slot in
                values[row.objectID.layout.slots[slot].name] = .value(row.values[slot])
            }
        }
        // Lists are read where they matter: of new rows, and where they were changed.
        var owners: [ObjectIdentifier: (relationship: RelationshipLayout, rows: [NSManagedObjectID])] = [:]
        var known: Set<ListKey> = []
        for change in changes where change.kind != .delete && states[change.objectID] != nil {
            for relationship in change.objectID.layout.toManys where !relationship.isTransient {
                guard change.kind == .insert || change.changedNames?.contains(relationship.name) ?? false,
                    known.insert(ListKey(owner: change.objectID, name: relationship.name)).inserted
                else { continue }
                owners[ObjectIdentifier(relationship), default: (relationship, [])].rows.append(change.objectID)
            }
        }
        for (relationship, rows) in owners.values {
            for (owner, members) in zip(rows, try store.engine.destinations(of: relationship, for: rows)) {
                states[owner]?[relationship.name] = .list(members)
            }
        }
        return states
    }

    private struct ListKey: Hashable {
        let owner: NSManagedObjectID
        let name: String
    }
}
