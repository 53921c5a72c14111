import StoreSession

/// Which of the given models may be stored already.
enum SaveMode {
    /// Any of them.
    case any
    /// None of them: they are inserted.
    case new
    /// All of them: they are updated.
    case known
    /// Any of them; all others of their type are deleted.
    case only

    /// Checks that the models are stored, or are not, as the mode requires.
    ///
    /// - Parameters:
    ///   - graph: the models.
    ///   - isKnown: whether a given model is stored, by its number.
    /// - Throws: ``PersistenceError``
    func check(_ graph: ModelGraph, isKnown: (Int) -> Bool) throws {
        guard self == .new || self == .known else { return }
        for index in 0..<graph.rootCount where isKnown(index) != (self == .known) {
            let node = graph.nodes[index]
            throw self == .known
                ? PersistenceError.notFound(entity: node.plan.name, id: node.key.text)
                : PersistenceError.alreadyStored(entity: node.plan.name, id: node.key.text)
        }
    }
}

/// What became of a model that was saved.
enum SaveOutcome {
    case inserted, updated, unchanged
}

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
/// `DirectSave` saves the usual models without knowing all of their rows.
final class GraphSave: RowSave {
    let graph: ModelGraph
    let changed: ChangedRows
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
    ///   - rows: the rows as the block sees them.
    ///   - mode: which of the models may be stored already.
    ///   - fields: what stored models get values of; nil for all of their properties.
    /// - Throws: `DirectSave.NotDirect`, ``PersistenceError``, and what reading throws.
    init(
        _ graph: ModelGraph, _ rows: any ChangeableRows, _ mode: SaveMode, setting fields: GivenFields?
    ) throws {
        self.graph = graph
        self.fields = fields
        wholeNodes = try fields?.wholeNodes(of: graph) ?? []
        changed = ChangedRows(rows)
        numbers = Array(repeating: nil, count: graph.nodes.count)
        isNew = Array(repeating: false, count: graph.nodes.count)
        let layouts = try graph.tables.map { try rows.layout(of: $0.plan) }
        for layout in layouts { try rows.check(layout) }
        try find(layouts)
        try mode.check(graph) { numbers[$0] != nil }
        try insert(layouts)
        try setValues()
        var left: [Int] = []
        for node in graph.nodes.indices where !graph.nodes[node].isReference {
            left += try connect(node, layouts[graph.nodes[node].table])
        }
        for node in graph.nodes.indices where !graph.nodes[node].isReference { try stamp(node) }
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

    /// The IDs of the given models that are new, where they have them already.
    var newRoots: [NSManagedObjectID] {
        (0..<graph.rootCount).compactMap { isNew[$0] ? numbers[$0].flatMap { changed.entries[$0].identifier } : nil }
    }

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
            let identifiers = nodes.compactMap { identifier($0, plan) }
            let slot = try changed.rows.slots(of: plan)[plan.uidField]
            try changed.rows.forEachRow(of: plan, where: slot, isAmong: identifiers) { row in
                // Of two rows with one identifier in a damaged store, the first one counts.
                guard let key = RecordKey(try row.value(at: slot)), let node = graph.node(key, of: plan),
                    numbers[node] == nil
                else { return }
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

    /// The identifier of a node as rows have it; nil for a reference to what no row can be.
    private func identifier(_ node: Int, _ plan: EntityPlan) -> StoredValue? {
        if let known = graph.storedIdentifier(node, plan) { return known }
        return plan.record.attributeKinds[plan.uidField].flatMap { kind in
            graph.keyValue(of: node).flatMap { StoredValue($0, kind) }
        }
    }

    private func insert(_ layouts: [EntityLayout]) throws {
        for node in graph.nodes.indices where numbers[node] == nil {
            numbers[node] = try changed.insert(layouts[graph.nodes[node].table])
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
                guard slots[index] >= 0 else { throw NeedsObjects(entity: plan.name) }
                if !isNew[node], plan.isStamped(index) { continue }
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

    /// Sets the dates that saves fill in.
    private func stamp(_ node: Int) throws {
        let plan = graph.nodes[node].plan
        guard !plan.stamps.isEmpty, let number = numbers[node] else { return }
        let slots = try changed.rows.slots(of: plan)
        guard isNew[node] else { return changed.stamp(number, plan, slots) }
        for stamp in plan.stamps {
            let slot = slots[stamp.field]
            if stamp.kind == .changed || changed.entries[number].values[slot].isNull {
                changed.set(Stamp.now, at: slot, of: number)
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
            else { throw NeedsObjects(entity: plan.name) }
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
