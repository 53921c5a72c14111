import SyncPlanning

/// A server in memory. What it keeps is a value, so that a backup is a copy.
struct SimulatedServer {
    /// Everything that a restored backup brings back.
    struct Content {
        var rows: [RowID: RowFact] = [:]
        var history: [HistoryTransaction] = []
        var latest: HistoryNumber = 0
        var oldest: HistoryNumber = 0
        var devices: [DeviceID: DeviceOnServer] = [:]
        /// The state after each transaction, for the checks.
        var states: [HistoryNumber: [RowID: Row]] = [0: [:]]
        /// How often each saved property was taken, and the last transaction of each device, for the checks.
        var taken: [SavedProperty: Int] = [:]
        var lastOwn: [DeviceID: UInt64] = [:]

        var alive: [RowID: Row] { rows.compactMapValues(\.row) }
    }

    var content = Content()
    var epochs = [Epoch(name: "life 1", shared: 0)]
    var schemaVersion: Int
    var granted: [DeviceID: Set<SyncScope>] = [:]
    /// The states that downloads are reading; they are gone after a kill.
    var pinned: [HistoryNumber: [RowID: Row]] = [:]
    var backup: Content?
    /// Whether a backup has taken the server's place and has its name, and nobody has noticed.
    var isUnnoticed = false
    let sabotage: Sabotage?

    init(schemaVersion: Int, sabotage: Sabotage?) {
        self.schemaVersion = schemaVersion
        self.sabotage = sabotage
    }

    var schema: SyncSchema { TestSchemas.schema(schemaVersion) }

    private var nextEpoch: String { "life \(epochs.count + 1)" }

    private func moment(for request: SyncRequest, now: Int64) -> ServerMoment {
        let device = request.device
        var cursor: HistoryNumber?
        switch request {
        case .hello(let hello): cursor = hello.cursor
        case .pull(let pull): cursor = pull.after
        case .push, .rows, .sums: break
        }
        let schema = schema
        let all: Set<SyncScope> = [SyncScope("red"), SyncScope("blue")]
        var now = now
        if sabotage == .isRandom { now += Int64.random(in: 0..<1000) }
        return ServerMoment(
            epochs: epochs, latest: content.latest, oldest: content.oldest, schemaVersion: schemaVersion,
            schema: schema, now: now, device: content.devices[device] ?? DeviceOnServer(),
            granted: sabotage == .ignoresRights ? all : granted[device] ?? [],
            timeAtCursor: content.history.first { $0.number == cursor }?.time, nextEpoch: nextEpoch)
    }

    /// Answers a request, in one transaction.
    mutating func answer(_ request: SyncRequest, now: Int64, checks: inout Checks) throws(Violation) -> SyncAnswer {
        let moment = moment(for: request, now: now)
        switch ServerPlanning.step(for: request, at: moment) {
        case .answer(let answer): return answer
        case .record(let device, let answer):
            content.devices[request.device] = device
            return answer
        case .sum: return .moved
        case .renew(let lives, let device, let answer):
            content.devices[request.device] = device
            if sabotage == .keepsEpoch { return answer }
            (epochs, isUnnoticed) = (lives, false)
            checks.count("restored servers that were noticed")
            return answer
        case .apply(let push): return try apply(push, moment, &checks)
        case .read(let pull):
            let history = content.history.filter { $0.number > pull.after }
            var page = ServerPlanning.page(for: pull, of: history, at: moment, limit: 6)
            if sabotage == .cutsTransaction, let last = page.transactions.last, last.changes.count > 1 {
                page.transactions[page.transactions.count - 1].changes.removeLast()
            }
            try checks.page(page, to: pull, server: self)
            return .page(page)
        case .readRows(let rows):
            let generation = rows.generation ?? content.latest
            if rows.generation == nil { pinned[generation] = content.alive }
            guard var state = pinned[generation] else { return .generationGone }
            if sabotage == .movesGeneration { state = content.alive }
            let ids = state.keys.sorted().filter { id in rows.after.map { id > $0 } ?? true }
            let part = ids.prefix(5).compactMap { id in state[id].map { (id: id, row: $0) } }
            let portion = ServerPlanning.portion(
                for: rows, of: part, generation: generation, isLast: ids.count <= 5, at: moment)
            try checks.portion(portion, to: rows.device, state: state, server: self)
            return .portion(portion)
        }
    }

    private mutating func apply(
        _ push: PushRequest, _ original: ServerMoment, _ checks: inout Checks
    ) throws(Violation) -> SyncAnswer {
        var moment = original
        var push = push
        if sabotage == .missesUniqueValues {
            for name in moment.schema.entities.keys { moment.schema.entities[name]?.uniques = [] }
        }
        if sabotage == .insertsOnUpdate {
            for place in push.transactions.indices {
                push.transactions[place].changes = push.transactions[place].changes.map { change in
                    guard case .update = change.edit, content.rows[change.id]?.row == nil else { return change }
                    var change = change
                    change.edit = .insert(change.newValues)
                    return change
                }
            }
        }
        var facts = RowFacts()
        var rounds = 0
        while true {
            rounds += 1
            switch ServerPlanning.plan(push, at: moment, facts: facts) {
            case .needs(let questions): answer(questions, &facts)
            case .done(let plan):
                try checks.rounds(rounds)
                let before = content
                content.rows.merge(plan.rows) { $1 }
                content.history += plan.history
                content.devices[push.device] = sabotage == .forgetsAnswers ? moment.device : plan.device
                var state = before.alive
                for transaction in plan.history {
                    for change in transaction.changes { state[change.id] = change.after }
                    content.states[transaction.number] = state
                    content.latest = transaction.number
                }
                try checks.pushed(push, plan, before: before, server: &self)
                return .push(plan.answer)
            }
        }
    }

    private func answer(_ questions: RowQuestions, _ facts: inout RowFacts) {
        for id in questions.rows { facts.rows[id] = content.rows[id] ?? .absent }
        for id in questions.referrers {
            var found: Set<RowID> = []
            if sabotage != .missesReferrers {
                for (other, row) in content.alive where row.references().contains(where: { $0.destination == id }) {
                    found.insert(other)
                }
            }
            facts.referrers[id] = found
        }
        for key in questions.holders {
            let rule = UniqueRule(key.properties, whenTaken: .refuse)
            facts.holders[key] = Set(
                content.alive.filter { UniqueKey(rule, of: $0.value, in: $0.key.entity) == key }.keys)
        }
    }

    // MARK: What happens to servers

    /// The process ends: pinned states are gone, and nothing else is.
    mutating func kill() { pinned = [:] }

    /// Trims the history to its last transactions.
    mutating func trim() {
        let kept = content.history.suffix(10)
        content.oldest = kept.first.map { $0.number - 1 } ?? content.latest
        content.history = Array(kept)
        for (id, fact) in content.rows {
            if case .deleted(let tombstone) = fact, tombstone.number <= content.oldest { content.rows[id] = nil }
        }
    }

    mutating func restore() {
        guard let backup, backup.latest < content.latest else { return }
        content = backup
        // The schema is that of today: the restored rows are migrated again.
        migrateRows()
        pinned = [:]
        if sabotage == .keepsEpoch { return }
        // Half of those who restore a server do not tell it.
        isUnnoticed = backup.latest % 2 == 0
        if !isUnnoticed { epochs.append(Epoch(name: nextEpoch, shared: backup.latest)) }
    }

    mutating func migrate() {
        guard schemaVersion < TestSchemas.versions.upperBound else { return }
        schemaVersion += 1
        migrateRows()
        pinned = [:]
    }

    private mutating func migrateRows() {
        let schema = schema
        for (id, fact) in content.rows {
            guard case .row(var row) = fact, let entity = schema.entities[id.entity] else { continue }
            for (property, description) in entity.properties where row.values[property] == nil {
                row.values[property] = description.defaultValue ?? TestSchemas.migrated(property)
                if case .set = description.kind { row.values[property] = .set([]) }
            }
            content.rows[id] = .row(row)
        }
        content.states[content.latest] = content.alive
    }
}
