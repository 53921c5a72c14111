import CoreData
import Foundation
import SQLGeneration
import StoreEngine

/// The persistent history of a store as text, a change at a time: who changed what, when, by which program.
package enum HistoryText {
    /// How many transactions are read at a time.
    private static let portion = 50

    /// Writes all changes, in their order.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - asJSON: whether each change is a line of JSON.
    ///   - output: takes the text.
    /// - Throws: `CommandError` for a store that keeps no history; the errors of the store, and those of `output`.
    package static func write(_ store: DirectStore, asJSON: Bool, _ output: (String) throws -> Void) throws {
        var (last, isEmpty): (Int64, Bool) = (0, true)
        while true {
            let (transactions, changes) = try store.asking { engine in
                guard let history = engine.history, try history.latestTransaction() > 0 else { throw missing(store) }
                let transactions = try history.historyTransactions(after: .transaction(last), limit: portion)
                guard let newest = transactions.last?.number else { return (transactions, [HistoryChangeRow]()) }
                let start = HistoryPosition.transaction(last)
                return (transactions, try history.historyChanges(after: start, through: newest, ofKeys: nil))
            }
            guard let newest = transactions.last?.number, newest > last else { break }
            (last, isEmpty) = (newest, false)
            let byTransaction = Dictionary(grouping: changes, by: \.transaction)
            for transaction in transactions {
                let changes = byTransaction[transaction.number] ?? []
                if !asJSON { try output(heading(transaction, changes.count)) }
                for change in changes { try output(asJSON ? json(change, transaction) : line(change)) }
            }
        }
        if isEmpty { throw missing(store) }
    }

    private static func missing(_ store: DirectStore) -> CommandError {
        CommandError("“\(store.name)” keeps no history, or all of it was deleted")
    }

    /// The values that a deletion preserved. Where one is not of its attribute's type, the program that wrote the
    /// history has another order: then the values have the names of their columns. Pure.
    package static func preserved(by change: HistoryChangeRow) -> [ObjectRecord.Field] {
        let entity = change.objectID.layout
        let slots = HistoryProperties(entity).preservedSlots
        let preserved = slots.enumerated().compactMap { index, slot -> (Int, StoredValue, AttributeLayout)? in
            guard let attribute = entity.slots[slot].attribute, let value = change.tombstone?[attribute.name] else {
                return nil
            }
            return (index, value, attribute)
        }
        let isInOrder = preserved.allSatisfy { isOfType($1, $2) }
        return preserved.map { index, value, attribute in
            ObjectRecord.Field(
                name: isInOrder ? attribute.name : HistorySQL.tombstone(index), value: FieldValue(value, attribute))
        }
    }

    /// Whether a value can be one of an attribute, as far as texts and numbers tell.
    private static func isOfType(_ value: StoredValue, _ attribute: AttributeLayout) -> Bool {
        let isText = [.stringAttributeType, .URIAttributeType].contains(attribute.type)
        return switch value {
        case .string: isText
        case .integer, .double: !isText
        default: true
        }
    }

    /// What made a transaction, as members of JSON objects. Pure.
    package static func members(_ transaction: HistoryTransactionRow) -> [(String, String)] {
        let texts = [
            ("author", transaction.author), ("bundle", transaction.bundleID), ("process", transaction.processID),
            ("context", transaction.contextName),
        ]
        return [
            ("transaction", "\(transaction.number)"),
            ("date", JSONText.string(TextTools.iso8601(transaction.timestamp))),
        ]
            + texts.compactMap { name, text in
                text.flatMap { $0.isEmpty ? nil : (name, JSONText.string($0)) }
            }
    }

    private static func word(_ kind: HistoryChangeKind) -> String {
        switch kind {
        case .insert: "insert"
        case .update: "update"
        case .delete: "delete"
        }
    }

    private static func json(_ change: HistoryChangeRow, _ transaction: HistoryTransactionRow) -> String {
        var members = members(transaction)
        members += [
            ("change", JSONText.string(word(change.kind))),
            ("entity", JSONText.string(change.objectID.layout.name)), ("key", "\(change.objectID.key)"),
            (ObjectHead.name, JSONText.string(change.objectID.uriRepresentation().absoluteString)),
        ]
        if let names = change.changedNames {
            members.append(("changed", "[\(names.map(JSONText.string).joined(separator: ", "))]"))
        }
        let preserved = preserved(by: change)
        if !preserved.isEmpty {
            let values = preserved.map { ($0.name, RowWriter.withoutLineBreaks(DumpJSON.text(of: $0.value))) }
            members.append(("preserved", JSONText.object(values)))
        }
        return JSONText.object(members) + "\n"
    }

    private static func heading(_ transaction: HistoryTransactionRow, _ count: Int) -> String {
        let facts = [transaction.author, transaction.contextName, transaction.bundleID, transaction.processID]
            .compactMap { $0 }.filter { !$0.isEmpty }.map(TextTools.inOneLine)
        let start = "\(transaction.number)   \(TextTools.iso8601(transaction.timestamp))"
        return ([start] + facts + [TextTools.count(count, "change")]).joined(separator: "   ") + "\n"
    }

    private static func line(_ change: HistoryChangeRow) -> String {
        let object = TextTools.inOneLine(ObjectLabel.number(of: change.objectID))
        let names = (change.changedNames ?? []).map(TextTools.inOneLine).joined(separator: ", ")
        let values = preserved(by: change).map { "\(TextTools.inOneLine($0.name)): \(DumpText.text(of: $0.value))" }
        let end = ([names] + values).filter { !$0.isEmpty }.joined(separator: ", ")
        return "    \(word(change.kind))   \(object)\(end.isEmpty ? "" : "   \(end)")\n"
    }
}
