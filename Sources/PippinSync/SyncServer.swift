import Foundation
import Pippin
import PredicateFormat
import StoreSession
import SyncPlanning
import Synchronization

/// The server's side of a sync: answers a device's requests from a store, each in one transaction.
///
/// The store is opened by the first request, so that a device can begin while the server is away.
final class StoreServer: SyncPeer, @unchecked Sendable {
    // @unchecked Sendable: used by one thread at a time, apart from what has a lock of its own.

    /// How the store is opened by the first request, where nobody has opened it.
    private let opening: (program: PersistenceManager, location: StoreLocation)?
    private var opened: SyncStore?
    /// Called when others have changed the store.
    private let heard = Mutex<(@Sendable () -> Void)?>(nil)
    /// The state that is being downloaded. It is gone with the process; the download then goes on in a later one.
    private var download: ServerDownload?
    /// The scopes whose rows the device is to have; nil for all rows.
    var scopes: Set<SyncScope>?
    /// The user whose device asks; nil where the database knows the user.
    var user: String?
    /// Whether the user may make a change.
    var authorize: ((SyncPlanning.HistoryChange, ServerState) -> Bool)?
    /// The sums of a state's rows, and the rows of some of its ranges as far as they were read.
    private var summed: (number: HistoryNumber, known: KnownProperties, sums: RangeSums, rows: ServerDownload)?
    private var reading: (ranges: Set<IdentifierRange>, rows: ServerDownload)?
    private let deletions = ReadDeletions()

    /// - Parameters:
    ///   - program: the device's store: the server's has the same models, unless it has a model already that is newer.
    ///   - location: where the server's store is.
    ///   - scopes: the scopes whose rows the device is to have; nil for all rows.
    init(for program: PersistenceManager, at location: StoreLocation, scopes: Set<SyncScope>?) {
        (opening, self.scopes) = ((program, location.keepingHistory), scopes)
    }

    /// One device's part of a store that is open.
    init(of place: SyncStore) { (opening, opened) = (nil, place) }

    private func place() throws -> SyncStore {
        if let opened { return opened }
        guard let opening else { throw SyncError.offline("the store was closed") }
        let new = try open(opening.program, opening.location)
        _ = new.session.changes.add { [weak self] changes in
            // The sync's own writes follow saves.
            if changes.followSaves.contains(false) { self?.heard.withLock { $0 }?() }
        }
        opened = new
        return new
    }

    /// Opens the store as the program's models say, or as its own model says where the program has no structs, and
    /// where its structs lack what the store has: both then exchange what both know.
    private func open(_ program: PersistenceManager, _ location: StoreLocation) throws -> SyncStore {
        let name = "\(program.name) on the server"
        if program.registry.isEmpty, let own = try PersistenceManager.withOwnModel(name: name, of: location) {
            return try SyncStore(own, isScoped: scopes != nil)
        }
        do {
            return try SyncStore(program.manager(name: name, of: location), isScoped: scopes != nil)
        } catch let error as PersistenceError
            where error.code == .wouldLose || error.code == .schemaChanged
        {
            guard let own = try PersistenceManager.withOwnModel(name: name, of: location) else { throw error }
            return try SyncStore(own, isScoped: scopes != nil)
        }
    }

    /// - Parameter heard: called when others have changed the store, once it is open.
    func whenChanged(_ heard: (@Sendable () -> Void)?) { self.heard.withLock { $0 = heard } }

    /// The open store's engine; nil while it is not open.
    var engine: (any StoreEngine)? { opened?.session.onlyStore?.engine }

    func interrupt() {}

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
            if opening != nil { opened = nil }
            (download, summed, reading) = (nil, nil, nil)
            throw error
        }
    }

    private func answered(_ request: SyncRequest) throws -> SyncAnswer {
        let place = try place()
        switch request {
        case .hello, .push:
            return try place.exclusively { transaction in
                let moment = try ServerState(place, scopes, deletions)
                return try answer(request, moment, transaction)
            }
        case .pull, .rows, .sums:
            try place.manager.openIfNeeded()
            return try place.session.withLock { try answer(request, ServerState(place, scopes, deletions), nil) }
        }
    }

    private func answer(
        _ request: SyncRequest, _ state: ServerState, _ transaction: OptimisticTransaction?
    ) throws -> SyncAnswer {
        let moment = try state.moment(for: request, of: user)
        switch ServerPlanning.step(for: request, at: moment) {
        case .answer(let answer): return answer
        case .record(let device, let answer):
            if let transaction, device != moment.device || state.isNew {
                try state.write([:], mark: nil, author: nil, transaction) { _ in
                    (state.content, request.device, device)
                }
            }
            return answer
        case .renew(let epochs, let device, let answer):
            guard let transaction else { return .greet }
            var content = state.content
            content.epochs = epochs
            // Decisions about batches of the former life are not those of this one.
            try state.write([:], mark: nil, author: nil, transaction) { _ in (content, request.device, device) }
            return answer
        case .sum(let sums): return try sum(sums, moment) ?? .moved
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

    // MARK: Sums

    /// What a device asks about the rows of a state; nil if that is gone.
    private func sum(_ request: SumsRequest, _ moment: ServerMoment) throws -> SyncAnswer? {
        switch request.wanted {
        case .sums(let ranges):
            // A comparison begins with all rows, which somebody may have changed past the history since the last one.
            if ranges != [.all], let summed, summed.number == request.at, summed.known == request.known {
                return .sums(summed.sums.sums(ofParts: ranges))
            }
            guard request.at == moment.latest else { return nil }
            var sums = RangeSums(request.known)
            let rows = try ServerDownload(place(), number: moment.latest, after: nil)
            try rows.forEach { id, row in
                if Self.isVisible(row, moment) { sums.add(id, row.values) }
                return true
            }
            (summed, reading) = ((request.at, request.known, sums, rows), nil)
            return .sums(sums.sums(ofParts: ranges))
        case .rows(let ranges, let after):
            guard let summed, summed.number == request.at else { return nil }
            let rows: ServerDownload
            if let reading, reading.ranges == ranges, after != nil {
                rows = reading.rows
            } else {
                guard after == nil else { return nil }
                rows = summed.rows.again()
                reading = (ranges, rows)
            }
            var found: [PageChange] = []
            let next = try rows.forEach { id, row in
                if Self.isVisible(row, moment), ranges.contains(IdentifierRange(of: id)) {
                    found.append(.row(id, request.known.part(of: row.values, in: id.entity), row.scope))
                }
                return found.count < Self.rowsOfPortion
            }
            if next == nil { (reading, self.summed) = (nil, nil) }
            return .portion(Portion(generation: request.at, rows: found, next: next, granted: moment.granted))
        }
    }

    private static func isVisible(_ row: PlannedRow, _ moment: ServerMoment) -> Bool {
        row.scope.map { moment.granted.contains($0) } ?? true
    }

    // MARK: Pushes

    private func apply(
        _ push: PushRequest, _ moment: ServerMoment, _ state: ServerState, _ transaction: OptimisticTransaction
    ) throws -> SyncAnswer {
        let bases = push.transactions.lazy.flatMap(\.changes).map { min($0.base, $0.seen) }
        let base = Int64(bases.min() ?? 0)
        var facts = RowFacts()
        var denied: Set<UInt64> = []
        while true {
            switch ServerPlanning.plan(push, at: moment, facts: facts, denied: denied) {
            case .needs(let questions): try state.answer(questions, since: base, &facts)
            case .done(let plan):
                let more = notAuthorized(plan, state)
                if more.isEmpty { return .push(try carryOut(plan, push, moment, state, transaction)) }
                denied.formUnion(more)
            }
        }
    }

    /// The device's transactions that would make a change which the user may not make.
    private func notAuthorized(_ plan: PushPlan, _ state: ServerState) -> [UInt64] {
        guard let authorize else { return [] }
        return plan.history.compactMap { transaction in
            transaction.changes.allSatisfy { authorize($0, state) } ? nil : transaction.ownNumber
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
        if moment.schema.isScoped { return try state.scopedPage(for: pull, moment) }
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
