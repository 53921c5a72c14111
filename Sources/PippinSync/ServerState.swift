import Foundation
import PredicateFormat
import StoreSession
import SyncPlanning

/// A server's store in one transaction.
struct ServerState {
    let content: ServerContent
    /// Whether the server begins with this request.
    let isNew: Bool
    let reader: ChangeReader
    let place: SyncStore
    let reading: RowReading
    private let scopes: Set<SyncScope>?
    private let history: any HistoryEngine
    private let deletions: ReadDeletions

    init(_ place: SyncStore, _ scopes: Set<SyncScope>?, _ deletions: ReadDeletions) throws {
        (self.place, self.scopes, self.deletions) = (place, scopes, deletions)
        let (store, history) = try place.parts()
        self.history = history
        let known = try place.noted(ServerContent.self, SyncNote.content)
        (content, isNew) = (known ?? ServerContent(epoch: UUID().uuidString), known == nil)
        reading = RowReading(place.mapping, place.session, store)
        reader = try ChangeReader(place, reading)
    }

    /// - Parameters:
    ///   - request: what a device asks.
    ///   - user: the user whose device it is; nil where the database knows.
    /// - Returns: what the server knows.
    /// - Throws: ``ForeignDevice`` for a device of another user, and the errors of the store.
    func moment(for request: SyncRequest, of user: String?) throws -> ServerMoment {
        var device = try place.noted(DeviceOnServer.self, SyncNote.devices + request.device.name) ?? DeviceOnServer()
        if let user {
            if let owner = device.user, owner != user { throw ForeignDevice() }
            device.user = user
        }
        var cursor: HistoryNumber?
        switch request {
        case .hello(let hello): cursor = hello.cursor
        case .pull(let pull): cursor = pull.after
        case .push, .rows, .sums: break
        }
        let atCursor = try cursor.flatMap { cursor in
            try history.historyTransactions(after: .transaction(Int64(cursor) - 1), limit: 1)
                .first { $0.number == Int64(cursor) }
        }
        let latest = try history.latestTransaction()
        let oldest = try history.oldestKeptTransaction().map { $0 - 1 } ?? latest
        return ServerMoment(
            epochs: content.epochs, latest: HistoryNumber(latest), oldest: HistoryNumber(max(0, oldest)),
            schemaVersion: place.version, schema: place.schema,
            now: Int64(Date().timeIntervalSince1970 * 1_000_000),
            device: device,
            granted: scopes ?? [],
            timeAtCursor: atCursor.map {
                SyncMark($0.contextName)?.time ?? ChangeReader.microseconds($0.timestamp)
            }, nextEpoch: UUID().uuidString)
    }

    /// Answers a plan's questions. The push's changes were made from the state `base` of the server, or later ones.
    func answer(_ questions: RowQuestions, since base: Int64, _ facts: inout RowFacts) throws {
        facts.answers = questions.answers
        let found = try reading.find(questions.rows)
        let stamps = try reader.stamps(of: found, after: base)
        var rows = try reading.planned(found).mapValues { Optional.some($0) }
        try reading.addScopes(to: &rows, place.schema)
        for (id, row) in rows {
            guard var row else { continue }
            row.stamps = stamps[id] ?? [:]
            facts.rows[id] = .row(row)
        }
        var missing = questions.rows.filter { facts.rows[$0] == nil }
        for forward in content.forwards where missing.contains(forward.id) {
            facts.rows[forward.id] = .forwarded(forward.other)
            missing.remove(forward.id)
        }
        if try !missing.isEmpty && history.latestTransaction() > base {
            for (id, tombstone) in try reader.tombstones(
                of: missing, after: base, deletions, in: content.epochs)
            {
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
                let planned = try reading.planned(rows, of: mapped)
                if !place.schema.isScoped { return (planned, false, next) }
                var scoped = Dictionary(planned.map { ($0.id, Optional($0.row)) }, uniquingKeysWith: { $1 })
                try reading.addScopes(to: &scoped, place.schema)
                return (planned.map { ($0.id, scoped[$0.id]?.flatMap(\.self) ?? $0.row) }, false, next)
            }
            return ([], true, nil)
        }
    }

    /// The same rows from the beginning.
    func again() -> ServerDownload { ServerDownload(place, number, generation, reading) }

    private init(_ place: SyncStore, _ number: HistoryNumber, _ generation: PinnedGeneration, _ reading: RowReading) {
        (self.place, self.number, self.generation, self.reading) = (place, number, generation, reading)
    }

    /// Goes on through the rows.
    ///
    /// - Parameter body: takes a row, and says whether to read a portion more.
    /// - Returns: where the next rows begin; nil at the end.
    /// - Throws: the errors of the store.
    @discardableResult
    func forEach(_ body: (RowID, PlannedRow) throws -> Bool) throws -> RowID? {
        while let portion = try next(after: next, 1_000) {
            var goesOn = true
            for (id, row) in portion.rows { goesOn = try body(id, row) }
            if portion.isLast { return nil }
            if !goesOn { return portion.next }
        }
        return nil
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
