/// One transaction on its way into the rows: its changes one by one, and then what follows from them.
struct TransactionAttempt {
    var planner: TransactionPlanner
    var transaction: OwnTransaction
    /// Rows whose values this transaction has set.
    private var touched: [RowID] = []
    private var isTouched: Set<RowID> = []
    private var deleted: [RowID] = []
    private var refused: [RefusedChange] = []

    init(planner: TransactionPlanner, transaction: OwnTransaction) {
        self.planner = planner
        self.transaction = transaction
    }

    /// What stops a transaction.
    private struct Stop: Error { let verdict: Verdict }

    private var isServer: Bool { if case .server = planner.side { true } else { false } }

    mutating func run() -> Verdict {
        do throws(Stop) {
            for place in transaction.changes.indices { try apply(transaction.changes[place], at: place) }
            try delete()
            try checkReferences()
            try checkUniqueValues()
            try checkValues()
            try moveScopes()
        } catch {
            return error.verdict
        }
        return .taken(refused)
    }

    // MARK: Changes

    private mutating func apply(_ change: RowChange, at place: Int) throws(Stop) {
        guard let entity = planner.schema.entities[change.id.entity] else {
            throw Stop(verdict: .refused(.unknownProperty(change.id.entity)))
        }
        if isServer, let unknown = change.newValues.keys.sorted().first(where: { entity.properties[$0] == nil }) {
            throw Stop(verdict: .refused(.unknownProperty(unknown)))
        }
        let id = planner.rows.resolved(change.id)
        let fact = planner.rows[id]
        switch (change.edit, fact) {
        case (.insert(let values), .row(let row)):
            try authorize(row.scope)
            try edit(id, row, values.mapValues { (nil, $0) }, by: change, of: entity)
        case (.insert, .deleted(let tombstone)) where transaction.isRepeated && tombstone.number > change.base:
            refuse(change, .rowDeleted)
        case (.insert(let values), _):
            create(id, values, of: entity)
        case (.update(let changes), .row(let row)):
            try authorize(row.scope)
            try edit(id, row, changes.mapValues { ($0.old, $0.new) }, by: change, of: entity)
        case (.update(let changes), .deleted(let tombstone))
        where entity.whenDeleted == .keepEdits && !transaction.isRepeated:
            try authorize(tombstone.row.scope)
            let values = tombstone.row.values.merging(changes.mapValues(\.new)) { $1 }
            create(id, values, of: entity)
            if !isServer {
                // From now on the change brings the whole row, as the server may have forgotten what it was.
                transaction.changes[place].edit = .insert(values)
                transaction.changes[place].base = planner.number
                transaction.changes[place].seen = planner.number
            }
        case (.update, .left): refuse(change, .rowLeftScope)
        case (.update, _):
            if planner.refusedInserts.contains(id) { throw Stop(verdict: .refused(.dependsOnRefused(id))) }
            refuse(change, .rowDeleted)
        case (.delete, .row(let row)):
            try authorize(row.scope)
            let isEdited = row.stamps.values.contains { planner.isForeign($0, since: change.base) }
            if isServer, entity.whenDeleted == .keepEdits, isEdited {
                refuse(change, .rowEdited)
            } else {
                deleted.append(id)
            }
        case (.delete, .absent):
            // Remembered, so that a repeated insertion of another device does not bring the row back.
            if isServer { planner.rows.set(id, .deleted(Tombstone(number: planner.number, row: Row(values: [:])))) }
        case (.delete, .left): refuse(change, .rowLeftScope)
        case (.delete, _): break
        }
    }

    /// Sets properties of a row that is there.
    private mutating func edit(
        _ id: RowID, _ row: Row, _ edits: [String: (old: SyncValue?, new: SyncValue)], by change: RowChange,
        of entity: SyncEntity
    ) throws(Stop) {
        var result = row
        for (property, edit) in edits.sorted(by: { $0.key < $1.key }) {
            guard let description = entity.properties[property] else { continue }
            let theirs = row.values[property] ?? description.initialValue ?? .null
            let stamp = row.stamps[property]
            let asksClosure = description.rule == .closure && !change.skipsClosure
            let isForeign = planner.isForeign(stamp, since: asksClosure ? change.seen : change.base)
            if isServer, asksClosure, isForeign, theirs != edit.new { throw Stop(verdict: .conflict(id)) }
            let merged = PropertyMerge.merge(
                description.rule, old: edit.old, mine: edit.new, theirs: theirs, theyChanged: isForeign,
                mineIsLater: planner.isLater(transaction, than: stamp))
            if merged != theirs {
                result.values[property] = merged
                result.stamps[property] = planner.stamp(transaction)
            }
        }
        write(id, result)
    }

    private mutating func create(_ id: RowID, _ values: [String: SyncValue], of entity: SyncEntity) {
        var row = Row(values: values)
        for (property, description) in entity.properties where row.values[property] == nil {
            row.values[property] = description.initialValue
        }
        let stamp = planner.stamp(transaction)
        // Defaults have no stamp: nobody has written them.
        for property in values.keys { row.stamps[property] = stamp }
        write(id, row)
    }

    private mutating func write(_ id: RowID, _ row: Row) {
        planner.rows.set(id, .row(row))
        if isTouched.insert(id).inserted { touched.append(id) }
    }

    private mutating func refuse(_ change: RowChange, property: String? = nil, _ reason: RefusalReason) {
        refused.append(
            RefusedChange(transaction: transaction.number, change: change, property: property, reason: reason))
    }

    // MARK: Deletions

    private mutating func delete() throws(Stop) {
        var next = 0
        while next < deleted.count {
            let id = deleted[next]
            next += 1
            guard let row = planner.rows[id].row else { continue }
            planner.rows.set(id, .deleted(Tombstone(number: planner.number, row: row)))
            for referrer in planner.rows.referrers(of: id) {
                guard var row = planner.rows[referrer].row else { continue }
                for (property, destination) in row.references() where destination == id {
                    guard let value = row.values[property] else { continue }
                    switch planner.schema.property(property, of: referrer.entity)?.kind {
                    case .reference(.deleteToo): deleted.append(referrer)
                    case .reference(.refuse): throw Stop(verdict: .refused(.deletionDenied(by: referrer)))
                    default:
                        row.values[property] = value.removing(id) ?? .null
                        row.stamps[property] = planner.ownStamp
                    }
                }
                planner.rows.set(referrer, .row(row))
            }
        }
    }

    // MARK: What must hold

    /// Lets references follow joined rows, and clears those that lead nowhere. A required one of these refuses the
    /// transaction.
    private mutating func checkReferences() throws(Stop) {
        for id in touched {
            guard var row = planner.rows[id].row else { continue }
            for (property, destination) in row.references().sorted(by: {
                ($0.property, $0.destination) < ($1.property, $1.destination)
            }) {
                guard let value = row.values[property] else { continue }
                let current = planner.rows.resolved(destination)
                if current != destination {
                    row.values[property] = value.replacing(destination, by: current)
                }
                if planner.rows[current].row != nil { continue }
                let isRefused = planner.refusedInserts.contains(destination)
                if !isServer, !isRefused { continue }
                let description = planner.schema.property(property, of: id.entity)
                if description?.isRequired ?? false {
                    throw Stop(
                        verdict: .refused(
                            isRefused
                                ? .dependsOnRefused(destination) : .missingReference(property: property, destination)))
                }
                if !isServer { continue }
                row.values[property] = row.values[property]?.removing(current) ?? .null
                if let change = transaction.changes.last(where: {
                    $0.newValues[property]?.references.contains(destination) ?? false
                }) {
                    refuse(change, property: property, .missingReference(property: property, destination))
                }
            }
            planner.rows.set(id, .row(row))
        }
    }

    private mutating func checkUniqueValues() throws(Stop) {
        var next = 0
        while next < touched.count {
            let id = touched[next]
            next += 1
            for rule in planner.schema.entities[id.entity]?.uniques ?? [] {
                guard let row = planner.rows[id].row, let key = UniqueKey(rule, of: row, in: id.entity),
                    let other = planner.rows.holder(of: key, rule: rule, otherThan: id),
                    let otherRow = planner.rows[other].row
                else { continue }
                var visible: RowID? = other
                if case .server(_, let allowed) = planner.side, let scope = otherRow.scope, !allowed.contains(scope) {
                    visible = nil
                }
                switch rule.whenTaken {
                case .join where visible != nil: try join(id, row, to: other, otherRow)
                case .rename where visible != nil: try rename(id, row, rule)
                default:
                    throw Stop(
                        verdict: .refused(.uniqueValueTaken(properties: rule.properties, by: visible)))
                }
            }
        }
    }

    /// Makes one row of two. The one that was there keeps its identifier.
    private mutating func join(_ id: RowID, _ row: Row, to other: RowID, _ otherRow: Row) throws(Stop) {
        guard let entity = planner.schema.entities[id.entity] else { return }
        let place = transaction.changes.firstIndex { planner.rows.resolved($0.id) == id }
        var isNew = false
        var base: HistoryNumber = 0
        var seen: HistoryNumber = 0
        var mine = row.values
        if let place {
            if case .insert = transaction.changes[place].edit { isNew = true }
            if isNew {
                // What the device did not send is not its own.
                let sent = Set(
                    transaction.changes.filter { planner.rows.resolved($0.id) == id }.flatMap(\.newValues.keys))
                mine = mine.filter { sent.contains($0.key) }
            }
            base = transaction.changes[place].base
            seen = transaction.changes[place].seen
        }
        // The program's closure has its say where both have a value and the device has not yet seen theirs.
        let asks = entity.properties.contains { property, description in
            description.rule == .closure && mine[property] != otherRow.values[property]
                && planner.isForeign(otherRow.stamps[property], since: seen)
        }
        if let place, isNew, asks, !transaction.changes[place].skipsClosure {
            switch planner.side {
            case .server: throw Stop(verdict: .conflict(other))
            case .device(let rules):
                if planner.closures.mayRun(other),
                    let merged = planner.closures.merge(
                        .init(id: other, mine: mine, theirs: otherRow.values), by: rules)
                {
                    for (property, description) in entity.properties where description.rule == .closure {
                        mine[property] = merged[property] ?? mine[property]
                    }
                    transaction.changes[place].edit = .insert(mine)
                } else {
                    transaction.changes[place].skipsClosure = true
                }
                transaction.changes[place].seen = planner.number
            }
        }
        let asked = place.map { !transaction.changes[$0].skipsClosure } ?? false
        var result = otherRow
        for (property, description) in entity.properties {
            guard let myValue = mine[property], let theirs = otherRow.values[property] else { continue }
            let stamp = otherRow.stamps[property]
            let isLater =
                isNew
                ? planner.isLater(transaction, than: stamp)
                : (row.stamps[property]?.time ?? 0) > (stamp?.time ?? 0)
            let old = isNew ? nil : description.initialValue
            let merged = PropertyMerge.merge(
                description.rule, old: old, mine: myValue, theirs: theirs,
                theyChanged: planner.isForeign(stamp, since: description.rule == .closure && asked ? seen : base),
                mineIsLater: isLater)
            if merged != theirs {
                result.values[property] = merged
                result.stamps[property] = isNew ? planner.stamp(transaction) : planner.ownStamp
            }
        }
        planner.rows.set(id, .forwarded(other))
        for referrer in planner.rows.referrers(of: id) where referrer != other {
            guard var referring = planner.rows[referrer].row else { continue }
            for (property, destination) in referring.references() where destination == id {
                referring.values[property] = referring.values[property]?.replacing(id, by: other)
                referring.stamps[property] = planner.ownStamp
            }
            planner.rows.set(referrer, .row(referring))
        }
        result.values = result.values.mapValues { $0.replacing(id, by: other) }
        planner.rows.set(other, .row(result))
        touched.append(other)
        isTouched.insert(other)
    }

    private mutating func rename(_ id: RowID, _ row: Row, _ rule: UniqueRule) throws(Stop) {
        guard case .device(let rules) = planner.side,
            let place = transaction.changes.lastIndex(where: {
                planner.rows.resolved($0.id) == id && !Set($0.newValues.keys).isDisjoint(with: rule.properties)
            })
        else {
            throw Stop(
                verdict: isServer ? .conflict(id) : .refused(.uniqueValueTaken(properties: rule.properties, by: id)))
        }
        var row = row
        // The closure may give a value that is taken as well; it is asked a bounded number of times.
        for _ in 0..<16 where planner.closures.mayRun(id) {
            guard
                let renamed = planner.closures.rename(
                    .init(id: id, values: row.values, properties: rule.properties), by: rules)
            else { break }
            for property in rule.properties { row.values[property] = renamed[property] ?? .null }
            guard let key = UniqueKey(rule, of: row, in: id.entity),
                planner.rows.holder(of: key, rule: rule, otherThan: id) != nil
            else { break }
        }
        if let key = UniqueKey(rule, of: row, in: id.entity),
            let other = planner.rows.holder(of: key, rule: rule, otherThan: id)
        {
            throw Stop(verdict: .refused(.uniqueValueTaken(properties: rule.properties, by: other)))
        }
        for property in rule.properties { setValue(row.values[property] ?? .null, of: property, at: place) }
        planner.rows.set(id, .row(row))
    }

    /// Writes a closure's result into the transaction.
    private mutating func setValue(_ value: SyncValue, of property: String, at place: Int) {
        switch transaction.changes[place].edit {
        case .insert(var values):
            values[property] = value
            transaction.changes[place].edit = .insert(values)
        case .update(var changes):
            changes[property] = ValueChange(old: changes[property]?.old ?? value, new: value)
            transaction.changes[place].edit = .update(changes)
        case .delete: break
        }
    }

    private mutating func checkValues() throws(Stop) {
        guard isServer else { return }
        for id in touched {
            guard let row = planner.rows[id].row, let entity = planner.schema.entities[id.entity] else { continue }
            for (property, description) in entity.properties.sorted(by: { $0.key < $1.key })
            where description.isRequired {
                if row.values[property] ?? .null == .null {
                    throw Stop(verdict: .refused(.missingValue(property: property)))
                }
            }
        }
    }

    // MARK: Scopes

    /// Finds the scopes of changed rows, and of what they own. The user must be allowed to write both the former scope
    /// and the new one.
    private mutating func moveScopes() throws(Stop) {
        var waiting = touched
        var seen = Set(touched)
        let own = Set(touched)
        while let id = waiting.popLast() {
            guard var row = planner.rows[id].row else { continue }
            let scope = planner.scope(of: id, row)
            if own.contains(id) { try authorize(scope) }
            if scope == row.scope { continue }
            row.scope = scope
            planner.rows.set(id, .row(row))
            for referrer in planner.rows.referrers(of: id) {
                guard case .owner(let property) = planner.schema.entities[referrer.entity]?.scope,
                    planner.rows[referrer].row?.values[property] == .reference(id), seen.insert(referrer).inserted
                else { continue }
                waiting.append(referrer)
            }
        }
    }

    private func authorize(_ scope: SyncScope?) throws(Stop) {
        guard case .server(_, let allowed) = planner.side, let scope else { return }
        if !allowed.contains(scope) { throw Stop(verdict: .refused(.notAuthorized(scope))) }
    }
}
