import SyncPlanning

/// What a run proves, by name.
package enum Invariant: String, CaseIterable, Sendable {
    case devicesEqualServer = "I1: quiet devices have the server's rows"
    case savedOnce = "I2: a save is on the server once, or in the journal"
    case ownSavesVisible = "I3: a device sees its own saves, on a state of the server's"
    case savesInOrder = "I4: a device's transactions arrive in their order"
    case rulesHold = "I5: references, required and unique values hold at each commit"
    case scopesHold = "I6: nothing outside a scope is sent or kept"
    case deletedStaysDeleted = "I7: a deleted row does not return"
    case unknownUnchanged = "I8: a program changes no property that it does not know"
    case doesNotStandStill = "I9: after kills and faults everything goes on"
    case workIsBounded = "I10: pulls cost the changes, and a closure runs once for each conflict"
    case sameSeedSameRun = "I11: one seed gives one run"
    case laterEditWins = "Clocks: the edit that was made later wins"
}

/// An invariant that did not hold.
package struct Violation: Error, CustomStringConvertible, Sendable {
    package let invariant: Invariant
    package let text: String

    init(_ invariant: Invariant, _ text: String) {
        self.invariant = invariant
        self.text = text
    }

    package var description: String { "\(invariant.rawValue): \(text)" }
}

/// A saved property, by the transaction and change in the device's own history; "-" stands for a deletion.
struct SavedProperty: Hashable, Comparable {
    var device: DeviceID
    var origin: ChangeOrigin
    var property: String

    static func < (one: SavedProperty, other: SavedProperty) -> Bool {
        (one.device, one.origin, one.property) < (other.device, other.origin, other.property)
    }
}

/// The checks, and what they need to remember of a run.
struct Checks {
    /// Everything that programs saved, with the schema's version that each knew.
    private var saved: Set<SavedProperty> = []
    /// When each transaction was saved, in truth, and how wrong its time may be.
    private var savedAt: [DeviceID: [UInt64: Int64]] = [:]
    private var closureRuns: [DeviceID: [String: Int]] = [:]
    var downloads: [DeviceID: Int] = [:]
    /// How often there was a reason to download everything: a start, a trimmed history, a restored
    /// server, and whatever makes one that has begun begin again.
    var reasonsForDownloads = 1
    private(set) var tally: [String: Int] = [:]

    mutating func count(_ what: String) { tally[what, default: 0] += 1 }

    // MARK: Saves

    mutating func saved(_ transaction: OwnTransaction, on device: SimulatedDevice, now: Int64) {
        savedAt[device.id, default: [:]][transaction.number] = now
        for change in transaction.changes { saved.formUnion(properties(of: change, on: device.id)) }
        count("saves")
    }

    /// The saved properties that a change stands for.
    private func properties(of change: RowChange, on device: DeviceID, without: String? = nil) -> Set<SavedProperty> {
        var result: Set<SavedProperty> = []
        if change.edit == .delete {
            result.insert(SavedProperty(device: device, origin: change.origin, property: "-"))
        }
        for property in change.newValues.keys where property != without {
            result.insert(SavedProperty(device: device, origin: change.origin, property: property))
            for origin in change.merged[property] ?? [] {
                result.insert(SavedProperty(device: device, origin: origin, property: property))
            }
        }
        return result
    }

    private func properties(of refused: RefusedChange, on device: DeviceID) -> Set<SavedProperty> {
        guard let property = refused.property else { return properties(of: refused.change, on: device) }
        return [SavedProperty(device: device, origin: refused.change.origin, property: property)]
    }

    // MARK: The server

    mutating func rounds(_ rounds: Int) throws(Violation) {
        if rounds > 24 { throw Violation(.workIsBounded, "A push took \(rounds) rounds of questions.") }
    }

    /// Looks at what a push has done.
    mutating func pushed(
        _ push: PushRequest, _ plan: PushPlan, before: SimulatedServer.Content, server: inout SimulatedServer
    ) throws(Violation) {
        guard case .decided(let outcomes) = plan.answer else { return }
        for (transaction, outcome) in zip(push.transactions, outcomes) {
            guard case .taken(_, let refused) = outcome else {
                switch outcome {
                case .conflict: count("conflicts")
                case .refused(let reason): count("refused: " + Rendering.name(of: reason))
                case .taken: break
                }
                continue
            }
            count("taken transactions")
            for item in refused { count("not taken: " + Rendering.name(of: item.reason)) }
            var taken: Set<SavedProperty> = []
            for change in transaction.changes { taken.formUnion(properties(of: change, on: push.device)) }
            for item in refused { taken.subtract(properties(of: item, on: push.device)) }
            for property in taken where saved.contains(property) {
                server.content.taken[property, default: 0] += 1
            }
            let isHeldBack = transaction.changes.allSatisfy { change in
                TestSchemas.schema(1).entities[change.id.entity] == nil
                    || !change.newValues.isEmpty
                        && change.newValues.keys.allSatisfy {
                            TestSchemas.schema(1).property($0, of: change.id.entity) == nil
                        }
            }
            if isHeldBack || transaction.isRepeated { continue }
            let last = server.content.lastOwn[push.device] ?? 0
            if transaction.number < last {
                throw Violation(
                    .savesInOrder, "\(push.device.name)'s transaction \(transaction.number) arrived after \(last).")
            }
            server.content.lastOwn[push.device] = transaction.number
        }
        var rows = before.alive
        for transaction in plan.history {
            for change in transaction.changes {
                if change.forwarded != nil { count("joined rows") }
                if change.before == nil, case .deleted = before.rows[change.id] { count("rows made again") }
                try changed(change, of: transaction, push: push, rows: rows, before: before, schema: server.schema)
            }
            for change in transaction.changes { rows[change.id] = change.after }
            try holds(rows, schema: server.schema, number: transaction.number)
        }
    }

    private mutating func changed(
        _ change: HistoryChange, of transaction: HistoryTransaction, push: PushRequest, rows: [RowID: Row],
        before: SimulatedServer.Content, schema: SyncSchema
    ) throws(Violation) {
        let own = push.transactions.first { $0.number == transaction.ownNumber }
        let known = TestSchemas.schema(push.agreement.deviceSchema).properties
        if let after = change.after {
            // A kept edit brings back a row as it was.
            let isKept = if case .deleted = before.rows[change.id] { true } else { false }
            for (property, value) in after.values where !known.contains(property, of: change.id.entity) && !isKept {
                let initial = schema.property(property, of: change.id.entity).map {
                    SimulatedDevice.initial($0, property)
                }
                let former = change.before.map { $0.values[property] } ?? initial
                let stamp = after.stamps[property]
                if stamp?.device == push.device, stamp?.number == transaction.number,
                    change.before != nil || value != former
                {
                    throw Violation(
                        .unknownUnchanged,
                        "\(push.device.name) of version \(push.agreement.deviceSchema) wrote \(property) of \(Rendering.text(of: change.id))."
                    )
                }
            }
        }
        if change.before == nil, change.after != nil, case .deleted(let tombstone) = before.rows[change.id] {
            let isKept = schema.entities[change.id.entity]?.whenDeleted == .keepEdits
            let own = own?.changes.first { $0.id == change.id }
            // A row of the same identifier that a device made without having had the former one is another row.
            var isInsert = false
            if case .insert = own?.edit { isInsert = true }
            let wasSavedAsInsert =
                own.map { change in
                    guard case .insert(let values) = change.edit else { return false }
                    return values.keys.allSatisfy {
                        saved.contains(SavedProperty(device: push.device, origin: change.origin, property: $0))
                    }
                        && !insertedAsUpdate.contains(
                            SavedProperty(device: push.device, origin: change.origin, property: "+"))
                } ?? false
            if !isKept, let own, own.base < tombstone.number, !isInsert || !wasSavedAsInsert {
                throw Violation(
                    .deletedStaysDeleted, "\(push.device.name) brought back \(Rendering.text(of: change.id)).")
            }
        }
        try later(change, of: transaction, own)
    }

    /// Updates, so that an insertion that comes of one is seen.
    private var insertedAsUpdate: Set<SavedProperty> = []

    mutating func savedUpdates(_ transaction: OwnTransaction, on device: DeviceID) {
        for change in transaction.changes {
            if case .update = change.edit {
                insertedAsUpdate.insert(SavedProperty(device: device, origin: change.origin, property: "+"))
            }
        }
    }

    /// How wrong each transaction's time may be; none if its device had no greeting since it started.
    private var timeErrors: [DeviceID: [UInt64: Int64]] = [:]

    /// A batch keeps the times that it was frozen with, also where a later greeting measures better.
    mutating func froze(_ batch: PushRequest, by clocks: ClockOffsets) {
        for transaction in batch.transactions {
            let roundTrip = clocks.measurement(of: transaction.reading.boot)?.roundTrip
            timeErrors[batch.device, default: [:]][transaction.number] = roundTrip.map { $0 / 2 + 2 }
        }
    }

    /// The later of two edits of a title stands, as far as the clocks of the devices could be known.
    private mutating func later(
        _ change: HistoryChange, of transaction: HistoryTransaction, _ own: OwnTransaction?
    ) throws(Violation) {
        guard let own, let device = transaction.device, let before = change.before, let after = change.after,
            let edit = own.changes.first(where: { $0.id == change.id }), case .update(let edits) = edit.edit,
            let mine = edits["title"]?.new, let stamp = before.stamps["title"], let other = stamp.device,
            other != device, stamp.number > edit.base, before.values["title"] != mine,
            let writer = titleWriters[change.id]?[Rendering.text(of: before.values["title"] ?? .null)],
            let mySaved = savedAt[device]?[own.number], let theirSaved = savedAt[writer.device]?[writer.transaction],
            let myError = timeErrors[device]?[own.number],
            let theirError = timeErrors[writer.device]?[writer.transaction],
            abs(mySaved - theirSaved) > myError + theirError
        else { return }
        count("decided by time")
        let isMine = after.values["title"] == mine
        if isMine != (mySaved > theirSaved) {
            throw Violation(
                .laterEditWins,
                "\(Rendering.text(of: change.id)): \(device.name)'s edit of \(mySaved) \(isMine ? "won against" : "lost to") \(writer.device.name)'s of \(theirSaved)."
            )
        }
    }

    /// Who wrote a title, by its text.
    var titleWriters: [RowID: [String: (device: DeviceID, transaction: UInt64)]] = [:]

    /// References, required and unique values.
    private func holds(_ rows: [RowID: Row], schema: SyncSchema, number: HistoryNumber) throws(Violation) {
        var keys: Set<UniqueKey> = []
        for (id, row) in rows.sorted(by: { $0.key < $1.key }) {
            for (property, destination) in row.references() where rows[destination] == nil {
                throw Violation(
                    .rulesHold,
                    "At \(number), \(property) of \(Rendering.text(of: id)) leads to \(Rendering.text(of: destination)), which is not there."
                )
            }
            for (property, description) in schema.entities[id.entity]?.properties ?? [:]
            where description.isRequired && row.values[property] ?? .null == .null {
                throw Violation(.rulesHold, "At \(number), \(property) of \(Rendering.text(of: id)) has no value.")
            }
            if case .list(let members) = row.values["books"], Set(members).count != members.count {
                throw Violation(.rulesHold, "At \(number), \(Rendering.text(of: id)) has a book twice.")
            }
            for rule in schema.entities[id.entity]?.uniques ?? [] {
                guard let key = UniqueKey(rule, of: row, in: id.entity) else { continue }
                if !keys.insert(key).inserted {
                    throw Violation(
                        .rulesHold, "At \(number), \(Rendering.text(of: id)) has values that another row has, too.")
                }
            }
            if row.scope != TestSchemas.scope(of: id, in: rows) {
                throw Violation(.rulesHold, "At \(number), \(Rendering.text(of: id)) is in a wrong scope.")
            }
        }
    }

    // MARK: What is sent

    mutating func page(_ page: Page, to pull: PullRequest, server: SimulatedServer) throws(Violation) {
        count("pages")
        let granted = server.granted[pull.device] ?? []
        for transaction in page.transactions {
            let rows = server.content.states[transaction.number] ?? [:]
            for change in transaction.changes { try isAllowed(change, granted, rows, to: pull.device) }
        }
        let changes = server.content.history.filter { $0.number > pull.after && $0.number <= page.end }
            .reduce(0) { $0 + $1.changes.count }
        let sent = page.transactions.reduce(0) { $0 + $1.changes.count }
        if sent > changes {
            throw Violation(.workIsBounded, "A page has \(sent) changes where the history has \(changes).")
        }
    }

    mutating func portion(
        _ portion: Portion, to device: DeviceID, state: [RowID: Row], server: SimulatedServer
    ) throws(Violation) {
        count("portions")
        for change in portion.rows { try isAllowed(change, server.granted[device] ?? [], state, to: device) }
    }

    private func isAllowed(
        _ change: PageChange, _ granted: Set<SyncScope>, _ rows: [RowID: Row], to device: DeviceID
    ) throws(Violation) {
        switch change {
        case .row(let id, _, _), .values(let id, _, _):
            guard let scope = TestSchemas.scope(of: id, in: rows), !granted.contains(scope) else { return }
            throw Violation(
                .scopesHold, "\(device.name) was sent \(Rendering.text(of: id)) of \(scope.name.string).")
        case .deleted, .left, .forwarded: return
        }
    }

    // MARK: Devices

    mutating func closureRan(_ key: String, on device: SimulatedDevice) {
        closureRuns[device.id, default: [:]][key, default: 0] += 1
        count("closures")
    }

    mutating func rebased(_ device: SimulatedDevice) throws(Violation) {
        count("rebases")
        for (id, row) in device.base.sorted(by: { $0.key < $1.key }) {
            if let scope = row.scope, !device.record.scopes.contains(scope) {
                throw Violation(
                    .scopesHold, "\(device.id.name) keeps \(Rendering.text(of: id)) of \(scope.name.string).")
            }
        }
        for (key, runs) in closureRuns[device.id] ?? [:] where runs > 1 + device.kills {
            throw Violation(.workIsBounded, "\(device.id.name) merged \(runs) times: \(key).")
        }
    }

    /// Looks at a device between two steps: its rows are a state of the server's, and its own saves on top.
    func device(_ device: SimulatedDevice, server: SimulatedServer) throws(Violation) {
        if !server.isUnnoticed, device.record.epoch == server.epochs.last?.name,
            device.record.cursor <= server.content.latest,
            let state = server.content.states[device.record.cursor]
        {
            let expected = part(of: state, for: device)
            let known = part(of: device.base, for: device)
            if Rendering.text(of: known) != Rendering.text(of: expected) {
                throw Violation(
                    .ownSavesVisible,
                    "\(device.id.name) is at \(device.record.cursor), and differs from the server's state: \(difference(known, expected))"
                )
            }
        }
        var expected: [RowID: [String: SyncValue]] = [:]
        var deleted: Set<RowID> = []
        /// The marks that each unsent transaction adds.
        var marks: [RowID: Set<SyncValue>] = [:]
        for transaction in (device.frozen?.request.transactions ?? []) + device.open {
            for change in transaction.changes {
                if change.edit == .delete {
                    deleted.insert(change.id)
                    expected[change.id] = nil
                } else {
                    if case .insert = change.edit { deleted.remove(change.id) }
                    expected[change.id, default: [:]].merge(change.newValues) { $1 }
                    guard case .set(let new) = change.newValues["marks"] else { continue }
                    var added = new
                    if case .update(let changes) = change.edit, case .set(let old) = changes["marks"]?.old {
                        added.subtract(old)
                    }
                    marks[change.id, default: []].formUnion(added)
                }
            }
        }
        for id in deleted.sorted() where device.shown[id] != nil {
            throw Violation(
                .ownSavesVisible, "\(device.id.name) deleted \(Rendering.text(of: id)), and still sees it.")
        }
        for (id, values) in expected.sorted(by: { $0.key < $1.key }) where !deleted.contains(id) {
            // Tags and accounts may have been joined or renamed before they are sent.
            guard id.entity != "Tag" else { continue }
            guard let row = device.shown[id] else {
                throw Violation(
                    .ownSavesVisible, "\(device.id.name) saved \(Rendering.text(of: id)), and does not see it.")
            }
            for property in ["title", "left", "right", "rating", "mood"] {
                guard let value = values[property], row.values[property] != value else { continue }
                throw Violation(
                    .ownSavesVisible,
                    "\(device.id.name) saved \(property) \(Rendering.text(of: value)) of \(Rendering.text(of: id)), and sees \(Rendering.text(of: row.values[property] ?? .null))."
                )
            }
            if case .set(let seen) = row.values["marks"], let mark = marks[id]?.subtracting(seen).first {
                throw Violation(
                    .ownSavesVisible,
                    "\(device.id.name) marked \(Rendering.text(of: id)) with \(Rendering.text(of: mark)), and does not see it."
                )
            }
        }
        for (id, row) in device.base where row.values["left"] != row.values["right"] {
            throw Violation(
                .ownSavesVisible, "\(device.id.name) sees half of a transaction in \(Rendering.text(of: id)).")
        }
    }

    /// The server's rows as far as a device has them.
    private func part(of rows: [RowID: Row], for device: SimulatedDevice) -> [RowID: Row] {
        var result: [RowID: Row] = [:]
        for (id, row) in rows {
            guard device.record.known.contains(id.entity) else { continue }
            if let scope = row.scope, !device.record.scopes.contains(scope) { continue }
            result[id] = Row(values: device.record.known.part(of: row.values, in: id.entity))
        }
        return result
    }

    private func difference(_ one: [RowID: Row], _ other: [RowID: Row]) -> String {
        for id in Set(one.keys).union(other.keys).sorted() where one[id] != other[id] {
            return
                "\(Rendering.text(of: id)) is \(one[id].map { Rendering.text(of: $0.values) } ?? "missing") instead of \(other[id].map { Rendering.text(of: $0.values) } ?? "missing")"
        }
        return ""
    }

    // MARK: The end

    /// Looks at everything when all is quiet.
    func atEnd(_ devices: [SimulatedDevice], server: SimulatedServer) throws(Violation) {
        for device in devices {
            guard device.record.epoch == server.epochs.last?.name, device.record.cursor == server.content.latest else {
                throw Violation(
                    .devicesEqualServer,
                    "\(device.id.name) is at \(device.record.cursor) of \(device.record.epoch ?? "nothing"), the server at \(server.content.latest) of \(server.epochs.last?.name ?? "")."
                )
            }
            let shown = part(of: withScopes(device.shown, device), for: device)
            let expected = part(of: server.content.alive, for: device)
            if Rendering.text(of: shown) != Rendering.text(of: expected) {
                throw Violation(.devicesEqualServer, "\(device.id.name) differs: \(difference(shown, expected))")
            }
        }
        var counts = server.content.taken
        var places: [SavedProperty: [String]] = [:]
        for device in devices {
            var refused: Set<SavedProperty> = []
            for item in device.journal { refused.formUnion(properties(of: item, on: device.id)) }
            for property in refused {
                counts[property, default: 0] += 1
                places[property, default: []].append("the journal")
            }
            for transaction in device.open + (device.frozen?.request.transactions ?? []) {
                for change in transaction.changes {
                    for property in properties(of: change, on: device.id) {
                        counts[property, default: 0] += 1
                        places[property, default: []].append("what is unsent")
                    }
                }
            }
        }
        for property in saved.sorted() where counts[property] != 1 {
            throw Violation(
                .savedOnce,
                "\(property.device.name)'s \(property.origin.transaction).\(property.origin.place) \(property.property) is there \(counts[property] ?? 0) times; on the server \(server.content.taken[property] ?? 0), also in \(places[property] ?? [])."
            )
        }
        for device in devices where downloads[device.id, default: 0] > reasonsForDownloads {
            throw Violation(
                .workIsBounded, "\(device.id.name) downloaded everything \(downloads[device.id, default: 0]) times.")
        }
    }

    private func withScopes(_ rows: [RowID: Row], _ device: SimulatedDevice) -> [RowID: Row] {
        rows.reduce(into: [:]) { result, item in
            // What waits for a newer server is not the server's.
            result[item.key] = Row(values: item.value.values, scope: device.base[item.key]?.scope)
        }
    }
}
