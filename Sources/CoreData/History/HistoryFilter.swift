import Foundation
import Ordering
import PredicateFormat

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
