import Synchronization
import SyncPlanning

/// A device in memory: what is in its store, and what a kill takes.
struct SimulatedDevice {
    // MARK: In the store

    var base: [RowID: Row] = [:]
    var shown: [RowID: Row] = [:]
    var record: DeviceRecord
    var frozen: FrozenBatch?
    var open: [OwnTransaction] = []
    var acknowledged: [(batch: UInt64, transaction: OwnTransaction)] = []
    var journal: [RefusedChange] = []
    var stage: [PageChange] = []
    var attempts: [RowID: Int] = [:]
    var nextNumber: UInt64 = 1
    var version: Int

    // MARK: In memory

    var machine: DeviceMachine?
    var actions: [DeviceAction] = []
    var noted: Set<RowID> = []
    var isSleeping = false

    // MARK: Around it

    var skew: Int64
    var booted: Int64
    var boots = 1
    var isOnline = true
    var kills = 0
    let sabotage: Sabotage?

    init(name: String, version: Int, skew: Int64, sabotage: Sabotage?) {
        record = DeviceRecord(device: DeviceID(name))
        self.version = version
        self.skew = skew
        booted = 0
        self.sabotage = sabotage
    }

    var id: DeviceID { record.device }
    var schema: SyncSchema { TestSchemas.schema(version) }

    func reading(_ now: Int64) -> ClockReading {
        ClockReading(boot: "\(id.name) \(boots)", running: now - booted, wall: now + skew)
    }

    /// Whether what is unsent waits for a newer server.
    var hasNothingToSend: Bool {
        let order = FreezeOrder(
            known: record.known, unwritable: [], agreement: Agreement(deviceSchema: version, serverSchema: 0), epoch: ""
        )
        return Freezing.freeze(open, order, record: record, schema: schema, limit: 1).request == nil
    }

    // MARK: Running

    mutating func start(firstRequest: UInt64, now: Int64) {
        var machine = DeviceMachine(
            record: record, schemaVersion: version, schema: schema, firstRequest: firstRequest)
        isSleeping = false
        actions = machine.handle(.started(frozen, hasOpen: !open.isEmpty), at: reading(now))
        self.machine = machine
    }

    mutating func kill() {
        machine = nil
        actions = []
        noted = []
        isSleeping = false
        kills += 1
        if sabotage == .thawsBatch, let frozen {
            open = frozen.request.transactions + open
            self.frozen = nil
        }
    }

    mutating func handle(_ event: DeviceEvent, now: Int64) {
        guard machine != nil else { return }
        switch event {
        case .wake, .answered, .failed: isSleeping = false
        case .saved, .started, .stored: break
        }
        let reading = reading(now)
        actions += machine?.handle(event, at: reading) ?? []
        if case .saved = event, !actions.isEmpty { isSleeping = false }
    }

    /// Does one action. Returns a request to send.
    mutating func runAction(
        now: Int64, checks: inout Checks
    ) throws(Violation) -> (id: UInt64, request: SyncRequest)? {
        guard !actions.isEmpty else { return nil }
        let action = actions.removeFirst()
        switch action {
        case .send(let id, let request): return (id, sent(request))
        case .wait: isSleeping = true
        case .report: break
        case .store(let work): try run(work, now: now, &checks)
        }
        return nil
    }

    private func sent(_ request: SyncRequest) -> SyncRequest {
        guard case .push(var push) = request else { return request }
        if sabotage == .reversesBatch { push.transactions.reverse() }
        if sabotage == .writesUnknown, version == 1, push.agreement.serverSchema > 1 {
            for place in push.transactions.indices {
                push.transactions[place].changes = push.transactions[place].changes.map { change in
                    guard change.id.entity == "Book", case .update(var changes) = change.edit else { return change }
                    changes["rating"] = ValueChange(old: .integer(0), new: .integer(-1))
                    var change = change
                    change.edit = .update(changes)
                    return change
                }
            }
        }
        return .push(push)
    }

    private mutating func run(_ work: StoreWork, now: Int64, _ checks: inout Checks) throws(Violation) {
        switch work {
        case .keep(let record):
            self.record = record
            handle(.stored(.kept), now: now)
        case .keepAnswer(let answer):
            frozen?.answer = answer
            handle(.stored(.kept), now: now)
        case .stage(let rows, let record, let isFirst):
            if isFirst { stage = [] }
            stage += rows
            self.record = record
            if isFirst, record.download?.kind == .everything { checks.downloads[id, default: 0] += 1 }
            handle(.stored(.kept), now: now)
        case .freeze(let order):
            let result = Freezing.freeze(open, order, record: record, schema: schema, limit: 4)
            var request = result.request
            if sabotage == .trustsWallClock, let batch = request?.transactions {
                request?.transactions = batch.map { transaction in
                    var transaction = transaction
                    transaction.time = transaction.reading.wall
                    return transaction
                }
            }
            frozen = request.map { FrozenBatch(request: $0) }
            if let request { checks.froze(request, by: record.clocks) }
            if let request { record.nextBatch = request.batch + 1 }
            open = result.rest
            handle(
                .stored(
                    .frozen(
                        request, waitsForServer: result.waitsForServer, waitsForProgram: result.waitsForProgram)),
                now: now)
        case .rebase(let order): try rebase(order, now: now, &checks)
        }
    }

    private mutating func rebase(_ order: RebaseOrder, now: Int64, _ checks: inout Checks) throws(Violation) {
        if sabotage == .movesCursorFirst, record.cursor != order.record.cursor {
            record = order.record
            actions.insert(.store(.rebase(order)), at: 0)
            return
        }
        if try followEcho(order, now: now, &checks) { return }
        var lost: [OwnTransaction] = []
        if let restored = order.restored, sabotage != .forgetsAcknowledged {
            lost = acknowledged.filter { $0.batch > restored.lastDecided }.map(\.transaction)
        }
        var dirty: Set<RowID> = []
        for id in Set(base.keys).union(shown.keys) where base[id] != shown[id] { dirty.insert(id) }
        for transaction in open + lost + (frozen?.request.transactions ?? []) {
            for change in transaction.changes { dirty.insert(change.id) }
        }
        var input = RebaseInput(order: order, record: record, schema: schema, frozen: frozen, open: open)
        input.staged = stage
        input.lost = lost
        for id in dirty {
            input.dirty[id] = .some(base[id])
            input.shown[id] = .some(shown[id])
        }
        if sabotage != .keepsLeftRows {
            let left = record.scopes.subtracting(order.record.scopes)
            input.leaving = Set(base.filter { $0.value.scope.map { left.contains($0) } ?? false }.keys)
        }
        input.noted = noted
        input.attempts = attempts
        var replaced: [RowID: Row] = [:]
        let isReplacement = order.stage == .everything
        if isReplacement {
            for case .row(let id, let values, let scope) in stage {
                replaced[id] = Row(values: filled(values, id.entity), scope: scope)
            }
        }
        let rows = isReplacement ? replaced : base
        let runs = Mutex<[String]>([])
        let rules = ProgramRules(
            merge: { id, old, mine, theirs in
                runs.withLock {
                    $0.append(
                        [Rendering.text(of: id), Rendering.text(of: mine), Rendering.text(of: theirs)].joined(
                            separator: "; "))
                }
                return TestSchemas.merge(old, mine, theirs)
            }, rename: { _, values, properties in TestSchemas.rename(values, properties) })
        // A closure that ends the program, as far as it is asked.
        let poisoned = noted.filter { id in
            attempts[id, default: 0] <= 2 && TestSchemas.words(shown[id]?.values["note"]).contains("poison")
        }
        if !poisoned.isEmpty {
            kill()
            return
        }
        if sabotage == .forgetsNotes {
            input.noted = dirty.union(order.transactions.flatMap { $0.changes.map(\.id) })
            let hasPoison = dirty.contains { TestSchemas.words(shown[$0]?.values["note"]).contains("poison") }
            if hasPoison {
                kill()
                return
            }
        }
        var facts = RowFacts()
        while true {
            let step: RebaseStep
            do { step = try Rebasing.step(input, rules: rules, facts: facts) } catch {
                throw Violation(.doesNotStandStill, "\(id.name): \(error)")
            }
            switch step {
            case .needs(let questions): answer(questions, rows, &facts)
            case .note(let ids):
                for id in ids { attempts[id, default: 0] += 1 }
                noted.formUnion(ids)
                actions.insert(.store(.rebase(order)), at: 0)
                return
            case .done(let plan):
                for key in runs.withLock({ $0 }) { checks.closureRan(key, on: self) }
                if isReplacement {
                    base = rows
                    shown = rows
                }
                for (id, row) in plan.base { base[id] = row }
                let unsent = Set(plan.open.flatMap { $0.changes.map(\.id) })
                for (id, row) in plan.shown {
                    if sabotage == .showsRefused, plan.base[id] == nil, !unsent.contains(id) { continue }
                    shown[id] = row
                }
                if sabotage == .forgetsOwnEdits {
                    for id in plan.shown.keys { shown[id] = base[id] }
                }
                if let last = order.restored?.lastDecided { acknowledged.removeAll { $0.batch > last } }
                if let batch = frozen?.request.batch {
                    acknowledged += plan.acknowledged.map { (batch, $0) }
                }
                open = plan.open
                if sabotage == .forgetsMerges {
                    for place in open.indices {
                        for change in open[place].changes.indices { open[place].changes[change].seen = 0 }
                    }
                }
                if sabotage != .losesJournal { journal += plan.journal }
                self.frozen = nil
                record = order.record
                if order.stage != nil { stage = [] }
                attempts = [:]
                noted = []
                try checks.rebased(self)
                handle(.stored(.rebased(hasOpen: !open.isEmpty)), now: now)
                return
            }
        }
    }

    /// Takes in a page that has nothing but what the server has made of the batch, just as it was sent, as the engine
    /// does: the rows stay as they are shown.
    private mutating func followEcho(
        _ order: RebaseOrder, now: Int64, _ checks: inout Checks
    ) throws(Violation) -> Bool {
        guard let frozen, open.isEmpty, attempts.isEmpty else { return false }
        let sent = Set(frozen.request.transactions.lazy.flatMap(\.changes).map(\.id))
        let former = Dictionary(uniqueKeysWithValues: sent.map { ($0, base[$0]) })
        let isTrusted = sabotage == .trustsEchoes && order.stage == nil && frozen.answer?.settledAt ?? 0 > 0
        guard isTrusted || frozen.isEchoed(by: order, from: record, base: former) else { return false }
        checks.count("echoed batches")
        acknowledged += frozen.request.transactions.map { (frozen.request.batch, $0) }
        for id in sent { base[id] = shown[id] }
        self.frozen = nil
        record = order.record
        try checks.rebased(self)
        handle(.stored(.rebased(hasOpen: false)), now: now)
        return true
    }

    private func filled(_ values: [String: SyncValue], _ entity: String) -> [String: SyncValue] {
        var values = values
        for (property, description) in schema.entities[entity]?.properties ?? [:] where values[property] == nil {
            values[property] = SimulatedDevice.initial(description, property)
        }
        return values
    }

    static func initial(_ description: SyncProperty, _ property: String) -> SyncValue {
        if let value = description.defaultValue { return value }
        switch description.kind {
        case .list: return .list([])
        case .set: return .set([])
        default: return TestSchemas.migrated(property)
        }
    }

    private func answer(_ questions: RowQuestions, _ rows: [RowID: Row], _ facts: inout RowFacts) {
        facts.answers = questions.answers
        for id in questions.rows { facts.rows[id] = rows[id].map { .row($0) } ?? .absent }
        for id in questions.referrers {
            facts.referrers[id] = Set(
                rows.filter { $0.value.references().contains { $0.destination == id } }.keys)
        }
        for key in questions.holders {
            let rule = UniqueRule(key.properties, whenTaken: .refuse)
            facts.holders[key] = Set(rows.filter { UniqueKey(rule, of: $0.value, in: $0.key.entity) == key }.keys)
        }
    }

    // MARK: The program

    /// A new version of the program migrates the store.
    mutating func upgrade() {
        guard version < TestSchemas.versions.upperBound else { return }
        kill()
        version += 1
        let schema = schema
        func migrate(_ rows: inout [RowID: Row]) {
            for (id, row) in rows {
                var row = row
                for (property, description) in schema.entities[id.entity]?.properties ?? [:]
                where row.values[property] == nil { row.values[property] = Self.initial(description, property) }
                rows[id] = row
            }
        }
        migrate(&base)
        migrate(&shown)
        // Rows that wait to be inserted have what the migration gave them.
        for place in open.indices {
            for change in open[place].changes.indices {
                guard case .insert(var values) = open[place].changes[change].edit else { continue }
                let entity = open[place].changes[change].id.entity
                for (property, description) in schema.entities[entity]?.properties ?? [:]
                where description.isRequired && values[property] == nil {
                    values[property] = Self.initial(description, property)
                }
                open[place].changes[change].edit = .insert(values)
            }
        }
    }

    /// Saves what a program did to its rows.
    mutating func save(_ changes: [RowID: ProgramEdit], order: [RowID], now: Int64) -> OwnTransaction? {
        var result: [RowChange] = []
        for id in order {
            guard let edit = changes[id] else { continue }
            let origin = ChangeOrigin(transaction: nextNumber, place: result.count)
            switch edit {
            case .insert(let values):
                shown[id] = Row(values: filled(values, id.entity))
                result.append(RowChange(id, base: record.cursor, .insert(values), origin: origin))
            case .set(let values):
                guard var row = shown[id] else { continue }
                var changed: [String: ValueChange] = [:]
                for (property, value) in values where row.values[property] != value {
                    changed[property] = ValueChange(old: row.values[property] ?? .null, new: value)
                    row.values[property] = value
                }
                if changed.isEmpty { continue }
                shown[id] = row
                result.append(RowChange(id, base: record.cursor, .update(changed), origin: origin))
            case .delete:
                guard shown[id] != nil else { continue }
                shown[id] = nil
                result.append(RowChange(id, base: record.cursor, .delete, origin: origin))
            }
        }
        if result.isEmpty { return nil }
        let transaction = OwnTransaction(number: nextNumber, reading: reading(now), changes: result)
        nextNumber += 1
        open.append(transaction)
        return transaction
    }
}

enum ProgramEdit {
    case insert([String: SyncValue])
    case set([String: SyncValue])
    case delete
}
