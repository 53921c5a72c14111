import StoreSession
import SyncPlanning

/// The history as a device sees it that has the rows of some scopes.
extension ServerState {
    /// What the rows of a device's scopes were before some transactions, and what they are afterwards, as one
    /// transaction: whether a row comes or leaves depends on other rows, too, so that it is found by the rows as they
    /// were rather than by their changes.
    ///
    /// - Parameters:
    ///   - pull: what the device asks for.
    ///   - moment: what the server knows.
    /// - Returns: a page up to the transaction that the device wants at most, or to the last one.
    /// - Throws: the errors of the store.
    func scopedPage(for pull: PullRequest, _ moment: ServerMoment) throws -> Page {
        let end = pull.atMost ?? moment.latest
        // Two thousand transactions at a time: what is kept of them grows with the rows that they change.
        var (first, later) = (Past(), Past())
        var (writers, last) = (Writers(pull.device), ReadTransaction?.none)
        var place = Int64(pull.after)
        while true {
            guard let part = try reader.transactions(after: place, limit: 2_000) else {
                throw SyncError.historyIsTrimmed(self.place.name)
            }
            guard let latest = part.last else { break }
            for transaction in part {
                if transaction.number > Int64(end) {
                    later.add(transaction)
                } else {
                    first.add(transaction)
                    writers.add(transaction)
                    last = transaction
                }
            }
            last?.changes = []
            place = latest.number
        }
        let ids = first.ids.union(later.ids)
        let present = try reading.rows(ids)
        var then: [RowID: PlannedRow?] = [:]
        for id in ids { then.updateValue(present[id], forKey: id) }
        later.undo(in: &then)
        var before = then
        first.undo(in: &before)
        var changed = first.ids
        try addOwned(to: &changed, &before, &then)
        var (own, others): ([SyncPlanning.HistoryChange], [SyncPlanning.HistoryChange]) = ([], [])
        for id in changed.sorted() {
            let (old, new) = (before[id] ?? nil, then[id] ?? nil)
            if old == nil, new == nil { continue }
            var change = SyncPlanning.HistoryChange(id: id, before: old, after: new)
            if new == nil, let forward = forward(of: id, after: pull.after, through: end) {
                change.forwarded = forward
                change.forwardedScope = then[forward]??.scope
            }
            let mine = writers.ownProperties(of: id)
            if writers.areOwn(id) {
                own.append(change)
            } else if let old, let new, !mine.isEmpty {
                // What the device itself has written is not news to it.
                var between = old
                for property in mine { between.values[property] = new.values[property] }
                own.append(SyncPlanning.HistoryChange(id: id, before: old, after: between))
                others.append(SyncPlanning.HistoryChange(id: id, before: between, after: new))
            } else {
                others.append(change)
            }
        }
        var history: [PlannedTransaction] = []
        if let last {
            let time = last.mark?.time ?? last.time
            let parts: [(DeviceID?, [SyncPlanning.HistoryChange])] = [(pull.device, own), (nil, others)]
            for (device, changes) in parts {
                history.append(
                    PlannedTransaction(
                        number: HistoryNumber(last.number), time: time, device: device, ownNumber: nil, changes: changes
                    ))
            }
        }
        return ServerPlanning.page(for: pull, of: history, at: moment, limit: .max)
    }

    private func forward(of id: RowID, after first: HistoryNumber, through last: HistoryNumber) -> RowID? {
        content.forwards.first { $0.id == id && $0.number > first && $0.number <= last }?.other
    }

    /// What rows were before some transactions, as far as these have changed it.
    private struct Past {
        private enum Row {
            case missing
            case whole([String: SyncValue])
            /// The properties that changed since.
            case part([String: SyncValue])
        }

        private var rows: [RowID: Row] = [:]

        var ids: Set<RowID> { Set(rows.keys) }

        /// Adds the transaction that comes next.
        mutating func add(_ transaction: ReadTransaction) {
            for change in transaction.changes {
                switch (rows[change.id], change.kind) {
                case (nil, .insert): rows[change.id] = .missing
                case (nil, .update): rows[change.id] = .part(change.old)
                case (nil, .delete): rows[change.id] = .whole(change.old)
                case (.part(let old), .update): rows[change.id] = .part(change.old.merging(old) { $1 })
                case (.part(let old), .delete): rows[change.id] = .whole(change.old.merging(old) { $1 })
                case (.part, .insert), (.missing, _), (.whole, _): continue
                }
            }
        }

        func undo(in present: inout [RowID: PlannedRow?]) {
            for (id, row) in rows {
                switch row {
                case .missing: present.updateValue(nil, forKey: id)
                case .whole(let values): present.updateValue(PlannedRow(values: values), forKey: id)
                case .part(let old): present[id]??.values.merge(old) { $1 }
                }
            }
        }
    }

    /// Adds the rows whose owner has gone to another scope, and all scopes.
    private func addOwned(
        to changed: inout Set<RowID>, _ before: inout [RowID: PlannedRow?], _ then: inout [RowID: PlannedRow?]
    ) throws {
        var moved = changed
        while !moved.isEmpty {
            try reading.addScopes(to: &before, place.schema)
            try reading.addScopes(to: &then, place.schema)
            moved = moved.filter { id in
                guard case .some(.some(let old)) = before[id], case .some(.some(let new)) = then[id] else {
                    return false
                }
                return old.scope != new.scope
            }
            if moved.isEmpty { return }
            let present = try reading.referrers(of: moved).values.reduce(into: Set<RowID>()) { $0.formUnion($1) }
            let missing = present.filter { then[$0] == nil }
            for (id, row) in try reading.rows(missing) {
                then.updateValue(row, forKey: id)
                before.updateValue(row, forKey: id)
            }
            moved = Set(
                then.filter { id, row in
                    guard let row, !changed.contains(id),
                        case .asOwner(let owner?) = place.schema.scope(of: id, row.values)
                    else { return false }
                    return moved.contains(owner)
                }.keys)
            changed.formUnion(moved)
        }
    }

    /// Who has written what in some transactions.
    private struct Writers {
        private let device: DeviceID
        private var last: [RowID: [String: Bool]] = [:]
        private var isOwn: [RowID: Bool] = [:]

        init(_ device: DeviceID) { self.device = device }

        mutating func add(_ transaction: ReadTransaction) {
            let own = transaction.mark != nil && transaction.author == device.name
            for change in transaction.changes {
                isOwn[change.id] = own && isOwn[change.id] ?? true
                for property in change.new.keys { last[change.id, default: [:]][property] = own }
            }
        }

        /// Whether the device has made all changes of a row.
        func areOwn(_ id: RowID) -> Bool { isOwn[id] ?? false }

        func ownProperties(of id: RowID) -> [String] { last[id]?.filter(\.value).map(\.key) ?? [] }
    }
}
