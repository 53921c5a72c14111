/// Brings a device's rows to a later state of the server: the server's transactions first, and what the device has not
/// sent on top of them. Pure, apart from the program's closures.
package struct Rebasing {
    private let input: RebaseInput
    private let rules: ProgramRules
    private var rows: WorkingRows
    private var plan = RebasePlan()
    private var refusedInserts: Set<RowID> = []
    private var closures: ClosureRuns
    /// Properties that others have changed, by row.
    private var foreign: [RowID: Set<String>] = [:]

    package static func step(_ input: RebaseInput, rules: ProgramRules, facts: RowFacts) throws -> RebaseStep {
        let settledAt = input.frozen?.answer?.settledAt ?? 0
        if input.order.restored == nil, settledAt > input.order.end {
            throw PageTooShort(end: input.order.end, settledAt: settledAt)
        }
        if !input.noted.isEmpty {
            // Closures run when all is known that can be asked before. What their answers make necessary to know is
            // asked afterwards, and the answers are kept meanwhile.
            var dry = input
            dry.noted = []
            var rebasing = Rebasing(dry, rules: rules, facts: facts)
            if case .needs(let questions) = rebasing.run() { return .needs(questions) }
        }
        var rebasing = Rebasing(input, rules: rules, facts: facts)
        return rebasing.run()
    }

    private init(_ input: RebaseInput, rules: ProgramRules, facts: RowFacts) {
        self.input = input
        self.rules = rules
        rows = WorkingRows(facts, schema: input.schema)
        closures = ClosureRuns(noted: input.noted, attempts: input.attempts, answers: facts.answers)
    }

    private mutating func run() -> RebaseStep {
        // All of them are needed at the end, and are asked for before a closure runs.
        for id in input.dirty.keys { _ = rows[id] }
        applyServer()
        let base = rows.changedRows
        plan.open = settled()
        forward()
        splitAdded()
        mergeRows()
        showOwn()
        if !rows.questions.isEmpty {
            var questions = rows.questions
            questions.answers = closures.answers
            return .needs(questions)
        }
        if !closures.missing.isEmpty { return .note(closures.missing) }
        for (id, fact) in base { plan.base[id] = .some(fact.row.map(withoutStamps)) }
        var affected = Set(rows.changedRows.keys).union(input.dirty.keys)
        if !input.isReplacement { affected.formUnion(input.leaving) }
        for id in affected { plan.shown[id] = .some(rows[id].row.map(withoutStamps)) }
        plan.skippedClosures = closures.skipped
        return .done(plan)
    }

    private func withoutStamps(_ row: Row) -> Row { Row(values: row.values, scope: row.scope) }

    // MARK: The server's rows

    private mutating func applyServer() {
        let lostInsertions = input.lostInsertions
        if !input.isReplacement {
            for id in input.leaving.sorted() { rows.set(id, .left) }
        } else {
            for (id, former) in input.dirty {
                guard let former else {
                    if let row = rows[id].row {
                        mark(id, row, from: Row(values: [:]), number: input.order.end, device: nil)
                    }
                    continue
                }
                if let row = rows[id].row {
                    mark(id, row, from: former, number: input.order.end, device: nil)
                } else if let scope = former.scope, !input.order.record.scopes.contains(scope) {
                    rows.set(id, .left)
                } else if lostInsertions.contains(id) {
                    // A restored server has never had it: it comes again.
                    continue
                } else {
                    rows.set(id, .deleted(Tombstone(number: input.order.end, row: former)))
                }
            }
        }
        for transaction in input.transactions {
            for change in transaction.changes { apply(change, of: transaction) }
        }
    }

    private mutating func apply(_ change: PageChange, of transaction: PageTransaction) {
        let former = rows[change.id].row
        switch change {
        case .row(let id, let values, let scope):
            let row = Row(values: filled(values, id.entity), scope: scope)
            mark(id, row, from: former ?? Row(values: [:]), number: transaction.number, device: transaction.device)
        case .values(let id, let values, let scope):
            var row = former ?? Row(values: filled([:], id.entity))
            row.values.merge(values) { $1 }
            row.scope = scope
            mark(id, row, from: former ?? Row(values: [:]), number: transaction.number, device: transaction.device)
        case .deleted(let id):
            rows.set(id, .deleted(Tombstone(number: transaction.number, row: former ?? Row(values: [:]))))
        case .left(let id): rows.set(id, .left)
        case .forwarded(let id, let other): rows.set(id, .forwarded(other))
        }
    }

    /// A row's values, with those that the server does not know.
    private func filled(_ values: [String: SyncValue], _ entity: String) -> [String: SyncValue] {
        var values = values
        for (property, description) in input.schema.entities[entity]?.properties ?? [:] where values[property] == nil {
            values[property] = description.initialValue
        }
        return values
    }

    /// Writes a row of the server's, and notes what others have changed in it.
    private mutating func mark(_ id: RowID, _ row: Row, from former: Row, number: HistoryNumber, device: DeviceID?) {
        var row = row
        row.stamps = former.stamps
        for (property, value) in row.values where value != former.values[property] {
            row.stamps[property] = Stamp(number: number, time: 0, device: device)
            if device != input.record.device { foreign[id, default: []].insert(property) }
        }
        rows.set(id, .row(row))
    }

    // MARK: Own transactions

    /// The transactions that the server has not decided about, in order. What it has decided goes out, into the journal
    /// where it was refused.
    private mutating func settled() -> [OwnTransaction] {
        var open: [OwnTransaction] = []
        var lost = input.lost
        if let frozen = input.frozen {
            let isLost = input.order.restored.map { frozen.request.batch > $0.lastDecided } ?? false
            var outcomes: [PushOutcome] = []
            if case .decided(let decided) = frozen.answer { outcomes = decided }
            for (place, transaction) in frozen.request.transactions.enumerated() {
                guard place < outcomes.count else {
                    open.append(transaction)
                    continue
                }
                switch outcomes[place] {
                case .taken(_, let refused):
                    plan.journal += refused
                    if isLost {
                        lost.append(transaction.without(refused))
                    } else {
                        plan.acknowledged.append(transaction.without(refused))
                    }
                case .refused(let reason): refuse(transaction, reason)
                case .conflict: open.append(transaction)
                }
            }
        }
        if let shared = input.order.restored?.shared {
            open = (repeated(lost) + open + input.open).map { transaction in
                var transaction = transaction
                for place in transaction.changes.indices {
                    transaction.changes[place].base = min(transaction.changes[place].base, shared)
                    transaction.changes[place].seen = min(transaction.changes[place].seen, shared)
                }
                return transaction
            }
        } else {
            open += input.open
        }
        // Parts that wait for a newer server are older than what was sent after them.
        return open.enumerated().sorted { ($0.element.number, $0.offset) < ($1.element.number, $1.offset) }
            .map(\.element)
    }

    /// What the server has lost, as far as the device still had it: edits of rows that were deleted
    /// afterwards go to the journal.
    private mutating func repeated(_ lost: [OwnTransaction]) -> [OwnTransaction] {
        var result: [OwnTransaction] = []
        for var transaction in lost {
            transaction.isRepeated = true
            transaction.changes.removeAll { change in
                if case .delete = change.edit { return false }
                if case .some(.some) = input.dirty[change.id] { return false }
                plan.journal.append(
                    RefusedChange(transaction: transaction.number, change: change, reason: .rowDeleted))
                return true
            }
            if !transaction.changes.isEmpty { result.append(transaction) }
        }
        return result
    }

    private mutating func refuse(_ transaction: OwnTransaction, _ reason: RefusalReason) {
        for change in transaction.changes {
            plan.journal.append(RefusedChange(transaction: transaction.number, change: change, reason: reason))
            if case .insert = change.edit { refusedInserts.insert(change.id) }
        }
    }

    /// Rows that the server has joined to others are those from now on.
    private mutating func forward() {
        for transaction in input.transactions {
            for change in transaction.changes {
                guard case .forwarded(let id, let other) = change else { continue }
                for place in plan.open.indices {
                    plan.open[place].changes = plan.open[place].changes.map { $0.replacing(id, by: other) }
                }
            }
        }
    }

    /// Edits of properties that were not here were made without knowing the server's values: their base is 0.
    private mutating func splitAdded() {
        if input.order.stage == nil { return }
        let added = input.order.record.known.subtracting(input.record.known)
        if added.isEmpty { return }
        for place in plan.open.indices {
            plan.open[place].changes = plan.open[place].changes.flatMap { change -> [RowChange] in
                guard case .update(let changes) = change.edit else { return [change] }
                let isAdded = { (property: String) in added.contains(property, of: change.id.entity) }
                var early = change
                early.base = 0
                early.seen = 0
                early.edit = .update(changes.filter { isAdded($0.key) })
                var rest = change
                rest.edit = .update(changes.filter { !isAdded($0.key) })
                return [early, rest].filter { !$0.newValues.isEmpty }
            }
        }
    }

    /// Runs the closures of rows of which both sides have changed the same property: once for each row, on what is
    /// shown. The result stands in the last transaction that changes the row, so that nothing of it is done twice.
    private mutating func mergeRows() {
        var places: [RowID: [(transaction: Int, change: Int)]] = [:]
        for (transactionPlace, transaction) in plan.open.enumerated() {
            for (changePlace, change) in transaction.changes.enumerated() where change.edit != .delete {
                places[change.id, default: []].append((transactionPlace, changePlace))
            }
        }
        let open = plan.open
        for (id, rowPlaces) in places.sorted(by: { $0.key < $1.key }) {
            let closureProperties = (input.schema.entities[id.entity]?.properties ?? [:]).filter {
                $0.value.rule == .closure
            }
            if closureProperties.isEmpty { continue }
            // Also where nothing is merged, as the row is deleted here later: what is sent has seen the server's state.
            defer {
                for place in rowPlaces { plan.open[place.transaction].changes[place.change].seen = input.order.end }
            }
            let isMergeable = { (place: (transaction: Int, change: Int)) in
                open[place.transaction].changes[place.change].newValues.keys.contains { closureProperties[$0] != nil }
            }
            guard let last = rowPlaces.last(where: isMergeable), let theirs = rows[id].row,
                case .some(.some(let mine)) = input.shown[id]
            else { continue }
            let changedHere = Set(rowPlaces.flatMap { plan.open[$0.transaction].changes[$0.change].newValues.keys })
            let both = changedHere.intersection(foreign[id] ?? []).filter {
                closureProperties[$0] != nil && mine.values[$0] != theirs.values[$0]
            }
            if !both.isEmpty {
                var old: [String: SyncValue]?
                if case .some(.some(let former)) = input.dirty[id] { old = former.values }
                if closures.mayRun(id),
                    let merged = closures.merge(
                        .init(id: id, old: old, mine: mine.values, theirs: theirs.values), by: rules)
                {
                    let result = closureProperties.keys.reduce(into: [:]) { $0[$1] = merged[$1] ?? mine.values[$1] }
                    replace(id, at: rowPlaces, last: last, with: result, theirs: theirs)
                } else if closures.skipped.contains(id) {
                    for place in rowPlaces { plan.open[place.transaction].changes[place.change].skipsClosure = true }
                }
            }
        }
        for place in plan.open.indices {
            plan.open[place].changes.removeAll { $0.edit == .update([:]) }
        }
        plan.open.removeAll { $0.changes.isEmpty }
    }

    /// Puts a closure's result in the place of what led to it.
    private mutating func replace(
        _ id: RowID, at places: [(transaction: Int, change: Int)], last: (transaction: Int, change: Int),
        with result: [String: SyncValue], theirs: Row
    ) {
        var changed: [String: Set<ChangeOrigin>] = [:]
        for place in places {
            var change = plan.open[place.transaction].changes[place.change]
            for property in change.newValues.keys where result[property] != nil {
                changed[property, default: change.merged[property] ?? []].insert(change.origin)
            }
            switch change.edit {
            case .insert(var values):
                for (property, value) in result {
                    values[property] = place == last ? value : theirs.values[property] ?? value
                }
                change.edit = .insert(values)
            case .update(var changes):
                for property in result.keys { changes[property] = nil }
                if place == last {
                    for (property, value) in result where value != theirs.values[property] || changed[property] != nil {
                        changes[property] = ValueChange(old: theirs.values[property] ?? .null, new: value)
                    }
                }
                change.edit = .update(changes)
            case .delete: break
            }
            if place == last { change.merged.merge(changed) { $0.union($1) } }
            plan.open[place.transaction].changes[place.change] = change
        }
    }

    /// Shows the unsent transactions on top of the server's rows. What cannot be there goes to the journal.
    private mutating func showOwn() {
        var planner = TransactionPlanner(
            schema: input.schema, side: .device(rules), device: input.record.device, number: input.order.end, rows: rows
        )
        planner.refusedInserts = refusedInserts
        planner.closures = closures
        var open: [OwnTransaction] = []
        for var transaction in plan.open {
            switch planner.take(&transaction) {
            case .taken(let refused):
                plan.journal += refused
                transaction = transaction.without(refused)
                if !transaction.changes.isEmpty { open.append(transaction) }
            case .refused(let reason): refuse(transaction, reason)
            case .conflict: open.append(transaction)
            }
        }
        plan.open = open
        rows = planner.rows
        closures = planner.closures
    }
}
