import StoreSession

/// A portion of the rows that a step changes, with the models that its closures give along, in the store that is being
/// made.
final class GivenRows {
    private let entity: ChangedEntity
    private let rows: StoreRows
    private let changed: ChangedRows
    private let store: SessionStore
    /// The numbers of the rows that were changed, by the keys of the rows before the step.
    private var roots: [Int64: Int] = [:]
    /// The numbers of known rows, by entity and identifier.
    private var places: [ObjectIdentifier: NodePlaces] = [:]
    /// Those of models that were given anew after another one had dropped them.
    private var again: [ObjectIdentifier: [RecordKey: Int]] = [:]

    init(_ entity: ChangedEntity) throws {
        guard let store = entity.destination.onlyStore else {
            throw PersistenceError.notLoaded(manager: entity.to.name)
        }
        self.entity = entity
        rows = StoreRows(entity.destination)
        changed = ChangedRows(rows)
        self.store = store
    }

    // MARK: Reading

    /// Reads what rows have become.
    func load(_ sources: [Row]) throws {
        for row in try rows.rows(for: sources.compactMap { entity.successor(of: $0.objectID) }) {
            roots[row.objectID.key] = changed.note(row)
        }
    }

    /// Reads what rows have become, and the rows of the models that are given along, in sets.
    func load(_ sources: [Row], and graphs: [ModelGraph]) throws {
        try load(sources)
        var wanted: [ObjectIdentifier: (plan: EntityPlan, nodes: [(graph: Int, node: Int)])] = [:]
        for (number, graph) in graphs.enumerated() {
            for node in graph.nodes.indices.dropFirst() {
                let plan = graph.nodes[node].plan
                wanted[plan.id, default: (plan, [])].nodes.append((number, node))
            }
        }
        for (plan, nodes) in wanted.values {
            var keys: Set<RecordKey> = []
            var identifiers: [StoredValue] = []
            for (graph, node) in nodes {
                let key = graphs[graph].nodes[node].key
                guard keys.insert(key).inserted else { continue }
                guard let identifier = graphs[graph].storedIdentifier(node, plan) else {
                    throw PersistenceError.missingReference(entity: plan.name, key: plan.uidKey, uid: key.text)
                }
                identifiers.append(identifier)
            }
            try find(identifiers, of: plan)
        }
        if let plan = graphs.first?.plan { try loadEnds(of: plan, Array(roots.values)) }
    }

    private func find(_ identifiers: [StoredValue], of plan: EntityPlan) throws {
        let slot = try rows.slots(of: plan)[plan.uidField]
        var found: [Int] = []
        try rows.forEachRow(of: plan, where: slot, isAmong: identifiers) { row in
            guard let key = RecordKey(try row.value(at: slot)) else { return }
            let number = changed.note(try row.whole())
            found.append(number)
            _ = places[plan.id, default: NodePlaces()].place(of: key, orPut: number)
        }
        try loadEnds(of: plan, found)
    }

    private func loadEnds(of plan: EntityPlan, _ numbers: [Int]) throws {
        let layout = try rows.layout(of: plan)
        for field in plan.relationships {
            guard let relationship = layout.relationship(named: plan.fields[field].name) else { continue }
            try changed.load(relationship, of: numbers)
        }
    }

    // MARK: Changing

    /// Sets the values of what a row has become.
    func set(_ values: ContiguousArray<StoredValue>, of plan: EntityPlan, at row: Row) throws {
        guard let number = roots[row.objectID.key] else { return }
        try set(values, of: plan, at: number)
    }

    /// Sets one value of what a row has become.
    func set(_ value: StoredValue, named name: String, at row: Row) {
        guard let number = roots[row.objectID.key], let slot = entity.new.slotIndex(forName: name) else { return }
        changed.set(value, at: slot, of: number)
    }

    private func set(_ values: ContiguousArray<StoredValue>, of plan: EntityPlan, at number: Int) throws {
        let slots = try rows.slots(of: plan)
        for (index, field) in plan.fields.enumerated() where field.related == nil && slots[index] >= 0 {
            let (new, stored) = (values[index], changed.entries[number].values[slots[index]])
            if case .composite(let record) = field.kind {
                if record.isSame(new.composite, stored.composite) { continue }
            } else if new == stored {
                continue
            }
            changed.set(new, at: slots[index], of: number)
        }
    }

    /// Saves the models of a graph, whose first one is what a row has become. Relationships that lead nowhere stay as
    /// they are.
    ///
    /// - Throws: ``PersistenceError/Code/missingReference``, and the errors of reading.
    func write(_ graph: ModelGraph, at row: Row) throws {
        guard let root = roots[row.objectID.key] else { return }
        var numbers = [root]
        var stored = [root]
        for node in graph.nodes.indices.dropFirst() {
            let (plan, key) = (graph.nodes[node].plan, graph.nodes[node].key)
            if let known = self.node(key, of: plan) {
                numbers.append(known)
                stored.append(known)
            } else if graph.nodes[node].isReference {
                let source = graph.relationship(to: node) ?? (plan.name, plan.uidKey)
                throw PersistenceError.missingReference(entity: source.entity, key: source.key, uid: key.text)
            } else {
                let new = try changed.insert(rows.layout(of: plan))
                again[plan.id, default: [:]][key] = new
                numbers.append(new)
            }
        }
        for node in graph.nodes.indices where !graph.nodes[node].isReference {
            try set(graph.values(of: node), of: graph.nodes[node].plan, at: numbers[node])
        }
        var left: [Int] = []
        for node in graph.nodes.indices where !graph.nodes[node].isReference {
            left += try connect(node, of: graph, numbers)
        }
        try changed.delete(left, keeping: Set(numbers), stored: stored)
    }

    /// The number of a model's row; nil for one that is not there, or was dropped.
    private func node(_ key: RecordKey, of plan: EntityPlan) -> Int? {
        let known = again[plan.id]?[key] ?? places[plan.id]?.place(of: key)
        return known.flatMap { changed.entries[$0].isDeleted ? nil : $0 }
    }

    /// Sets the relationships of a node that lead somewhere.
    ///
    /// - Returns: the rows that the model owned and no longer does.
    private func connect(_ node: Int, of graph: ModelGraph, _ numbers: [Int]) throws -> [Int] {
        let plan = graph.nodes[node].plan
        let layout = try rows.layout(of: plan)
        var left: [Int] = []
        for field in plan.relationships {
            guard let relationship = layout.relationship(named: plan.fields[field].name) else { continue }
            let targets = graph.targets(of: node, field).map { numbers[$0] }
            let former = try changed.ends(of: relationship, at: numbers[node])
            guard !targets.isEmpty, former != targets else { continue }
            if plan.owns(plan.fields[field]) {
                let kept = Set(targets)
                left += former.filter { !kept.contains($0) }
            }
            if relationship.isToMany, !relationship.isOrdered, Set(former) == Set(targets) { continue }
            try changed.connect(relationship, of: numbers[node], to: targets)
        }
        return left
    }

    // MARK: Writing

    /// Writes the portion.
    ///
    /// - Throws: `SharedUniqueValues` for values that must be unique and are not, ``PersistenceError/Code/invalid`` for
    ///   a model that lacks a required value, and the errors of the store.
    func commit() throws {
        let transaction = OptimisticTransaction(entity.destination)
        defer { transaction.end() }
        do {
            try changed.commit(to: store, of: rows.session, in: transaction) { set in
                if let lack = SaveRules.lacks(in: set).first { throw lacking(lack.change.objectID.layout, lack.slot) }
            }
        } catch SaveRefusal.constraints(let violations) {
            throw SharedUniqueValues(violations) ?? SaveRefusal.constraints(violations)
        }
    }

    private func lacking(_ layout: EntityLayout, _ slot: Int) -> PersistenceError {
        PersistenceError(
            .invalid, entity: layout.name, property: layout.slots[slot].name,
            "The step from version '\(entity.from.name)' to '\(entity.to.name)' gives models that lack a required value: "
                + "'\(layout.slots[slot].name)' of '\(layout.name)'. The store is as it was.")
    }
}

/// Values that must be unique and are not after a step.
package struct SharedUniqueValues: Error {
    let entity: String
    let properties: [String]
    let examples: [String]
    let underlying: any Error

    package init(entity: String, properties: [String], examples: [String], underlying: any Error) {
        (self.entity, self.properties) = (entity, properties)
        (self.examples, self.underlying) = (Array(examples.prefix(5)), underlying)
    }

    fileprivate init?(_ violations: [ConstraintViolation]) {
        guard let first = violations.first else { return nil }
        self.init(
            entity: first.entity.name, properties: first.constraint,
            examples: violations.filter { $0.constraint == first.constraint }.map { violation in
                violation.values.map { RecordKey($0)?.text ?? "nil" }.joined(separator: ", ")
            }, underlying: SaveRefusal.constraints(violations))
    }
}
