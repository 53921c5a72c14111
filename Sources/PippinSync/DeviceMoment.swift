import Foundation
import StoreSession
import SyncPlanning

/// A device's store while nobody else saves: its rows, what it keeps, and own transactions that are in the history
/// alone.
struct DeviceMoment {
    var content: DeviceContent
    /// What the store has noted.
    private let former: DeviceContent
    /// Own transactions after those that were captured, in order.
    let fresh: [OwnTransaction]
    private let place: SyncStore
    private let transaction: OptimisticTransaction?
    private let reading: RowReading
    /// The same transactions as the history has them.
    private let read: [ReadTransaction]
    /// The last transaction of the store's history, or of the part of it that was read.
    private let latest: Int64
    /// Whether the history may have own transactions after `latest`.
    private let isPart: Bool

    /// - Parameters:
    ///   - place: the store.
    ///   - transaction: the transaction during which nobody else saves; nil for the store's long one.
    ///   - forBatch: whether the transactions of one batch are enough: no more of the history is read then, if all that
    ///     is unsent is there.
    /// - Throws: ``SyncError``, and the errors of the store.
    init(_ place: SyncStore, _ transaction: OptimisticTransaction?, forBatch: Bool = false) throws {
        (self.place, self.transaction) = (place, transaction)
        let (store, history) = try place.parts()
        guard let content = try DeviceContent(place) else {
            throw SyncError.damaged(place.name, CocoaError(.fileReadCorruptFile))
        }
        (self.content, former) = (content, content)
        reading = RowReading(place.mapping, place.session, store)
        let most = forBatch && content.waiting == 0 ? (Self.mostTransactions, Self.mostChanges) : nil
        guard let own = try ChangeReader(place, reading).ownTransactions(after: content.captured, most: most) else {
            throw SyncError.historyIsTrimmed(place.name)
        }
        (read, isPart) = (own.own, own.end != nil)
        latest = try own.end ?? history.latestTransaction()
        fresh = read.compactMap { Self.own($0, content) }
    }

    /// A transaction of the program's own; nil for one of which nothing is synced.
    static func own(_ read: ReadTransaction, _ content: DeviceContent) -> OwnTransaction? {
        let base = content.cursor(of: read.number)
        var changes: [PlannedChange] = []
        for change in read.changes {
            let origin = ChangeOrigin(transaction: UInt64(read.number), place: changes.count)
            switch change.kind {
            case .insert: changes.append(PlannedChange(change.id, base: base, .insert(change.new), origin: origin))
            case .delete: changes.append(PlannedChange(change.id, base: base, .delete, origin: origin))
            case .update:
                var values: [String: ValueChange] = [:]
                for (property, new) in change.new where change.old[property] != new {
                    values[property] = ValueChange(old: change.old[property] ?? .null, new: new)
                }
                if values.isEmpty { continue }
                changes.append(PlannedChange(change.id, base: base, .update(values), origin: origin))
            }
        }
        if changes.isEmpty { return nil }
        // The history knows the clock on the wall alone.
        return OwnTransaction(
            number: UInt64(read.number), reading: ClockReading(boot: "", running: 0, wall: read.time),
            changes: changes)
    }

    // MARK: Rows

    /// What the server last had of rows: what is kept, or else what is shown without the changes that are in the
    /// history alone.
    private func formerRows(_ ids: Set<RowID>) throws -> [RowID: PlannedRow?] {
        let kept = Dictionary(
            content.base.map { ($0.id, $0.values.map { PlannedRow(values: $0) }) },
            uniquingKeysWith: { first, _ in first })
        var rows: [RowID: PlannedRow?] = [:]
        let others = ids.filter { id in
            guard let row = kept[id] else { return true }
            rows[id] = .some(row)
            return false
        }
        let present = try reading.rows(others)
        for id in others { rows[id] = .some(present[id]) }
        var later: [ReadTransaction.Change] = []
        if isPart {
            let changed = read.lazy.flatMap(\.changes).filter { others.contains($0.id) }
            later = try ChangeReader(place, reading).laterChanges(
                after: latest, of: Dictionary(changed.map { ($0.row, $0.id) }, uniquingKeysWith: { $1 }))
        }
        for changes in [later] + read.reversed().map(\.changes) {
            for change in changes.reversed() where others.contains(change.id) {
                switch change.kind {
                case .insert: rows[change.id] = .some(nil)
                case .update:
                    guard var row = rows[change.id] ?? nil else { continue }
                    row.values.merge(change.old) { $1 }
                    rows[change.id] = .some(row)
                case .delete: rows[change.id] = .some(PlannedRow(values: filled(change.old, change.id)))
                }
            }
        }
        try reading.addScopes(to: &rows, place.schema)
        return rows
    }

    /// Rows that differ from the server's, or that unsent transactions change, as the server last had them.
    func unsentRows() throws -> [RowID: PlannedRow?] {
        var ids = Set(content.base.map(\.id))
        for transaction in content.open + fresh + (content.frozen?.request.transactions ?? []) {
            ids.formUnion(transaction.changes.map(\.id))
        }
        return try formerRows(ids)
    }

    private func filled(_ values: [String: SyncValue], _ id: RowID) -> [String: SyncValue] {
        var values = values
        for (property, description) in place.schema.entities[id.entity]?.properties ?? [:]
        where values[property] == nil {
            switch description.kind {
            case .list: values[property] = .list([])
            case .set: values[property] = .set([])
            case .value, .reference: values[property] = description.defaultValue ?? .null
            }
        }
        return values
    }

    private mutating func keepBase(_ base: [RowID: PlannedRow?]) {
        content.base = base.map { DeviceContent.BaseRow(id: $0.key, values: $0.value?.values) }
    }

    /// Leaves transactions that are as the history has them to the history, and keeps the others.
    private mutating func keepOpen(_ open: [OwnTransaction]) {
        var left = 0
        while left < min(open.count, fresh.count), open[open.count - 1 - left] == fresh[fresh.count - 1 - left] {
            left += 1
        }
        content.open = Array(open.dropLast(left))
        content.captured = left == 0 ? latest : Int64(fresh[fresh.count - left].number) - 1
    }

    /// Notes the content as it is now.
    private func keep() throws {
        try place.write([:], contextName: nil, in: transaction) { _ in try content.notes(replacing: former) }
    }

    // MARK: Freezing

    /// How many transactions and changes a batch has at most, and how far apart they were saved: the server keeps one
    /// time for all.
    private static let (mostTransactions, mostChanges, longest) = (500, 5_000, Int64(1_000_000))

    private func limit(of open: [OwnTransaction]) -> Int {
        guard let first = open.first else { return 0 }
        var (count, changes) = (0, 0)
        for transaction in open {
            changes += transaction.changes.count
            if count > 0,
                count == Self.mostTransactions || changes > Self.mostChanges
                    || transaction.reading.wall - first.reading.wall > Self.longest
            {
                break
            }
            count += 1
        }
        return count
    }

    /// - Returns: the batch; nil if nothing of the part of the history that was read is to be sent, and more is there.
    mutating func freeze(_ order: FreezeOrder) throws -> StoreResult? {
        let open = content.open + fresh
        let result = Freezing.freeze(
            open, order, record: content.record, schema: place.schema, limit: limit(of: open))
        guard let request = result.request else {
            if isPart { return nil }
            return .frozen(nil, waitsForServer: result.waitsForServer, waitsForProgram: result.waitsForProgram)
        }
        keepOpen(result.rest)
        let ids = Set((request.transactions + content.open).flatMap { $0.changes.map(\.id) })
        keepBase(try formerRows(ids.union(content.base.map(\.id))))
        content.frozen = FrozenBatch(request: request)
        content.record.nextBatch = request.batch + 1
        try keep()
        return .frozen(request, waitsForServer: result.waitsForServer, waitsForProgram: result.waitsForProgram)
    }

    // MARK: Rebasing

    /// What a rebase comes to.
    enum RebaseResult {
        case done(StoreResult)
        /// It has to be noted that the closures of these rows are about to run.
        case note(Set<RowID>)
    }

    /// - Parameters:
    ///   - order: what to do.
    ///   - staged: the downloaded rows, if the order needs them.
    ///   - stage: the notes that they come from, which are deleted.
    ///   - closures: the program's closures.
    ///   - noted: the rows whose closures have been noted for this step.
    /// - Returns: whether something is unsent, or which closures have to be noted before.
    /// - Throws: the errors of the store.
    mutating func rebase(
        _ order: RebaseOrder, staged: [PageChange], removing stage: [String: Data?], _ closures: ProgramClosures?,
        noted: Set<RowID>
    ) throws -> RebaseResult {
        let open = content.open + fresh
        let schema = place.schema
        var input = RebaseInput(
            order: order, record: content.record, schema: schema, frozen: content.frozen, open: open)
        input.staged = order.stage == nil ? [] : staged
        if let restored = order.restored { input.lost = try lost(after: restored.lastDecided) }
        var changed = Set(content.base.map(\.id))
        for transaction in open + input.lost + (content.frozen?.request.transactions ?? []) {
            changed.formUnion(transaction.changes.map(\.id))
        }
        let former = try formerRows(changed)
        input.dirty = former
        let shown = try reading.rows(changed)
        for id in changed { input.shown[id] = .some(shown[id]) }
        (input.noted, input.attempts) = (noted, content.attempts)
        let left = content.record.scopes.subtracting(order.record.scopes)
        if !left.isEmpty, order.stage != .everything { input.leaving = try rows(of: left) }
        let downloaded = order.stage == .everything ? downloadedRows(staged) : nil
        let rules = closures?.rules(reading) ?? .none
        var facts = RowFacts()
        while true {
            switch try Rebasing.step(input, rules: rules, facts: facts) {
            case .needs(let questions): try answer(questions, former, downloaded, &facts)
            case .note(let ids): return .note(ids)
            case .done(let plan):
                try carryOut(plan, order, former, shown, downloaded, removing: stage)
                return .done(.rebased(hasOpen: !plan.open.isEmpty))
            }
        }
    }

    /// The server's rows of some scopes.
    private func rows(of scopes: Set<SyncScope>) throws -> Set<RowID> {
        var found: Set<RowID> = []
        let all = try allRows()
        for start in stride(from: 0, to: all.count, by: 1_000) {
            for (id, row) in try formerRows(Set(all[start..<min(start + 1_000, all.count)])) {
                if let scope = row?.scope, scopes.contains(scope) { found.insert(id) }
            }
        }
        for (id, row) in try unsentRows() {
            if let scope = row?.scope, scopes.contains(scope) { found.insert(id) }
        }
        return found
    }

    /// What the server has taken, and lost.
    private func lost(after batch: UInt64) throws -> [OwnTransaction] {
        if let forgotten = content.forgotten, forgotten > batch { throw SyncError.historyIsTrimmed(place.name) }
        let batches = content.acknowledged.filter { $0.batch > batch }
        guard let first = batches.map(\.first).min(), let last = batches.map(\.last).max() else { return [] }
        guard let all = try ChangeReader(place, reading).transactions(after: Int64(first) - 1, limit: .max) else {
            throw SyncError.historyIsTrimmed(place.name)
        }
        return all.filter { $0.mark == nil && $0.number <= Int64(last) }.compactMap { Self.own($0, content) }
    }

    private func downloadedRows(_ staged: [PageChange]) -> [RowID: PlannedRow] {
        var rows: [RowID: PlannedRow] = [:]
        for case .row(let id, let values, let scope) in staged {
            rows[id] = PlannedRow(values: filled(values, id), scope: scope)
        }
        return rows
    }

    private func answer(
        _ questions: RowQuestions, _ former: [RowID: PlannedRow?], _ downloaded: [RowID: PlannedRow]?,
        _ facts: inout RowFacts
    ) throws {
        facts.answers = questions.answers
        if let downloaded {
            for id in questions.rows { facts.rows[id] = .absent }
            for id in questions.referrers { facts.referrers[id] = [] }
            for key in questions.holders { facts.holders[key] = [] }
            return Self.answer(questions, from: downloaded, &facts)
        }
        for (id, row) in try formerRows(questions.rows) { facts.rows[id] = row.map { .row($0) } ?? .absent }
        // Rows with unsent changes may refer to others than they did.
        let known = former.compactMapValues(\.self)
        for (id, present) in try reading.referrers(of: questions.referrers) {
            let others = known.filter { $0.value.references().contains { $0.destination == id } }.keys
            facts.referrers[id] = present.union(others)
        }
        for (key, present) in try reading.holders(of: questions.holders) {
            facts.holders[key] = present.union(Self.holders(of: key, among: known))
        }
    }

    /// Adds what some downloaded rows answer.
    static func answer(_ questions: RowQuestions, from rows: [RowID: PlannedRow], _ facts: inout RowFacts) {
        for id in questions.rows {
            if let row = rows[id] { facts.rows[id] = .row(row) }
        }
        if !questions.referrers.isEmpty {
            for (referrer, row) in rows {
                for id in row.references().map(\.destination) where questions.referrers.contains(id) {
                    facts.referrers[id, default: []].insert(referrer)
                }
            }
        }
        for key in questions.holders { facts.holders[key, default: []].formUnion(holders(of: key, among: rows)) }
    }

    private static func holders(of key: UniqueKey, among rows: [RowID: PlannedRow]) -> Set<RowID> {
        let rule = UniqueRule(key.properties, whenTaken: .refuse)
        return Set(
            rows.filter { $0.key.entity == key.entity && UniqueKey(rule, of: $0.value, in: key.entity) == key }.keys)
    }

    private mutating func carryOut(
        _ plan: RebasePlan, _ order: RebaseOrder, _ former: [RowID: PlannedRow?], _ shown: [RowID: PlannedRow],
        _ downloaded: [RowID: PlannedRow]?, removing stage: [String: Data?]
    ) throws {
        let noted = self.former
        var targets = plan.shown
        if let downloaded {
            for (id, row) in downloaded where targets[id] == nil { targets[id] = .some(row) }
            for id in try allRows() where targets[id] == nil { targets[id] = .some(nil) }
        }
        for refused in plan.journal {
            content.refuse(refused, shown[refused.change.id]?.values ?? refused.change.newValues)
        }
        if let frozen = content.frozen { content.acknowledge(frozen.request.batch, plan.acknowledged) }
        if let last = order.restored?.lastDecided { content.acknowledged.removeAll { $0.batch > last } }
        (content.frozen, content.attempts) = (nil, [:])
        // Rules may have changed rows that neither side had.
        let others = downloaded == nil ? try formerRows(Set(plan.shown.keys.filter { former[$0] == nil })) : [:]
        keepOpen(plan.open)
        let unsent = Set(plan.open.flatMap { $0.changes.map(\.id) })
        var base: [RowID: PlannedRow?] = [:]
        for id in unsent.union(former.keys).union(plan.shown.keys) {
            let server = plan.base[id] ?? downloaded.map { $0[id] } ?? former[id] ?? others[id] ?? nil
            guard unsent.contains(id) || targets[id].map({ $0 != server }) ?? false else { continue }
            base[id] = .some(server)
        }
        keepBase(base)
        content.record = order.record
        let mark = SyncMark(number: order.end, time: order.transactions.last?.time ?? 0)
        try place.write(targets, contextName: mark.contextName, in: transaction) {
            [content, latest] isWritten in
            var content = content
            content.note(cursor: order.end, after: latest)
            // Nothing of the own history is left to read: what is written now is not read again, either.
            if isWritten, content.captured == latest { content.captured = latest + 1 }
            return try content.notes(replacing: noted).merging(stage) { $1 }
        }
    }

    /// Whether the store has no rows, and nothing of its own is unsent or on its way.
    func isEmpty() throws -> Bool {
        if content.waiting > 0 || !fresh.isEmpty || !content.base.isEmpty { return false }
        for entity in place.mapping.entities {
            var plan = FetchPlan(entity: entity.layout)
            plan.includesSubentities = false
            plan.limit = 1
            if try !reading.store.engine.fetchIdentifiers(plan).isEmpty { return false }
        }
        return true
    }

    /// The identifiers of all rows.
    private func allRows() throws -> [RowID] {
        var ids: [RowID] = []
        let engine = reading.store.engine
        for entity in place.mapping.entities {
            var plan = FetchPlan(entity: entity.layout)
            plan.includesSubentities = false
            try engine.forEachRow(plan) { row in
                if let value = try? row.value(at: entity.keySlot), let text = SyncValues.text(ofKey: value) {
                    ids.append(RowID(entity.name, text))
                }
                return true
            }
        }
        return ids
    }
}
