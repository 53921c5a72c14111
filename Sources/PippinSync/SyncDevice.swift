import Foundation
import StoreSession
import SyncPlanning

/// The device's side of a sync: carries out in the store what the state machine asks for, each in one transaction.
final class SyncDevice {
    let place: SyncStore
    /// The closures of the program's schemas; nil if there are none.
    private let closures: ProgramClosures?
    /// How many portions of a download were noted; nil before that is known.
    var portions: Int?

    init(_ place: SyncStore) {
        self.place = place
        closures = ProgramClosures(place.manager, place.mapping)
    }

    /// What the store keeps of its sync, which begins now if it keeps nothing.
    func start() throws -> DeviceContent {
        try place.exclusively { transaction in
            if let former = try DeviceContent(place) {
                guard former.record.isScoped ?? false != place.schema.isScoped else { return former }
                // The rows of some scopes take the place of all rows, or the other way round.
                var content = former
                (content.record.epoch, content.record.download) = (nil, nil)
                content.record.isScoped = place.schema.isScoped
                try place.write([:], contextName: nil, in: transaction) { _ in try content.notes(replacing: former) }
                return content
            }
            let captured = try beginHistory()
            var content = DeviceContent(record: DeviceRecord(device: DeviceID(UUID().uuidString)), captured: captured)
            content.record.isScoped = place.schema.isScoped
            try place.write([:], contextName: nil, in: transaction) { _ in try content.notes(replacing: nil) }
            return content
        }
    }

    /// Makes sure that the history has all rows: a store may have had rows before it had a history, or its history was
    /// trimmed.
    ///
    /// - Returns: the number after which the history has all rows.
    /// - Throws: ``SyncError`` for a store that cannot record them.
    private func beginHistory() throws -> Int64 {
        let (store, history) = try place.parts()
        let oldest = try history.oldestKeptTransaction() ?? 1
        if oldest <= 1, try recorded(history) == rows(store) { return 0 }
        let latest = try history.latestTransaction()
        if try rows(store).values.allSatisfy({ $0 == 0 }) { return latest }
        guard try history.recordRows() else { throw SyncError.historyIsTrimmed(place.name) }
        return latest
    }

    /// How many rows there are of each entity.
    private func rows(_ store: SessionStore) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for entity in place.mapping.entities {
            var plan = FetchPlan(entity: entity.layout)
            plan.includesSubentities = false
            counts[entity.layout.name] = try store.engine.fetchCount(plan)
        }
        return counts
    }

    /// How many rows of each entity the history has made and not deleted.
    private func recorded(_ history: any HistoryEngine) throws -> [String: Int] {
        var counts = Dictionary(
            place.mapping.entities.map { ($0.layout.name, 0) }, uniquingKeysWith: { first, _ in first })
        var last: Int64 = 0
        while true {
            let transactions = try history.historyTransactions(after: .transaction(last), limit: 200)
            guard let end = transactions.last?.number else { return counts }
            for change in try history.historyChanges(after: .transaction(last), through: end, ofKeys: nil) {
                switch change.kind {
                case .insert: counts[change.objectID.layout.name]? += 1
                case .delete: counts[change.objectID.layout.name]? -= 1
                case .update: break
                }
            }
            last = end
        }
    }

    /// Forgets the server. What is unsent is sent to the next one, as if it was saved without knowing its rows.
    func forget() throws {
        try emptyStage()
        try place.exclusively { transaction in
            guard let former = try DeviceContent(place) else { return }
            var content = former
            content.record = DeviceRecord(device: DeviceID(UUID().uuidString))
            content.record.isScoped = place.schema.isScoped
            content.open = (content.frozen?.request.transactions ?? []) + content.open
            for transaction in content.open.indices {
                for change in content.open[transaction].changes.indices {
                    content.open[transaction].changes[change].base = 0
                    content.open[transaction].changes[change].seen = 0
                }
            }
            (content.frozen, content.acknowledged, content.cursors) = (nil, [], [])
            try place.write([:], contextName: nil, in: transaction) { _ in try content.notes(replacing: former) }
        }
    }

    /// How many own transactions the server has not decided about, and how many changes are in the journal.
    func counts() throws -> (pending: Int, refused: Int) {
        try place.session.withLock {
            let noting = try place.noting()
            guard let summary = try place.noted(DevicePosition.self, SyncNote.cursor)?.summary else { return (0, 0) }
            let later = try place.parts().history.historyTransactions(after: .transaction(summary.captured))
            let own = later.count { SyncMark($0.contextName) == nil }
            return (summary.waiting + own, try noting.noteCount(beginningWith: SyncNote.journal))
        }
    }

    // MARK: Work

    func run(_ work: StoreWork) throws -> StoreResult {
        switch work {
        case .keep(let record):
            return try changing { $0.record = record }
        case .keepAnswer(let answer):
            return try changing { $0.frozen?.answer = answer }
        case .stage(let rows, let record, let isFirst):
            if isFirst { try emptyStage() }
            return try changing(noting: notes(of: rows)) { $0.record = record }
        case .freeze(let order):
            return try place.exclusively { transaction in
                var moment = try DeviceMoment(place, transaction, forBatch: true)
                if let result = try moment.freeze(order) { return result }
                moment = try DeviceMoment(place, transaction)
                return try moment.freeze(order) ?? .frozen(nil, waitsForServer: false, waitsForProgram: false)
            }
        case .rebase(let order):
            if order.stage == .everything, let result = try fill(order) { return result }
            if let result = try followEcho(order) { return result }
            var noted: Set<RowID> = []
            while true {
                let result = try place.exclusively { transaction in
                    var moment = try DeviceMoment(place, transaction)
                    guard let kind = order.stage else {
                        return try moment.rebase(order, staged: [], removing: [:], closures, noted: noted)
                    }
                    var staged: [PageChange] = []
                    let names = try forEachPortion { staged += $0.changes(of: kind) }
                    portions = nil
                    return try moment.rebase(order, staged: staged, removing: names, closures, noted: noted)
                }
                switch result {
                case .done(let result): return result
                case .note(let ids):
                    _ = try changing { content in for id in ids { content.attempts[id, default: 0] += 1 } }
                    noted.formUnion(ids)
                }
            }
        }
    }

    /// Takes in a page that has nothing but what the server has made of the batch, just as it was sent: the rows stay
    /// as they are, and what is unsent is not read.
    ///
    /// - Returns: nil for another page: nothing was done then.
    private func followEcho(_ order: RebaseOrder) throws -> StoreResult? {
        if order.stage != nil || closures != nil || place.schema.isScoped { return nil }
        return try place.exclusively { transaction in
            guard let former = try DeviceContent(place), let frozen = former.frozen, former.open.isEmpty,
                former.attempts.isEmpty
            else { return nil }
            let base = Dictionary(
                former.base.map { ($0.id, $0.values.map { PlannedRow(values: $0) }) }, uniquingKeysWith: { $1 })
            guard frozen.isEchoed(by: order, from: former.record, base: base) else { return nil }
            let (_, history) = try place.parts()
            var content = former
            content.acknowledge(frozen.request.batch, frozen.request.transactions)
            content.frozen = nil
            let sent = Set(frozen.request.transactions.lazy.flatMap(\.changes).map(\.id))
            content.base.removeAll { sent.contains($0.id) }
            content.record = order.record
            content.note(cursor: order.end, after: try history.latestTransaction())
            try place.write([:], contextName: nil, in: transaction) { [content] _ in
                try content.notes(replacing: former)
            }
            return .rebased(
                hasOpen: try ChangeReader(place, place.reading()).hasOwnTransactions(after: content.captured))
        }
    }

    /// Changes what is kept beside the rows.
    private func changing(
        noting others: [String: Data?] = [:], _ change: (inout DeviceContent) -> Void
    ) throws -> StoreResult {
        try place.exclusively { transaction in
            guard let former = try DeviceContent(place) else {
                throw SyncError.damaged(place.name, CocoaError(.fileReadCorruptFile))
            }
            var content = former
            change(&content)
            try place.write([:], contextName: nil, in: transaction) { [content] _ in
                try content.notes(replacing: former).merging(others) { $1 }
            }
            return .kept
        }
    }

    // MARK: Repairs

    /// The rows as the server is to have them, from one state of the store.
    struct Scan {
        let sums: RangeSums
        private let unsent: [RowID: PlannedRow?]
        private let rows: ServerDownload
        private let place: SyncStore

        init(_ place: SyncStore, _ known: KnownProperties) throws {
            self.place = place
            (unsent, rows) = try place.exclusively { transaction in
                (try DeviceMoment(place, transaction).unsentRows(), try ServerDownload(place, number: 0, after: nil))
            }
            var sums = RangeSums(known)
            for (id, row) in unsent { if let row { sums.add(id, row.values) } }
            try rows.forEach { [unsent] id, row in
                if unsent[id] == nil { sums.add(id, row.values) }
                return true
            }
            self.sums = sums
        }

        /// The rows of some ranges.
        func rows(in ranges: Set<IdentifierRange>) throws -> [RowID: PlannedRow] {
            var found = unsent.compactMapValues(\.self).filter { ranges.contains(IdentifierRange(of: $0.key)) }
            try rows.again().forEach { id, row in
                if unsent[id] == nil, ranges.contains(IdentifierRange(of: id)) { found[id] = row }
                return true
            }
            return found
        }
    }

    func scan(_ known: KnownProperties) throws -> Scan { try Scan(place, known) }

    /// Makes rows those of the server, and keeps what is unsent on top of them.
    ///
    /// - Parameters:
    ///   - changes: what the server has.
    ///   - record: where the device was when it was asked.
    /// - Returns: what differed; nil if the device is somewhere else by now.
    /// - Throws: the errors of the store.
    func repair(_ changes: [PageChange], at record: DeviceRecord) throws -> [RepairedModel]? {
        let present = try place.session.withLock { try DeviceContent(place) }
        guard present?.record.cursor == record.cursor, present?.record.epoch == record.epoch else { return nil }
        _ = try run(.rebase(.repair(changes, at: record)))
        return changes.map { RepairedModel($0) }
    }

    // MARK: The journal

    func journal() throws -> [DeviceContent.JournalEntry] {
        try place.exclusively { _ in
            try place.allNoted(DeviceContent.JournalEntry.self, beginningWith: SyncNote.journal)
        }
    }

    /// Removes a change from the journal.
    ///
    /// - Parameters:
    ///   - number: the entry's number.
    ///   - change: what the row is to be, from the entry; nil to save nothing.
    /// - Throws: the errors of the store.
    func settle(_ number: Int, _ change: ((DeviceContent.JournalEntry) -> PlannedRow?)?) throws {
        try place.exclusively { transaction in
            let name = SyncNote.journal(number)
            guard let entry = try place.noted(DeviceContent.JournalEntry.self, name) else { return }
            var targets: [RowID: PlannedRow?] = [:]
            if let change { targets[entry.refused.change.id] = .some(change(entry)) }
            try place.write(targets, contextName: nil, in: transaction) { _ in [name: nil] }
        }
    }
}
