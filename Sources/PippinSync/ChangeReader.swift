import Foundation
import StoreSession
import SyncPlanning

/// What a sync notes with a transaction that it writes, as the name of the context.
struct SyncMark: Hashable {
    /// On a server: the number of the transaction in the device's own history. On a device: the cursor afterwards.
    var number: UInt64
    /// When the edits were made, in microseconds since 1970 by the server's clock.
    var time: Int64

    init(number: UInt64, time: Int64) { (self.number, self.time) = (number, time) }

    /// - Returns: nil for the name of a program's own context.
    init?(_ contextName: String?) {
        guard let parts = contextName?.split(separator: " "), parts.count == 3, parts[0] == SyncNote.context,
            let number = UInt64(parts[1]), let time = Int64(parts[2])
        else { return nil }
        self.init(number: number, time: time)
    }

    var contextName: String { "\(SyncNote.context) \(number) \(time)" }
}

/// A transaction of a store's history in the planner's words.
struct ReadTransaction {
    struct Change {
        let kind: HistoryChangeKind
        let id: RowID
        let row: NSManagedObjectID
        /// What the properties were before and afterwards, as far as that is known: of an insertion all, of an update
        /// those that it changed, of a deletion what the row was.
        var old: [String: SyncValue] = [:]
        var new: [String: SyncValue] = [:]
    }

    let number: Int64
    /// Microseconds since 1970, by the clock of the machine that saved it.
    let time: Int64
    let author: String?
    /// Nil for a transaction of the program's own.
    let mark: SyncMark?
    var changes: [Change] = []
}

/// Reads the history of a store. It is used under the session's lock.
struct ChangeReader {
    let place: SyncStore
    let reading: RowReading
    private let history: any HistoryEngine

    init(_ place: SyncStore, _ reading: RowReading) throws {
        (self.place, self.reading) = (place, reading)
        history = try place.parts().history
    }

    private var mapping: SyncMapping { place.mapping }

    static func microseconds(_ timestamp: Double) -> Int64 { Int64(((timestamp + 978_307_200) * 1_000_000).rounded()) }

    /// The transactions after a number.
    ///
    /// - Returns: the transactions; nil if some after the number were deleted.
    func transactions(after number: Int64, limit: Int) throws -> [ReadTransaction]? {
        guard let recorded = try place.session.transactions(after: number, limit: limit) else { return nil }
        try noteRows(in: recorded)
        let present = try presentValues(recorded)
        return recorded.map { transaction in
            var read = ReadTransaction(
                number: transaction.row.number, time: Self.microseconds(transaction.row.timestamp),
                author: transaction.row.author, mark: SyncMark(transaction.row.contextName))
            read.changes = transaction.changes.compactMap { change($0, present) }
            return read
        }
    }

    /// The program's own transactions after a number. What the sync has written is not read, however much it is.
    ///
    /// - Parameters:
    ///   - number: the number.
    ///   - most: about how many transactions and changes to read at most; nil for all.
    /// - Returns: the transactions, and the number after which there may be more, nil if there are none; nil if some
    ///   after the number were deleted.
    /// - Throws: the errors of the store.
    func ownTransactions(
        after number: Int64, most: (transactions: Int, changes: Int)? = nil
    ) throws -> (own: [ReadTransaction], end: Int64?)? {
        if let oldest = try history.oldestKeptTransaction(), number + 1 < oldest { return nil }
        // A transaction may have many changes.
        let size = most == nil ? 10_000 : 50
        var own: [ReadTransaction] = []
        var (last, changes) = (number, 0)
        var run: (first: Int64, count: Int)?
        func read() throws -> Bool {
            guard let found = run else { return true }
            run = nil
            guard let read = try transactions(after: found.first - 1, limit: found.count) else { return false }
            changes += read.reduce(0) { $0 + $1.changes.count }
            own += read
            return true
        }
        while true {
            let rows = try history.historyTransactions(after: .transaction(last), limit: size)
            for row in rows {
                if SyncMark(row.contextName) == nil {
                    run = (run?.first ?? row.number, (run?.count ?? 0) + 1)
                } else if try !read() {
                    return nil
                }
            }
            let isEnd = rows.count < size
            if isEnd || most != nil, try !read() { return nil }
            if isEnd { return (own, nil) }
            last = rows.last?.number ?? last
            if let most, own.count >= most.transactions || changes >= most.changes { return (own, last) }
        }
    }

    /// Whether the program has saved something after a number.
    func hasOwnTransactions(after number: Int64) throws -> Bool {
        var last = number
        while true {
            let rows = try history.historyTransactions(after: .transaction(last), limit: 100)
            if rows.contains(where: { SyncMark($0.contextName) == nil }) { return true }
            guard let end = rows.last?.number else { return false }
            last = end
        }
    }

    /// What changes after a number did to some rows, in order: what the rows were before each.
    func laterChanges(after number: Int64, of rows: [NSManagedObjectID: RowID]) throws -> [ReadTransaction.Change] {
        if rows.isEmpty { return [] }
        let changes = try history.historyChanges(
            after: .transaction(number), through: nil, ofKeys: Set(rows.keys.map(\.key))
        ).filter { rows[$0.objectID] != nil }
        for (row, id) in rows { reading.note(row, id) }
        try reading.lookUp(changes.flatMap { Self.ends(of: $0.former ?? [:]) })
        return changes.compactMap { recorded in
            guard let id = rows[recorded.objectID], let entity = mapping[id.entity] else { return nil }
            var change = ReadTransaction.Change(kind: recorded.kind, id: id, row: recorded.objectID)
            for property in entity.properties {
                change.old[property.name] = value(of: property, recorded.former?[property.storedName])
            }
            return change
        }
    }

    private static func ends(of values: [String: KeptValue]) -> [NSManagedObjectID] {
        values.values.flatMap { value -> [NSManagedObjectID] in
            switch value {
            case .value(.identifier(let end)): [end]
            case .list(let members): members
            case .value: []
            }
        }
    }

    // MARK: Changes

    private func change(_ recorded: RecordedChange, _ present: [RowID: PlannedRow]) -> ReadTransaction.Change? {
        guard let entity = mapping.entity(of: recorded.objectID.layout), let id = reading.id(of: recorded.objectID)
        else { return nil }
        var change = ReadTransaction.Change(kind: recorded.kind, id: id, row: recorded.objectID)
        for property in entity.properties {
            let name = property.storedName
            if recorded.kind == .update, let names = recorded.names, !names.contains(name) { continue }
            change.old[property.name] = value(of: property, recorded.former[name])
            if recorded.kind == .delete { continue }
            change.new[property.name] =
                value(of: property, recorded.current[name])
                ?? (Self.isOutside(property) ? present[id]?.values[property.name] : nil)
        }
        return change
    }

    /// Whether the value may be outside the store, so that the history does not have it.
    private static func isOutside(_ property: SyncMapping.Property) -> Bool {
        if case .attribute(_, let attribute) = property.place { attribute.allowsExternalStorage } else { false }
    }

    private func value(of property: SyncMapping.Property, _ kept: KeptValue?) -> SyncValue? {
        switch (property.place, kept) {
        case (_, nil): nil
        case (.list(let relationship), .list(let members)): reading.list(members, relationship)
        case (.list, _), (_, .list): nil
        case (_, .value(let value)): reading.value(of: property, value)
        }
    }

    /// The present values of what the history does not keep.
    private func presentValues(_ recorded: [RecordedTransaction]) throws -> [RowID: PlannedRow] {
        let outside = Set(mapping.entities.filter { $0.properties.contains(where: Self.isOutside) }.map(\.layout.name))
        if outside.isEmpty { return [:] }
        return try reading.rows(
            recorded.flatMap(\.changes).filter { outside.contains($0.objectID.layout.name) && $0.kind != .delete }
                .compactMap { reading.id(of: $0.objectID) })
    }

    // MARK: Identifiers

    /// Notes which identifiers the changed rows have, and those that they refer to, also if they are gone.
    private func noteRows(in recorded: [RecordedTransaction]) throws {
        var ends: Set<NSManagedObjectID> = []
        for change in recorded.lazy.flatMap(\.changes) {
            ends.insert(change.objectID)
            note(change.objectID, change.former, change.current, change.others)
            ends.formUnion(Self.ends(of: change.former))
            ends.formUnion(Self.ends(of: change.current))
        }
        try reading.lookUp(ends)
        let unknown = ends.filter { reading.id(of: $0) == nil }
        guard !unknown.isEmpty, let last = recorded.last?.row.number else { return }
        // They were deleted later.
        let keys = Set(unknown.map(\.key))
        for change in try history.historyChanges(after: .transaction(last), through: nil, ofKeys: keys)
        where change.kind == .delete { note(change.objectID, change.former ?? [:]) }
    }

    private func note(_ identifier: NSManagedObjectID, _ values: [String: KeptValue]...) {
        guard let entity = mapping.entity(of: identifier.layout) else { return }
        for known in values {
            if case .value(let value)? = known[entity.key.name], let text = SyncValues.text(ofKey: value) {
                return reading.note(identifier, RowID(entity.name, text))
            }
        }
    }

    // MARK: Stamps

    /// The last changes of rows' properties after a transaction.
    func stamps(of rows: [RowID: FoundRow], after number: Int64) throws -> [RowID: [String: Stamp]] {
        let ids = Dictionary(rows.map { ($1.row.objectID, $0) }, uniquingKeysWith: { first, _ in first })
        if ids.isEmpty { return [:] }
        let changes = try history.historyChanges(
            after: .transaction(number), through: nil, ofKeys: Set(ids.keys.map(\.key))
        ).filter { ids[$0.objectID] != nil && $0.kind != .delete }
        if changes.isEmpty { return [:] }
        let transactions = Dictionary(
            try history.historyTransactions(numbered: Set(changes.map(\.transaction)))
                .map { ($0.number, Self.stamp($0)) },
            uniquingKeysWith: { first, _ in first })
        var stamps: [RowID: [String: Stamp]] = [:]
        for change in changes {
            guard let id = ids[change.objectID], let stamp = transactions[change.transaction] else { continue }
            for property in mapping[id.entity]?.properties ?? [] {
                if change.kind == .update, let names = change.changedNames,
                    !names.contains(property.storedName)
                {
                    continue
                }
                stamps[id, default: [:]][property.name] = stamp
            }
        }
        return stamps
    }

    private static func stamp(_ row: HistoryTransactionRow) -> Stamp {
        let mark = SyncMark(row.contextName)
        return Stamp(
            number: HistoryNumber(row.number), time: mark?.time ?? microseconds(row.timestamp),
            device: mark == nil ? nil : row.author.map { DeviceID($0) })
    }

    /// What some rows were that were deleted after a transaction.
    func tombstones(
        of ids: Set<RowID>, after number: Int64, _ known: ReadDeletions, in epochs: [Epoch]
    ) throws -> [RowID: Tombstone] {
        let deletions = try known.deletions(after: number, in: history, of: epochs)
        var found: [(id: RowID, change: HistoryChangeRow)] = []
        for change in deletions {
            note(change.objectID, change.former ?? [:])
            if let id = reading.id(of: change.objectID), ids.contains(id) { found.append((id, change)) }
        }
        try reading.lookUp(
            found.flatMap { item in
                (item.change.former ?? [:]).values.compactMap { value in
                    if case .value(.identifier(let end)) = value { end } else { nil }
                }
            })
        var tombstones: [RowID: Tombstone] = [:]
        for (id, change) in found {
            var values: [String: SyncValue] = [:]
            for property in mapping[id.entity]?.properties ?? [] {
                values[property.name] = value(of: property, change.former?[property.storedName])
            }
            tombstones[id] = Tombstone(number: HistoryNumber(change.transaction), row: PlannedRow(values: values))
        }
        return tombstones
    }
}

/// The deletions of a server's history that were read last: each push needs them, and reads only those that came since
/// the one before. It is used under the session's lock.
final class ReadDeletions {
    private var part: (epochs: [Epoch], after: Int64, through: Int64)?
    private var changes: [HistoryChangeRow] = []
    private static let most = 10_000

    func deletions(
        after number: Int64, in history: any HistoryEngine, of epochs: [Epoch]
    ) throws -> [HistoryChangeRow] {
        let latest = try history.latestTransaction()
        var (first, start) = (number, number)
        if let part, part.epochs == epochs, part.after <= number, part.through <= latest, changes.count < Self.most {
            (first, start) = (part.after, part.through)
        } else {
            changes = []
        }
        // A page of the history at a time: only deletions are kept.
        while start < latest {
            let end = min(start + 100, latest)
            changes += try history.historyChanges(after: .transaction(start), through: end, ofKeys: nil)
                .filter { $0.kind == .delete }
            start = end
        }
        part = (epochs, first, latest)
        return changes.filter { $0.transaction > number }
    }
}
