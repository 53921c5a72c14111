import CoreData
import Foundation
import SQLGeneration
import StoreEngine

/// The persistent history of a store as text, a change at a time: who changed what, when, by which program.
package enum HistoryText {
    /// How many transactions are read at a time.
    private static let portion = 50

    /// How often a history that is followed is looked at.
    private static let pause = Duration.milliseconds(250)

    /// Writes all changes, in their order.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - object: the object whose past is written, as the text names it (`Letter/p1`); nil for all.
    ///   - asJSON: whether each change is a line of JSON.
    ///   - style: how values are shown, and what is beside them.
    ///   - follows: whether later changes are waited for, until `output` throws.
    ///   - output: takes the text.
    /// - Throws: `CommandError` for a store that keeps no history, or none of the object; the errors of the store, and
    ///   those of `output`.
    package static func write(
        _ store: DirectStore, of object: String? = nil, asJSON: Bool, _ style: ValueStyle, follows: Bool = false,
        _ output: (String) throws -> Void
    ) throws {
        let keys = try object.map { try [key(of: $0)] as Set }
        var (last, isEmpty): (Int64, Bool) = (0, true)
        while true {
            let (transactions, changes) = try store.asking { engine in
                guard let history = engine.history, try follows || history.latestTransaction() > 0 else {
                    throw missing(store)
                }
                let transactions = try history.historyTransactions(after: .transaction(last), limit: portion)
                guard let newest = transactions.last?.number else { return (transactions, [HistoryChangeRow]()) }
                let start = HistoryPosition.transaction(last)
                return (transactions, try history.historyChanges(after: start, through: newest, ofKeys: keys))
            }
            guard let newest = transactions.last?.number, newest > last else {
                guard follows else { break }
                Thread.sleep(forTimeInterval: pause / .seconds(1))
                continue
            }
            last = newest
            let wanted = object.map { object in changes.filter { ObjectLabel.number(of: $0.objectID) == object } }
            let byTransaction = Dictionary(grouping: wanted ?? changes, by: \.transaction)
            for transaction in transactions {
                let changes = byTransaction[transaction.number] ?? []
                if object != nil, changes.isEmpty { continue }
                isEmpty = false
                if !asJSON { try output(heading(transaction, changes.count, style)) }
                for change in changes {
                    try output(asJSON ? json(change, transaction, style) : line(change, style))
                }
            }
        }
        guard isEmpty else { return }
        guard let object else { throw missing(store) }
        throw CommandError("the history of “\(store.name)” has no changes of \(object)")
    }

    /// The key in the name of an object.
    private static func key(of object: String) throws -> Int64 {
        guard let slash = object.lastIndex(of: "/"), object[slash...].hasPrefix("/p"),
            let key = Int64(object[slash...].dropFirst(2))
        else {
            throw CommandError("“\(object)” is not an object; the history names it, as in Letter/p1")
        }
        return key
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
    package static func members(
        _ transaction: HistoryTransactionRow, _ style: ValueStyle
    ) -> [(String, String)] {
        let texts = [
            ("author", transaction.author), ("bundle", transaction.bundleID), ("process", transaction.processID),
            ("context", transaction.contextName),
        ]
        return [
            ("transaction", "\(transaction.number)"),
            ("date", JSONText.string(TextTools.iso8601(transaction.timestamp, in: style.timeZone))),
        ]
            + texts.compactMap { name, text in
                text.flatMap { $0.isEmpty ? nil : (name, JSONText.string($0)) }
            }
    }

    /// What a change changed or deleted, as it was before. Pure.
    private static func former(_ change: HistoryChangeRow) -> [ObjectRecord.Field] {
        let entity = change.objectID.layout
        return (change.former ?? [:]).sorted { $0.key < $1.key }.compactMap { name, kept in
            switch kept {
            case .list(let members): ObjectRecord.Field(name: name, value: .objects(members.map { ObjectLink($0) }))
            case .value(.identifier(let member)): ObjectRecord.Field(name: name, value: .object(ObjectLink(member)))
            case .value(let value):
                if let attribute = entity.slotIndex(forName: name).flatMap({ entity.slots[$0].attribute }) {
                    ObjectRecord.Field(name: name, value: FieldValue(value, attribute))
                } else {
                    ObjectRecord.Field(name: name, value: .noObject)
                }
            }
        }
    }

    private static func word(_ kind: HistoryChangeKind) -> String {
        switch kind {
        case .insert: "insert"
        case .update: "update"
        case .delete: "delete"
        }
    }

    private static func json(
        _ change: HistoryChangeRow, _ transaction: HistoryTransactionRow, _ style: ValueStyle
    ) -> String {
        var members = members(transaction, style)
        members += [
            ("change", JSONText.string(word(change.kind))),
            ("entity", JSONText.string(change.objectID.layout.name)), ("key", "\(change.objectID.key)"),
            (ObjectHead.name, JSONText.string(change.objectID.uriText)),
        ]
        if let names = change.changedNames {
            members.append(("changed", "[\(names.map(JSONText.string).joined(separator: ", "))]"))
        }
        let preserved = preserved(by: change)
        if !preserved.isEmpty {
            let entity = change.objectID.layout.name
            let values = preserved.map { field in
                let shown = style.inZone(style.shown(field.value, field.name, of: entity))
                return (field.name, RowWriter.withoutLineBreaks(DumpJSON.text(of: shown)))
            }
            members.append(("preserved", JSONText.object(values)))
            members += style.members(
                beside: preserved.map { (name: $0.name, value: $0.value) }, of: entity, marks: false)
        }
        let former = former(change)
        if !former.isEmpty {
            let entity = change.objectID.layout.name
            let values = former.map { field in
                let shown = style.inZone(style.shown(field.value, field.name, of: entity))
                return (field.name, RowWriter.withoutLineBreaks(DumpJSON.text(of: shown)))
            }
            members.append(("former", JSONText.object(values)))
        }
        return JSONText.object(members) + "\n"
    }

    private static func heading(
        _ transaction: HistoryTransactionRow, _ count: Int, _ style: ValueStyle
    ) -> String {
        let facts = [transaction.author, transaction.contextName, transaction.bundleID, transaction.processID]
            .compactMap { $0 }.filter { !$0.isEmpty }.map(TextTools.inOneLine)
        let start = "\(transaction.number)   \(TextTools.iso8601(transaction.timestamp, in: style.timeZone))"
        return ([start] + facts + [TextTools.count(count, "change")]).joined(separator: "   ") + "\n"
    }

    private static func line(_ change: HistoryChangeRow, _ style: ValueStyle) -> String {
        let object = TextTools.inOneLine(ObjectLabel.number(of: change.objectID))
        let entity = change.objectID.layout.name
        func shown(_ value: FieldValue, _ name: String) -> String {
            let shown = style.inZone(style.shown(value, name, of: entity))
            return "\(TextTools.inOneLine(name)): \(DumpText.text(of: shown))"
                + style.rawText(of: value, name, of: entity)
        }
        let former = former(change)
        let known = Set(former.map(\.name))
        let names = (change.changedNames ?? []).filter { !known.contains($0) }.map(TextTools.inOneLine)
        let was = former.map { field in
            let value = shown(field.value, field.name)
            return change.kind == .update ? "\(value) before" : value
        }
        let values = (known.isEmpty ? preserved(by: change) : []).map { shown($0.value, $0.name) }
        let end = (names + was + values).filter { !$0.isEmpty }.joined(separator: ", ")
        return "    \(word(change.kind))   \(object)\(end.isEmpty ? "" : "   \(end)")\n"
    }
}
