import Foundation
import Pippin
import StoreSession
import SyncPlanning

/// The server's side of a sync: answers a device's requests from a store, each in one transaction.
///
/// The store is opened by the first request, so that a device can begin while the server is away.
final class SyncServer {
    let manager: PersistenceManager
    private var opened: SyncStore?
    /// The state that is being downloaded. It is gone with the process; the download then begins anew.
    private var download: ServerDownload?

    init(_ manager: PersistenceManager) { self.manager = manager }

    private func place() throws -> SyncStore {
        if let opened { return opened }
        let new = try SyncStore(manager)
        opened = new
        return new
    }

    /// About how many changes a page has, how many transactions are read for it at once, and how many rows a portion
    /// has.
    private static let (changesOfPage, transactionsOfPage, rowsOfPortion) = (5_000, 2_000, 5_000)

    func answer(_ request: SyncRequest) throws -> SyncAnswer {
        let place = try place()
        switch request {
        case .hello, .push:
            return try place.exclusively { transaction in
                let moment = try ServerState(place)
                return try answer(request, moment, transaction)
            }
        case .pull, .rows:
            try place.manager.openIfNeeded()
            return try place.session.withLock { try answer(request, ServerState(place), nil) }
        }
    }

    private func answer(
        _ request: SyncRequest, _ state: ServerState, _ transaction: OptimisticTransaction?
    ) throws -> SyncAnswer {
        let moment = try state.moment(for: request.device)
        switch ServerPlanning.step(for: request, at: moment) {
        case .answer(let answer): return answer
        case .record(let device, let answer):
            if let transaction, device != moment.device || state.isNew {
                var content = state.content
                content.devices[request.device.name] = device
                try state.write([:], mark: nil, author: nil, transaction) { _ in content }
            }
            return answer
        case .apply(let push):
            guard let transaction else { return .greet }
            return try apply(push, moment, state, transaction)
        case .read(let pull): return .page(try page(for: pull, moment, state))
        case .readRows(let rows):
            if rows.generation == nil { download = try ServerDownload(place(), number: moment.latest) }
            guard let download, rows.generation ?? download.number == download.number,
                let (found, isLast, next) = try download.next(after: rows.after, Self.rowsOfPortion)
            else { return .generationGone }
            if isLast { self.download = nil }
            var portion = ServerPlanning.portion(
                for: rows, of: found, generation: download.number, isLast: isLast, at: moment)
            portion.next = next
            return .portion(portion)
        }
    }

    // MARK: Pushes

    private func apply(
        _ push: PushRequest, _ moment: ServerMoment, _ state: ServerState, _ transaction: OptimisticTransaction
    ) throws -> SyncAnswer {
        let bases = push.transactions.lazy.flatMap(\.changes).map { min($0.base, $0.seen) }
        let base = Int64(bases.min() ?? 0)
        var facts = RowFacts()
        while true {
            switch ServerPlanning.plan(push, at: moment, facts: facts) {
            case .needs(let questions): try state.answer(questions, since: base, &facts)
            case .done(let plan): return .push(try carryOut(plan, push, moment, state, transaction))
            }
        }
    }

    /// All of a push is one transaction of the store's history, or none where the rows stay as they are.
    private static func numbered(_ answer: PushAnswer, _ last: HistoryNumber) -> PushAnswer {
        guard case .decided(let outcomes) = answer else { return answer }
        return .decided(
            outcomes.map { outcome in
                guard case .taken(let number, let refused) = outcome else { return outcome }
                return .taken(min(number, last), refused)
            })
    }

    private func carryOut(
        _ plan: PushPlan, _ push: PushRequest, _ moment: ServerMoment, _ state: ServerState,
        _ transaction: OptimisticTransaction
    ) throws -> PushAnswer {
        var content = state.content
        var targets: [RowID: PlannedRow?] = [:]
        for (id, fact) in plan.rows {
            targets[id] = .some(fact.row)
            guard case .forwarded(let other) = fact, !content.forwards.contains(where: { $0.id == id }) else {
                continue
            }
            content.forwards.append(.init(id: id, other: other, number: moment.latest + 1))
        }
        let time = push.transactions.compactMap(\.time).max().map { min($0, moment.now) }
        let mark = SyncMark(number: push.transactions.last?.number ?? 0, time: time ?? moment.now)
        var answer = plan.answer
        try state.write(
            plan.history.isEmpty ? [:] : targets, mark: mark, author: push.device.name, transaction
        ) { isWritten in
            answer = Self.numbered(plan.answer, moment.latest + (isWritten ? 1 : 0))
            var device = plan.device
            device.lastAnswer = answer
            content.devices[push.device.name] = device
            return content
        }
        return answer
    }

    // MARK: Pages

    private func page(for pull: PullRequest, _ moment: ServerMoment, _ state: ServerState) throws -> Page {
        var history: [PlannedTransaction] = []
        var changes = 0
        var after = Int64(pull.after)
        while changes < Self.changesOfPage || HistoryNumber(after) < pull.atLeast {
            let read = try state.reader.transactions(after: after, limit: Self.transactionsOfPage) ?? []
            for transaction in read {
                let planned = state.planned(transaction)
                changes += planned.changes.count
                history.append(planned)
            }
            guard let last = read.last, read.count == Self.transactionsOfPage else { break }
            after = last.number
        }
        return ServerPlanning.page(for: pull, of: history, at: moment, limit: Self.changesOfPage)
    }
}

/// A server's store in one transaction.
struct ServerState {
    let content: ServerContent
    /// Whether the server begins with this request.
    let isNew: Bool
    let reader: ChangeReader
    private let place: SyncStore
    private let reading: RowReading
    private let history: any HistoryEngine

    init(_ place: SyncStore) throws {
        self.place = place
        let (store, history) = try place.parts()
        self.history = history
        let known = try place.kept(ServerContent.self, ServerContent.key)
        (content, isNew) = (known ?? ServerContent(epoch: UUID().uuidString), known == nil)
        reading = RowReading(place, store)
        reader = try ChangeReader(place, reading)
    }

    func moment(for device: DeviceID) throws -> ServerMoment {
        let latest = try history.latestTransaction()
        let oldest = try history.oldestKeptTransaction().map { $0 - 1 } ?? latest
        return ServerMoment(
            epochs: content.epochs, latest: HistoryNumber(latest), oldest: HistoryNumber(max(0, oldest)),
            schemaVersion: place.mapping.version, schema: place.mapping.schema,
            now: Int64(Date().timeIntervalSince1970 * 1_000_000),
            device: content.devices[device.name] ?? DeviceOnServer(), granted: [])
    }

    /// Answers a plan's questions. The push's changes were made from the state `base` of the server, or later ones.
    func answer(_ questions: RowQuestions, since base: Int64, _ facts: inout RowFacts) throws {
        facts.answers = questions.answers
        let found = try reading.find(questions.rows)
        let stamps = try reader.stamps(of: found, after: base)
        for (id, var row) in try reading.planned(found) {
            row.stamps = stamps[id] ?? [:]
            facts.rows[id] = .row(row)
        }
        var missing = questions.rows.filter { facts.rows[$0] == nil }
        for forward in content.forwards where missing.contains(forward.id) {
            facts.rows[forward.id] = .forwarded(forward.other)
            missing.remove(forward.id)
        }
        if try !missing.isEmpty && history.latestTransaction() > base {
            for (id, tombstone) in try reader.tombstones(of: missing, after: base) {
                facts.rows[id] = .deleted(tombstone)
            }
        }
        for id in missing where facts.rows[id] == nil { facts.rows[id] = .absent }
        facts.referrers.merge(try reading.referrers(of: questions.referrers)) { $1 }
        facts.holders.merge(try reading.holders(of: questions.holders)) { $1 }
    }

    func write(
        _ targets: [RowID: PlannedRow?], mark: SyncMark?, author: String?, _ transaction: OptimisticTransaction,
        keeping content: (_ isWritten: Bool) -> ServerContent
    ) throws {
        try place.write(
            targets, under: ServerContent.key, contextName: mark?.contextName, author: author, in: transaction
        ) { .some(content($0)) }
    }

    /// A transaction of the store's history as the planner has it.
    func planned(_ read: ReadTransaction) -> PlannedTransaction {
        let number = HistoryNumber(read.number)
        var transaction = PlannedTransaction(
            number: number, time: read.mark?.time ?? read.time,
            device: read.mark == nil ? nil : read.author.map { DeviceID($0) }, ownNumber: read.mark?.number,
            changes: [])
        for change in read.changes {
            var planned = HistoryChange(
                id: change.id, before: change.kind == .insert ? nil : PlannedRow(values: change.old),
                after: change.kind == .delete ? nil : PlannedRow(values: change.new))
            if change.kind == .delete {
                planned.forwarded = content.forwards.first { $0.id == change.id && $0.number == number }?.other
            }
            transaction.changes.append(planned)
        }
        return transaction
    }
}

/// All rows of one state of a server, in portions.
final class ServerDownload {
    let number: HistoryNumber
    private let place: SyncStore
    private let generation: PinnedGeneration
    private let reading: RowReading
    private var entity = 0
    private var portions: (any RowPortions)?
    private var given = 0

    init(_ place: SyncStore, number: HistoryNumber) throws {
        (self.place, self.number) = (place, number)
        generation = try place.session.pinCurrentGeneration()
        reading = RowReading(place, try place.parts().store)
    }

    /// The next rows. They are given once: nil for a device that asks for others.
    func next(
        after: RowID?, _ count: Int
    ) throws -> (rows: [(id: RowID, row: PlannedRow)], isLast: Bool, next: RowID?)? {
        guard after == (given == 0 ? nil : Self.place(given)) else { return nil }
        return try place.session.reading(generation) {
            while entity < place.mapping.entities.count {
                let mapped = place.mapping.entities[entity]
                var plan = FetchPlan(entity: mapped.layout)
                plan.includesSubentities = false
                let portions = try self.portions ?? reading.store.engine.portions(plan)
                self.portions = portions
                let rows = Array(try portions.next(count))
                if rows.isEmpty {
                    self.portions = nil
                    entity += 1
                    continue
                }
                var found: [RowID: FoundRow] = [:]
                for item in try reading.withLists(rows, of: mapped) {
                    guard let text = SyncValues.text(ofKey: item.row.values[mapped.keySlot]) else { continue }
                    found[RowID(mapped.name, text)] = item
                }
                given += 1
                return (try reading.planned(found).map { ($0.key, $0.value) }, false, Self.place(given))
            }
            return ([], true, nil)
        }
    }

    private static func place(_ count: Int) -> RowID { RowID("", String(count)) }
}

/// Everything that a server keeps of its devices beside its rows and its history.
struct ServerContent: Codable {
    static let key = "PippinSyncServer"

    var epochs: [Epoch]
    var devices: [String: DeviceOnServer] = [:]
    var forwards: [Forward] = []

    init(epoch: String) { epochs = [Epoch(name: epoch, shared: 0)] }

    /// A row that was joined to another one, and the transaction that did it.
    struct Forward: Codable, Hashable {
        let id: RowID
        let other: RowID
        let number: HistoryNumber
    }
}
