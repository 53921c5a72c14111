import Foundation
import PredicateFormat

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

/// The conditions of a fetch request for the history: which transactions or changes, in which order, and how many. It
/// is evaluated in memory, except for a mere limit of transactions and the keys of changed objects, which the store
/// applies.
struct HistoryFilter {
    /// Whether the request is about changes, rather than transactions.
    let isAboutChanges: Bool
    /// The keys of the objects whose changes are asked for; nil for all. At most a hundred, which a statement can list.
    let changedKeys: Set<Int64>?
    private let predicate: CompiledPredicate?
    private let terms: [SortTerm]
    private let offset: Int
    private let limit: Int

    /// The filter that selects everything.
    static let all = HistoryFilter()

    private init() {
        isAboutChanges = false
        changedKeys = nil
        predicate = nil
        terms = []
        offset = 0
        limit = 0
    }

    /// - Parameters:
    ///   - request: a request for transactions or changes.
    ///   - storeID: the UUID of the store. A token in the predicate is replaced by the number of its transaction in
    ///     that store.
    /// - Throws: an `NSError` for a request with another entity, or with a predicate for something that history does
    ///   not have.
    init(_ request: NSFetchRequest<any NSFetchRequestResult>, storeID: String) throws {
        let name = request.entityName?.uppercased() ?? HistoryEntities.transactionName
        guard [HistoryEntities.transactionName, HistoryEntities.changeName].contains(name) else {
            throw StoreError.make(
                CoreDataErrorCode.coreData,
                "A history request cannot fetch “\(request.entityName ?? "")”: make its fetch request of "
                    + "NSPersistentHistoryTransaction.fetchRequest or NSPersistentHistoryChange.fetchRequest.")
        }
        isAboutChanges = name == HistoryEntities.changeName
        let known = Set(
            (isAboutChanges ? HistoryEntities.change() : HistoryEntities.transaction()).attributesByName.keys)
        var unknown: Set<String> = []
        let tree = try request.predicate.map { try predicateTree(of: $0) }?.mapExpressions { expression in
            switch expression {
            case .keyPath(let path):
                if let first = path.first, !known.contains(first), first.lowercased() != "self" {
                    unknown.insert(first)
                }
                return expression
            case .constant(let value): return .constant(Self.plain(value, storeID: storeID))
            default: return expression
            }
        }
        terms = try sortTerms(of: request.sortDescriptors ?? [])
        unknown.formUnion(terms.compactMap { $0.keyPath.first.flatMap { known.contains($0) ? nil : $0 } })
        guard unknown.isEmpty else {
            throw StoreError.make(
                CoreDataErrorCode.coreData,
                "A history request asks a \(name.lowercased()) for \(unknown.sorted().joined(separator: ", ")); it has "
                    + "\(known.sorted().joined(separator: ", ")).")
        }
        let keys = isAboutChanges ? tree?.changedKeys : nil
        changedKeys = keys.flatMap { $0.count > 100 ? nil : $0 }
        predicate = tree.map { CompiledPredicate($0) }
        offset = request.fetchOffset
        limit = request.fetchLimit
    }

    /// A token as the number of its transaction, an entity as its name.
    private static func plain(_ value: Value, storeID: String) -> Value {
        switch value {
        case .object(let reference):
            switch reference.object {
            case let token as NSPersistentHistoryToken: return .integer(token.numbers[storeID] ?? 0)
            case let entity as NSEntityDescription: return .string(entity.name ?? "")
            default: return value
            }
        case .collection(let values): return .collection(values.map { plain($0, storeID: storeID) })
        default: return value
        }
    }

    /// How many of the store's transactions are needed; nil if that shows only when they are evaluated.
    var transactionsNeeded: Int? {
        guard !isAboutChanges, predicate == nil, terms.isEmpty, limit > 0 else { return nil }
        let (needed, isTooLarge) = max(0, offset).addingReportingOverflow(limit)
        return isTooLarge ? nil : needed
    }

    /// The elements that satisfy the predicate, ordered and limited as requested.
    func apply<Element>(_ elements: [Element], operand: (Element) -> HistoryOperand) -> [Element] {
        guard predicate != nil || !terms.isEmpty || offset > 0 || limit > 0 else { return elements }
        var found = elements.enumerated().map { ($0.offset, operand($0.element)) }
        if let predicate { found = found.filter { predicate.evaluate($0.1) } }
        var positions = found.map(\.0)
        if !terms.isEmpty {
            for (position, operand) in found { operand.position = position }
            positions = found.map(\.1).sorted(by: terms).map(\.position)
        }
        if offset > 0 { positions = Array(positions.dropFirst(offset)) }
        if limit > 0 { positions = Array(positions.prefix(limit)) }
        return positions.map { elements[$0] }
    }
}

/// A transaction or a change, as a predicate reads it.
final class HistoryOperand: NSObject, KeyedOperand {
    private let read: (String) -> Value
    var position = 0

    init(_ row: HistoryTransactionRow, storeID: String) {
        read = { key in
            switch key {
            case "author": return row.author.map(Value.string) ?? .null
            case "bundleID": return .string(row.bundleID)
            case "contextName": return row.contextName.map(Value.string) ?? .null
            case "processID": return .string(row.processID)
            case "storeID": return .string(storeID)
            case "timestamp": return .date(Date(timeIntervalSinceReferenceDate: row.timestamp))
            case "token", "transactionNumber": return .integer(row.number)
            default: return .null
            }
        }
    }

    init(_ row: HistoryChangeRow) {
        read = { key in
            switch key {
            case "changeID": return .integer(row.number)
            case "changeType": return .integer(row.kind.rawValue)
            case "changedID": return .integer(row.objectID.key)
            case "changedEntity": return .string(row.objectID.layout.name)
            case "changedObjectID": return .object(row.objectID)
            default: return .null
            }
        }
    }

    func operand(forKey key: String) -> Value { read(key) }
}
