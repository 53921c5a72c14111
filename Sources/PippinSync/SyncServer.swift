import Foundation
import Pippin
import PredicateFormat
import StoreSession
import SyncPlanning
import Synchronization

/// The server's side of a sync: answers a device's requests from a store, each in one transaction.
///
/// The store is opened by the first request, so that a device can begin while the server is away.
final class SyncServer: @unchecked Sendable {
    // @unchecked Sendable: used by one thread at a time, apart from what has a lock of its own.

    private let program: PersistenceManager
    private let location: StoreLocation
    private var opened: SyncStore?
    /// Called when others have changed the store.
    private let heard = Mutex<(@Sendable () -> Void)?>(nil)
    /// The state that is being downloaded. It is gone with the process; the download then goes on in a later one.
    private var download: ServerDownload?

    /// - Parameters:
    ///   - program: the device's store: the server's has the same models, unless it has a model already that is newer.
    ///   - location: where the server's store is.
    init(for program: PersistenceManager, at location: StoreLocation) {
        (self.program, self.location) = (program, location.keepingHistory)
    }

    private func place() throws -> SyncStore {
        if let opened { return opened }
        let new = try open()
        _ = new.session.changes.add { [weak self] changes in
            // The sync's own writes follow saves.
            if changes.followSaves.contains(false) { self?.heard.withLock { $0 }?() }
        }
        opened = new
        return new
    }

    /// Opens the store as the program's models say, or as its own model says where the program has no structs, and
    /// where its structs lack what the store has: both then exchange what both know.
    private func open() throws -> SyncStore {
        let name = "\(program.name) on the server"
        if program.registry.isEmpty, let own = try PersistenceManager.withOwnModel(name: name, of: location) {
            return try SyncStore(own)
        }
        do { return try SyncStore(program.manager(name: name, of: location)) } catch let error as PersistenceError
            where error.code == .wouldLose || error.code == .schemaChanged
        {
            guard let own = try PersistenceManager.withOwnModel(name: name, of: location) else { throw error }
            return try SyncStore(own)
        }
    }

    /// - Parameter heard: called when others have changed the store, once it is open.
    func whenChanged(_ heard: (@Sendable () -> Void)?) { self.heard.withLock { $0 = heard } }

    /// The open store's engine; nil while it is not open.
    var engine: (any StoreEngine)? { opened?.session.onlyStore?.engine }

    func close() async {
        whenChanged(nil)
        await opened?.manager.close()
    }

    /// About how many changes a page has, how many transactions are read for it at once, and how many rows a portion
    /// has.
    private static let (changesOfPage, transactionsOfPage, rowsOfPortion) = (5_000, 2_000, 1_000)

    /// The last transaction of the history: one statement.
    func latest() throws -> HistoryNumber {
        let place = try place()
        return HistoryNumber(try place.session.withLock { try place.parts().history.latestTransaction() })
    }

    func answer(_ request: SyncRequest) throws -> SyncAnswer {
        do { return try answered(request) } catch let error as NSError
            where error.code == CoreDataErrorCode.persistentStoreIncompatibleVersionHash
        {
            // Somebody has migrated the store. The next request opens it anew.
            (opened, download) = (nil, nil)
            throw error
        }
    }

    private func answered(_ request: SyncRequest) throws -> SyncAnswer {
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
                try state.write([:], mark: nil, author: nil, transaction) { _ in
                    (state.content, request.device, device)
                }
            }
            return answer
        case .apply(let push):
            guard let transaction else { return .greet }
            return try apply(push, moment, state, transaction)
        case .read(let pull): return .page(try page(for: pull, moment, state))
        case .readRows(let rows):
            guard let (download, found, isLast, next) = try portion(for: rows, moment) else { return .generationGone }
            if isLast { self.download = nil }
            var portion = ServerPlanning.portion(
                for: rows, of: found, generation: download.number, isLast: isLast, at: moment)
            portion.next = next
            return .portion(portion)
        }
    }

    // MARK: Downloads

    /// The rows that a device asks for. If the state that it began with is gone, it gets those of the present one, as
    /// long as the history has what lies between.
    private func portion(
        for request: RowsRequest, _ moment: ServerMoment
    ) throws -> (ServerDownload, rows: [(id: RowID, row: PlannedRow)], isLast: Bool, next: RowID?)? {
        if let generation = request.generation {
            if let download, download.number == generation,
                let found = try download.next(after: request.after, Self.rowsOfPortion)
            {
                return (download, found.rows, found.isLast, found.next)
            }
            guard request.kind == .everything, generation >= moment.oldest, generation <= moment.latest else {
                return nil
            }
        }
        let new = try ServerDownload(place(), number: moment.latest, after: request.after)
        download = new
        guard let found = try new.next(after: request.after, Self.rowsOfPortion) else { return nil }
        return (new, found.rows, found.isLast, found.next)
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
            return (content, push.device, device)
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
        let known = try place.noted(ServerContent.self, SyncNote.content)
        (content, isNew) = (known ?? ServerContent(epoch: UUID().uuidString), known == nil)
        reading = RowReading(place.mapping, place.session, store)
        reader = try ChangeReader(place, reading)
    }

    func moment(for device: DeviceID) throws -> ServerMoment {
        let latest = try history.latestTransaction()
        let oldest = try history.oldestKeptTransaction().map { $0 - 1 } ?? latest
        return ServerMoment(
            epochs: content.epochs, latest: HistoryNumber(latest), oldest: HistoryNumber(max(0, oldest)),
            schemaVersion: place.mapping.version, schema: place.mapping.schema,
            now: Int64(Date().timeIntervalSince1970 * 1_000_000),
            device: try place.noted(DeviceOnServer.self, SyncNote.devices + device.name) ?? DeviceOnServer(),
            granted: [])
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
        noting known: (_ isWritten: Bool) -> (ServerContent, DeviceID, DeviceOnServer)
    ) throws {
        try place.write(targets, contextName: mark?.contextName, author: author, in: transaction) { isWritten in
            let encoder = JSONEncoder()
            let (new, device, onServer) = known(isWritten)
            var notes: [String: Data?] = [:]
            notes[SyncNote.devices + device.name] = try encoder.encode(onServer)
            if isNew || new != content { notes[SyncNote.content] = try encoder.encode(new) }
            return notes
        }
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

/// The rows of a server's store in portions, by their keys: all of one state, as long as nothing interrupts it. What
/// begins anew at a place goes on from there in the present state; the device hears of the changes between the two.
final class ServerDownload {
    /// The state that the rows are from.
    let number: HistoryNumber
    private let place: SyncStore
    private let generation: PinnedGeneration
    private let reading: RowReading
    private var entity = 0
    private var key: Int64 = 0
    private var portions: (any RowPortions)?

    /// - Parameters:
    ///   - place: the store.
    ///   - number: the last transaction of its history.
    ///   - next: where to go on; nil for the beginning.
    /// - Throws: the errors of the store.
    init(_ place: SyncStore, number: HistoryNumber, after next: RowID?) throws {
        (self.place, self.number) = (place, number)
        generation = try place.session.pinCurrentGeneration()
        reading = try place.reading()
        if let next, let entity = place.mapping.place(of: next.entity), let key = Int64(next.key.string) {
            (self.entity, self.key) = (entity, key)
        }
    }

    /// Where the next rows begin; nil for the beginning.
    private var next: RowID? {
        guard entity > 0 || key > 0, entity < place.mapping.entities.count else { return nil }
        return RowID(place.mapping.entities[entity].name, String(key))
    }

    /// The next rows; nil if the device asks for others.
    func next(
        after: RowID?, _ count: Int
    ) throws -> (rows: [(id: RowID, row: PlannedRow)], isLast: Bool, next: RowID?)? {
        guard after == next else { return nil }
        return try place.session.reading(generation) {
            while entity < place.mapping.entities.count {
                let mapped = place.mapping.entities[entity]
                let portions = try self.portions ?? reading.store.engine.portions(plan(mapped))
                self.portions = portions
                let rows = Array(try portions.next(count))
                guard let last = rows.last else {
                    self.portions = nil
                    (entity, key) = (entity + 1, 0)
                    continue
                }
                key = last.objectID.key
                var found: [RowID: FoundRow] = [:]
                for item in try reading.withLists(rows, of: mapped) {
                    guard let text = SyncValues.text(ofKey: item.row.values[mapped.keySlot]) else { continue }
                    found[RowID(mapped.name, text)] = item
                }
                return (try reading.planned(found).map { ($0.key, $0.value) }, false, next)
            }
            return ([], true, nil)
        }
    }

    private func plan(_ mapped: SyncMapping.Entity) -> FetchPlan {
        var plan = FetchPlan(entity: mapped.layout)
        plan.includesSubentities = false
        plan.sortDescriptors = [NSSortDescriptor(key: "objectID", ascending: true)]
        if key > 0 {
            let last = NSManagedObjectID(layout: mapped.layout, store: reading.store.identity, key: key)
            plan.predicate = NSPredicate(format: "objectID > %@", argumentArray: [last])
        }
        return plan
    }
}

/// What a server keeps beside its rows, its history and what it knows of each device.
struct ServerContent: Codable, Hashable {
    var epochs: [Epoch]
    var forwards: [Forward] = []

    init(epoch: String) { epochs = [Epoch(name: epoch, shared: 0)] }

    /// A row that was joined to another one, and the transaction that did it.
    struct Forward: Codable, Hashable {
        let id: RowID
        let other: RowID
        let number: HistoryNumber
    }
}
