/// What a program's closures decide. They run on the device. A program without a closure for a row, and a closure whose
/// result no store can keep, give nil: it is as if the schema had none.
package struct ProgramRules: Sendable {
    package typealias Values = [String: SyncValue]

    /// Merges a row that both sides have changed: what it was (nil if both made it), mine, theirs.
    package var merge: @Sendable (_ id: RowID, _ old: Values?, _ mine: Values, _ theirs: Values) -> Values?
    /// Gives a row other values in place of those that another row has.
    package var rename: @Sendable (_ id: RowID, _ values: Values, _ properties: [String]) -> Values?

    package init(
        merge: @escaping @Sendable (_ id: RowID, _ old: Values?, _ mine: Values, _ theirs: Values) -> Values?,
        rename: @escaping @Sendable (_ id: RowID, _ values: Values, _ properties: [String]) -> Values?
    ) {
        self.merge = merge
        self.rename = rename
    }

    /// Those of a program without closures.
    package static let none = ProgramRules(merge: { _, _, _, _ in nil }, rename: { _, _, _ in nil })
}

/// What closures gave while a step was planned, by what they were asked.
package struct ClosureAnswers: Hashable, Sendable {
    struct Merge: Hashable {
        var id: RowID
        var old: [String: SyncValue]?
        var mine: [String: SyncValue]
        var theirs: [String: SyncValue]
    }

    struct Rename: Hashable {
        var id: RowID
        var values: [String: SyncValue]
        var properties: [String]
    }

    var merges: [Merge: [String: SyncValue]?] = [:]
    var renames: [Rename: [String: SyncValue]?] = [:]
}

/// Which closures may run. One that ended the program twice is not asked a third time: so each is noted in the store
/// before it runs, and the note goes with the transaction that has its result.
struct ClosureRuns {
    /// The rows noted since the program started to plan this step.
    let noted: Set<RowID>
    /// How often each row has been noted, this time included.
    let attempts: [RowID: Int]
    /// Rows that have to be noted first.
    private(set) var missing: Set<RowID> = []
    /// Rows whose closures are not asked any more.
    private(set) var skipped: Set<RowID> = []

    private(set) var answers: ClosureAnswers

    init(noted: Set<RowID>, attempts: [RowID: Int], answers: ClosureAnswers = ClosureAnswers()) {
        self.noted = noted
        self.attempts = attempts
        self.answers = answers
    }

    /// What the program's closure makes of a row that both sides have changed. It is asked once.
    /// A row that has none is not asked about again.
    mutating func merge(_ question: ClosureAnswers.Merge, by rules: ProgramRules) -> [String: SyncValue]? {
        let known = answers.merges[question]
        let answer = known ?? rules.merge(question.id, question.old, question.mine, question.theirs)
        answers.merges[question] = .some(answer)
        if answer == nil { skipped.insert(question.id) }
        return answer
    }

    /// The values that the program's closure gives a row in place of those that another row has. It is asked once.
    mutating func rename(_ question: ClosureAnswers.Rename, by rules: ProgramRules) -> [String: SyncValue]? {
        if let known = answers.renames[question] { return known }
        let answer = rules.rename(question.id, question.values, question.properties)
        answers.renames[question] = .some(answer)
        return answer
    }

    mutating func mayRun(_ id: RowID) -> Bool {
        guard noted.contains(id) else {
            missing.insert(id)
            return false
        }
        if attempts[id, default: 0] > 2 {
            skipped.insert(id)
            return false
        }
        return true
    }
}

/// What becomes of a transaction.
enum Verdict: Hashable {
    /// It was applied, apart from these.
    case taken([RefusedChange])
    case refused(RefusalReason)
    /// The device has to run a closure on this row first.
    case conflict(RowID)
}

/// Applies own transactions to rows: on the server, where the result is what is true, and on a device, which shows its
/// unsent transactions on top of the server's rows. One set of rules for both. Pure.
///
/// They differ in four points. The server compares times; on a device its own edits are on top. The server asks for a
/// closure by a conflict; a device runs it. The server checks references, required values and rights; a device has
/// checked what it could when it saved, and may lack rows of other scopes.
struct TransactionPlanner {
    enum Side {
        /// The server, with the time by its clock and the scopes that the user may write.
        case server(now: Int64, allowed: Set<SyncScope>)
        case device(ProgramRules)
    }

    let schema: SyncSchema
    let side: Side
    /// The device whose transactions these are.
    let device: DeviceID
    /// The number that the next transaction gets; on a device, that of the server's state below.
    var number: HistoryNumber
    var rows: WorkingRows
    /// Rows that refused transactions were to insert.
    var refusedInserts: Set<RowID> = []
    /// Which closures may run; on a server none does.
    var closures = ClosureRuns(noted: [], attempts: [:])

    private var isServer: Bool { if case .server = side { true } else { false } }

    /// Applies a transaction, or leaves the rows as they were. A device's closures write their results into it.
    mutating func take(_ transaction: inout OwnTransaction) -> Verdict {
        rows.mark()
        var attempt = TransactionAttempt(planner: self, transaction: transaction)
        let verdict = attempt.run()
        self = attempt.planner
        switch verdict {
        case .taken: transaction = attempt.transaction
        case .refused(let reason):
            rows.rollBack()
            return refuse(transaction, reason)
        case .conflict: rows.rollBack()
        }
        return verdict
    }

    /// Leaves a transaction out: what builds on its rows is left out, too.
    mutating func refuse(_ transaction: OwnTransaction, _ reason: RefusalReason) -> Verdict {
        for change in transaction.changes {
            if case .insert = change.edit, rows[change.id].row == nil { refusedInserts.insert(change.id) }
        }
        return .refused(reason)
    }

    /// When an edit was made, by the server's clock, and never later than it arrived.
    func time(of transaction: OwnTransaction) -> Int64? {
        guard case .server(let now, _) = side else { return transaction.time }
        return transaction.time.map { min($0, now) }
    }

    /// Whether somebody else has changed a property since the device saw it.
    func isForeign(_ stamp: Stamp?, since base: HistoryNumber) -> Bool {
        guard let stamp else { return false }
        return stamp.number > base && stamp.device != device
    }

    /// Whether an edit is later than the one that is there. On a device its own is on top, as only the server compares.
    func isLater(_ transaction: OwnTransaction, than stamp: Stamp?) -> Bool {
        guard isServer else { return true }
        guard let time = time(of: transaction) else { return false }
        return stamp.map { time > $0.time } ?? true
    }

    func stamp(_ transaction: OwnTransaction) -> Stamp {
        var now: Int64 = 0
        if case .server(let time, _) = side { now = time }
        return Stamp(number: number, time: time(of: transaction) ?? now, device: device)
    }

    /// The stamp of what the server does by its own rules.
    var ownStamp: Stamp {
        var now: Int64 = 0
        if case .server(let time, _) = side { now = time }
        return Stamp(number: number, time: now, device: nil)
    }

    /// The scope of a row, found by its property or its owner.
    mutating func scope(of id: RowID, _ row: Row, depth: Int = 0) -> SyncScope? {
        switch schema.scope(of: id, row.values) {
        case .everybody: return nil
        case .named(let scope): return scope
        case .asOwner(let owner):
            guard depth < 16, let owner, let ownerRow = rows[owner].row else { return row.scope }
            return scope(of: owner, ownerRow, depth: depth + 1)
        }
    }
}

/// What a store knows of an identifier.
package enum RowFact: Hashable, Sendable {
    case row(Row)
    case deleted(Tombstone)
    /// The row was joined to another one, and has its identifier.
    case forwarded(RowID)
    /// The row is not in this device's scopes any more.
    case left
    /// There is no such row, and none that is remembered.
    case absent

    package var row: Row? { if case .row(let row) = self { row } else { nil } }
}

/// A row that was deleted.
package struct Tombstone: Hashable, Sendable {
    /// The transaction that deleted it.
    package var number: HistoryNumber
    /// What it was.
    package var row: Row

    package init(number: HistoryNumber, row: Row) {
        self.number = number
        self.row = row
    }
}

/// Values that only one row may have.
package struct UniqueKey: Hashable, Sendable {
    package var entity: String
    package var properties: [String]
    package var values: [SyncValue]

    /// The key of a row, or nil if a value is null: rows without a value do not meet each other.
    package init?(_ rule: UniqueRule, of row: Row, in entity: String) {
        self.entity = entity
        properties = rule.properties
        values = rule.properties.map { row.values[$0] ?? .null }
        if values.contains(.null) { return nil }
    }
}

/// What a plan has to know of a store, asked in sets.
package struct RowQuestions: Hashable, Sendable {
    package var rows: Set<RowID> = []
    /// The rows that refer to these.
    package var referrers: Set<RowID> = []
    /// The rows that have these values.
    package var holders: Set<UniqueKey> = []
    /// What the program's closures gave before these questions came up. It goes into the facts as it is, so that no
    /// closure runs twice for one conflict.
    package var answers = ClosureAnswers()

    package var isEmpty: Bool { rows.isEmpty && referrers.isEmpty && holders.isEmpty }
}

/// The answers to questions. Referrers and holders may have more rows than asked for: plans look at their values.
package struct RowFacts: Sendable {
    package var rows: [RowID: RowFact] = [:]
    package var referrers: [RowID: Set<RowID>] = [:]
    package var holders: [UniqueKey: Set<RowID>] = [:]
    package var answers = ClosureAnswers()

    package init() {}
}

/// A plan, or what has to be asked first. The caller asks in the transaction in which it carries out the plan, adds the
/// answers to its facts, and plans again; each round is one set of statements.
package enum Planned<Plan: Sendable>: Sendable {
    case needs(RowQuestions)
    case done(Plan)
}

/// A store's rows while a plan changes them: facts below, changes above. It notes what it does not know.
struct WorkingRows {
    private let facts: RowFacts
    private var changed: [RowID: RowFact] = [:]
    private var changedReferrers: [RowID: Set<RowID>] = [:]
    private var changedHolders: [UniqueKey: Set<RowID>] = [:]
    /// What changed rows were before the last mark.
    private var former: [RowID: RowFact] = [:]
    private var formerOrder: [RowID] = []
    private(set) var questions = RowQuestions()
    private let schema: SyncSchema

    init(_ facts: RowFacts, schema: SyncSchema) {
        self.facts = facts
        self.schema = schema
    }

    /// What is known of an identifier; absent, with a question noted, if nothing is.
    subscript(id: RowID) -> RowFact {
        mutating get {
            if let fact = changed[id] ?? facts.rows[id] { return fact }
            questions.rows.insert(id)
            return .absent
        }
    }

    /// The identifier that a joined row has now.
    mutating func resolved(_ id: RowID) -> RowID {
        var id = id
        var steps = 0
        // Forwards do not lead in circles, as a row is joined to one that lives; the bound is for damaged stores.
        while case .forwarded(let next) = self[id], steps < 64 {
            id = next
            steps += 1
        }
        return id
    }

    mutating func set(_ id: RowID, _ fact: RowFact) {
        if former[id] == nil {
            former[id] = self[id]
            formerOrder.append(id)
        }
        changed[id] = fact
        guard case .row(let row) = fact else { return }
        for (_, destination) in row.references() { changedReferrers[destination, default: []].insert(id) }
        for rule in schema.entities[id.entity]?.uniques ?? [] {
            if let key = UniqueKey(rule, of: row, in: id.entity) { changedHolders[key, default: []].insert(id) }
        }
    }

    /// The rows that refer to one, in order.
    mutating func referrers(of id: RowID) -> [RowID] {
        if facts.referrers[id] == nil { questions.referrers.insert(id) }
        let candidates = (facts.referrers[id] ?? []).union(changedReferrers[id] ?? []).sorted()
        return candidates.filter { candidate in
            self[candidate].row?.references().contains { $0.destination == id } ?? false
        }
    }

    /// A row with these values, apart from one.
    mutating func holder(of key: UniqueKey, rule: UniqueRule, otherThan id: RowID) -> RowID? {
        if facts.holders[key] == nil { questions.holders.insert(key) }
        let candidates = (facts.holders[key] ?? []).union(changedHolders[key] ?? []).sorted()
        return candidates.first { candidate in
            guard candidate != id, let row = self[candidate].row else { return false }
            return UniqueKey(rule, of: row, in: candidate.entity) == key
        }
    }

    /// Begins a step that can be taken back.
    mutating func mark() {
        former = [:]
        formerOrder = []
    }

    /// Takes back what has changed since the mark.
    mutating func rollBack() {
        for (id, fact) in former { changed[id] = fact }
        mark()
    }

    /// What has changed since the mark, in the order in which it first did.
    mutating func changesSinceMark() -> [(id: RowID, before: RowFact, after: RowFact)] {
        formerOrder.compactMap { id in
            guard let before = former[id], let after = changed[id], before != after else { return nil }
            return (id, before, after)
        }
    }

    /// All rows that plans have changed, also those that are again what they were.
    var changedRows: [RowID: RowFact] { changed }
}
