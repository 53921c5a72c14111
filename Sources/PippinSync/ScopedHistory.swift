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
        var read: [ReadTransaction] = []
        var place = Int64(pull.after)
        while true {
            guard let part = try reader.transactions(after: place, limit: 2_000) else {
                throw SyncError.historyIsTrimmed(self.place.name)
            }
            guard let last = part.last else { break }
            read += part
            place = last.number
        }
        let first = read.filter { $0.number <= Int64(end) }
        let ids = Set(read.lazy.flatMap(\.changes).map(\.id))
        let present = try reading.rows(ids)
        var then: [RowID: PlannedRow?] = [:]
        for id in ids { then.updateValue(present[id], forKey: id) }
        undo(read.filter { $0.number > Int64(end) }, in: &then)
        var before = then
        undo(first, in: &before)
        var changed = Set(first.lazy.flatMap(\.changes).map(\.id))
        try addOwned(to: &changed, &before, &then)
        let writers = Writers(first, pull.device)
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
        if let last = first.last {
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

    /// Makes rows what they were before some transactions.
    private func undo(_ transactions: [ReadTransaction], in rows: inout [RowID: PlannedRow?]) {
        for change in transactions.reversed().lazy.flatMap({ $0.changes.reversed() }) {
            switch change.kind {
            case .insert: rows.updateValue(nil, forKey: change.id)
            case .update: rows[change.id]??.values.merge(change.old) { $1 }
            case .delete: rows.updateValue(PlannedRow(values: change.old), forKey: change.id)
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
        private var last: [RowID: [String: Bool]] = [:]
        private var isOwn: [RowID: Bool] = [:]

        init(_ transactions: [ReadTransaction], _ device: DeviceID) {
            for transaction in transactions {
                let own = transaction.mark != nil && transaction.author == device.name
                for change in transaction.changes {
                    isOwn[change.id] = own && isOwn[change.id] ?? true
                    for property in change.new.keys { last[change.id, default: [:]][property] = own }
                }
            }
        }

        /// Whether the device has made all changes of a row.
        func areOwn(_ id: RowID) -> Bool { isOwn[id] ?? false }

        func ownProperties(of id: RowID) -> [String] { last[id]?.filter(\.value).map(\.key) ?? [] }
    }
}
