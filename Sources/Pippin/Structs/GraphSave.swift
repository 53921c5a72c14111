import StoreSession

/// A save of models as rows, which were looked up.
protocol RowSave: AnyObject {
    var graph: ModelGraph { get }
    /// What becomes of the given models.
    var outcomes: [SaveOutcome] { get }

    /// Whether a model or a reference was not found.
    func isNew(_ node: Int) -> Bool

    /// Whether other changes of the block, which this save has not seen, concern its rows.
    func meets(_ unsaved: UnsavedChanges) -> Bool

    /// The differences.
    ///
    /// - Parameter unsaved: what the block has changed before, which gives new rows their keys.
    /// - Returns: the change set; nil for none.
    /// - Throws: `DirectSave.NotDirect`, and what reading throws.
    func changeSet(_ unsaved: UnsavedChanges) throws -> ChangeSet?
}

/// A save of models whatever they lead to: models of their own type, models on both sides of a relationship, one that
/// is owned by another one alone, sides that contradict each other.
///
/// It does with rows what `GraphWriter` does with objects. `DirectSave` saves the usual models without knowing all of
/// their rows.
final class GraphSave: RowSave {
    let graph: ModelGraph
    private let changed: ChangedRows
    /// The numbers of the nodes' rows, by node.
    private var numbers: [Int?]
    private var isNew: [Bool]
    /// What stored models get values of; nil for all of their properties.
    private let fields: GivenFields?
    /// The nodes that get values of all of their properties all the same.
    private let wholeNodes: Set<Int>

    /// Looks the models up, and changes their rows.
    ///
    /// - Parameters:
    ///   - graph: the models.
    ///   - rows: the store's rows, in the transaction's state.
    ///   - store: the store.
    ///   - mode: which of the models may be stored already.
    ///   - fields: what stored models get values of; nil for all of their properties.
    /// - Throws: `DirectSave.NotDirect`, ``PersistenceError``, and what reading throws.
    init(
        _ graph: ModelGraph, _ rows: StoreRows, _ store: SessionStore, _ mode: GraphWriter.Mode,
        setting fields: GivenFields?
    ) throws {
        self.graph = graph
        self.fields = fields
        wholeNodes = try fields?.wholeNodes(of: graph) ?? []
        changed = ChangedRows(rows, store)
        numbers = Array(repeating: nil, count: graph.nodes.count)
        isNew = Array(repeating: false, count: graph.nodes.count)
        let layouts = try graph.tables.map { try rows.layout(of: $0.plan) }
        guard layouts.allSatisfy(\.isPlain) else { throw DirectSave.NotDirect() }
        try find(layouts)
        try mode.check(graph) { numbers[$0] != nil }
        insert(layouts)
        try setValues()
        var left: [Int] = []
        for node in graph.nodes.indices where !graph.nodes[node].isReference {
            left += try connect(node, layouts[graph.nodes[node].table])
        }
        outcomes = (0..<graph.rootCount).map { [numbers, isNew, changed] root in
            isNew[root] ? .inserted : numbers[root].map(changed.isChanged) ?? false ? .updated : .unchanged
        }
        try delete(left)
        if mode == .only { try deleteOthers() }
    }

    private(set) var outcomes: [SaveOutcome] = []
    func isNew(_ node: Int) -> Bool { isNew[node] }

    func meets(_ unsaved: UnsavedChanges) -> Bool {
        changed.entries.contains { $0.identifier.map(unsaved.contains) ?? false }
    }

    func changeSet(_ unsaved: UnsavedChanges) throws -> ChangeSet? { try changed.changeSet(unsaved) }

    /// Whether a model gets the value of a field.
    private func takes(_ field: Int, _ node: Int) -> Bool {
        isNew[node] || wholeNodes.contains(node) || fields?.has(field, of: graph.nodes[node].plan) ?? true
    }

    // MARK: Steps

    private func find(_ layouts: [EntityLayout]) throws {
        var nodes: [[Int]] = Array(repeating: [], count: graph.tables.count)
        for node in graph.nodes.indices { nodes[graph.nodes[node].table].append(node) }
        for (table, nodes) in nodes.enumerated() where !nodes.isEmpty {
            let plan = graph.tables[table].plan
            // Many new models usually come into an empty table.
            if nodes.count > 100, try changed.rows.isEmpty(plan) { continue }
            let identifiers = nodes.compactMap { graph.storedIdentifier($0, plan) }
            guard identifiers.count == nodes.count else { throw DirectSave.NotDirect() }
            let slot = try changed.rows.slots(of: plan)[plan.uidField]
            try changed.rows.forEachRow(of: plan, where: slot, isAmong: identifiers) { row in
                guard let key = RecordKey(try row.value(at: slot)), let node = graph.node(key, of: plan),
                    numbers[node] == nil
                else { throw DirectSave.NotDirect() }
                numbers[node] = changed.note(try row.whole())
            }
            let known = nodes.filter { !graph.nodes[$0].isReference }.compactMap { numbers[$0] }
            for field in plan.relationships {
                guard let relationship = layouts[table].relationship(named: plan.fields[field].name) else { continue }
                try changed.load(relationship, of: known)
            }
        }
        for node in graph.nodes.indices where graph.nodes[node].isReference && numbers[node] == nil {
            let plan = graph.nodes[node].plan
            let source = graph.relationship(to: node) ?? (plan.name, plan.uidKey)
            throw PersistenceError.missingReference(
                entity: source.entity, key: source.key, uid: graph.nodes[node].key.text)
        }
    }

    private func insert(_ layouts: [EntityLayout]) {
        for node in graph.nodes.indices where numbers[node] == nil {
            numbers[node] = changed.insert(layouts[graph.nodes[node].table])
            isNew[node] = true
        }
    }

    private func setValues() throws {
        for node in graph.nodes.indices where !graph.nodes[node].isReference {
            guard let number = numbers[node] else { continue }
            let plan = graph.nodes[node].plan
            let slots = try changed.rows.slots(of: plan)
            let values = graph.values(of: node)
            for (index, field) in plan.fields.enumerated() where field.related == nil && takes(index, node) {
                guard slots[index] >= 0 else { throw DirectSave.NotDirect() }
                let (new, stored) = (values[index], changed.entries[number].values[slots[index]])
                if case .composite(let record) = field.kind {
                    if record.isSame(new.composite, stored.composite) { continue }
                } else if new == stored {
                    continue
                }
                let value =
                    isNew[node] || !field.isMerged
                    ? new : try plan.merged(new, into: stored, index, of: graph.nodes[node].key.text)
                changed.set(value, at: slots[index], of: number)
            }
        }
    }

    /// Sets a node's relationships.
    ///
    /// - Returns: the rows that the model owned and no longer does.
    private func connect(_ node: Int, _ layout: EntityLayout) throws -> [Int] {
        let plan = graph.nodes[node].plan
        var left: [Int] = []
        guard !plan.relationships.isEmpty, let number = numbers[node] else { return left }
        for field in plan.relationships where takes(field, node) {
            guard let relationship = layout.relationship(named: plan.fields[field].name), !relationship.isTransient
            else { throw DirectSave.NotDirect() }
            let targets = graph.targets(of: node, field).compactMap { numbers[$0] }
            let former = try changed.ends(of: relationship, at: number)
            guard former != targets else { continue }
            if plan.owns(plan.fields[field]) {
                let kept = Set(targets)
                left += former.filter { !kept.contains($0) }
            }
            if relationship.isToMany, !relationship.isOrdered, Set(former) == Set(targets) { continue }
            try changed.connect(relationship, of: number, to: targets)
        }
        return left
    }

    // MARK: Deleting

    private func deleteOthers() throws {
        let all = try changed.rows.identifiers(of: graph.plan, RecordSelection())
        try delete(changed.rows.rows(for: all).map(changed.note))
    }

    private func delete(_ rows: [Int]) throws {
        let stored = zip(numbers, isNew).compactMap { $1 ? nil : $0 }
        try changed.delete(rows, keeping: Set(numbers.compactMap { $0 }), stored: stored)
    }
}
