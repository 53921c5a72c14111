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
