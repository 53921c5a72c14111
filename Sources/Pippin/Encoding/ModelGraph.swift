import StoreSession

/// The models of a save: each model once, with its values and its links to the others.
///
/// It is computed from the models alone, before the store is read. A model that is given several times, or occurs
/// several times within others, must have the same values each time, since only one of them could be saved; in an
/// import, the one in the last record counts, and what only the others lead to is saved as well. Models that lead back
/// to themselves are excepted: their inner copies are cut off somewhere, so the occurrence nearest to the given models
/// counts. Of those equally near the values must be the same, and the relationships, too, if models of other types lead
/// to them all; those that a model of their cycle leads to may be cut off, and the relationships of the first one
/// count.
struct ModelGraph {
    /// A model, or a reference to one that is not among the models.
    struct Node {
        // Not retained, since each copy of a node would pay for it: the graph's registry keeps it alive.
        unowned(unsafe) let plan: EntityPlan
        /// The number of its entity in the graph.
        let table: Int
        let key: RecordKey
        /// The index of its first value among those of its entity; -1 for a reference.
        var row = -1
        var links: [Link] = []
        var isReference: Bool
    }

    /// A relationship: the field, and the nodes that it leads to, in order.
    struct Link {
        let field: Int
        let targets: [Int]
    }

    let nodes: ContiguousArray<Node>
    /// The number of nodes made from the given models. They are the first ones.
    let rootCount: Int
    /// The entity of the models that were given.
    let plan: EntityPlan
    /// The identifiers of references as attributes hold them, by node, where the keys do not have them: of rare types.
    let rareKeys: [Int: Any]
    /// The entities, each with its nodes.
    let tables: [GraphTable]
    let tableNumbers: [ObjectIdentifier: Int]
    /// The fields' values by entity, node by node.
    let values: ContiguousArray<ValueRows>
    /// Whether there may be models that no other one leads to any longer, since a later copy of that one counts.
    let hasLeftModels: Bool
    private let registry: ModelRegistry

    /// - Parameters:
    ///   - models: the models. Those within them are found.
    ///   - registry: tells what each model consists of.
    ///   - repeated: what becomes of a model that is within them several times.
    ///   - limit: the most models; nil for any number.
    /// - Throws: ``PersistenceError/Code/unknownModel``, ``PersistenceError/Code/unwritable``,
    ///   ``PersistenceError/Code/alreadyStored`` for a model that is given twice and must not, and
    ///   `WorkDurations.TooMuch` for more models than the limit.
    init<Model: CoreModel>(
        _ models: [Model], registry: ModelRegistry, repeated: RepeatedModels = .mustAgree, limit: Int? = nil
    ) throws {
        self.registry = registry
        plan = try registry.plan(of: Model.self)
        var builder = GraphBuilder(registry, repeated)
        try builder.take(models, of: plan)
        rootCount = builder.nodes.count
        try builder.encodeAll(limit: limit)
        (nodes, rareKeys, hasLeftModels) = (builder.nodes, builder.rareKeys, builder.hasLeftModels)
        (tables, tableNumbers) = (builder.tables, builder.tableNumbers)
        values = ContiguousArray(tables.map { $0.encoder.finish() })
        try GraphCheck(nodes, registry).check()
    }
}

// What a graph knows of its nodes.
extension ModelGraph {
    /// The node of a model; nil for one that is not among them.
    func node(_ key: RecordKey, of plan: EntityPlan) -> Int? {
        tableNumbers[plan.id].flatMap { tables[$0].nodes.place(of: key) }
    }

    /// Refuses identifiers that a store which rounds dates to microseconds would take for one.
    ///
    /// - Throws: ``PersistenceError/Code/unwritable``
    func checkRoundedDates() throws {
        for table in tables {
            guard let (one, other) = table.nodes.closeDates else { continue }
            let numbers = [one, other].map { "\($0.timeIntervalSinceReferenceDate)" }.joined(separator: " and ")
            throw PersistenceError.unwritable(
                entity: table.plan.name, uid: "\(other)", key: table.plan.uidKey,
                reason:
                    "the save has two of them within one microsecond (\(numbers) seconds since 2001), and the server rounds dates to "
                    + "microseconds, so that both would be one. Round the dates, or take identifiers of another kind.")
        }
    }

    /// How many entities there are.
    var tableCount: Int { tables.count }

    /// The number of an entity; nil for one that has no nodes.
    func tableNumber(of plan: EntityPlan) -> Int? { tableNumbers[plan.id] }

    /// The value of a node's field.
    @inline(__always)
    func value(_ node: Int, _ field: Int) -> StoredValue { values[nodes[node].table][nodes[node].row + field] }

    /// The identifier of a node as a row has it; nil for a reference whose key does not hold it.
    func storedIdentifier(_ node: Int, _ plan: EntityPlan) -> StoredValue? {
        if nodes[node].row >= 0 { return value(node, plan.uidField) }
        return StoredValue(nodes[node].key, of: plan.record.attributeKinds[plan.uidField])
    }

    /// The values of all nodes of a node's entity, and the index at which the node's own begin.
    @inline(__always)
    func values(holding node: Int) -> (values: ValueRows, first: Int) {
        (values[nodes[node].table], nodes[node].row)
    }

    /// The values of a node, by field.
    func values(of node: Int) -> ContiguousArray<StoredValue> {
        let row = nodes[node].row
        return row < 0 ? [] : values[nodes[node].table][row..<row + nodes[node].plan.fields.count]
    }

    /// The nodes that a relationship of a node leads to.
    @inline(__always)
    func targets(of node: Int, _ field: Int) -> [Int] { nodes[node].links.first { $0.field == field }?.targets ?? [] }

    /// The identifier as its attribute holds it.
    func keyValue(of node: Int) -> Any? {
        if let known = rareKeys[node] { return known }
        let plan = nodes[node].plan
        guard let kind = plan.record.attributeKinds[plan.uidField] else { return nil }
        return storedIdentifier(node, plan)?.attributeValue(kind)
    }

    /// The first relationship that leads to a node, for a message; nil if there is none.
    func relationship(to node: Int) -> (entity: String, key: String)? {
        for source in nodes {
            guard let link = source.links.first(where: { $0.targets.contains(node) }) else { continue }
            return (source.plan.name, source.plan.fields[link.field].name)
        }
        return nil
    }
}

/// The nodes of an entity in a graph, and what is decided once for all of them.
final class GraphTable {
    let number: Int
    let plan: EntityPlan
    /// Whether models of the entity may contain themselves.
    let isCyclic: Bool
    let encoder: RecordEncoder
    // Only one thread at a time uses this, so checking accesses for overlaps would find nothing.
    /// By identifier.
    @exclusivity(unchecked) var nodes = NodePlaces()
    /// The numbers of the tables that the fields lead to, as far as they were asked for; -1 for others.
    @exclusivity(unchecked) var destinations: ContiguousArray<Int>
    /// How many links lead to models of this entity that are about to be linked.
    @exclusivity(unchecked) var expected = 0
    /// Encodes models to compare them with the nodes' values.
    private(set) lazy var comparing = RecordEncoder(plan.record)

    init(_ number: Int, _ plan: EntityPlan, isCyclic: Bool) {
        (self.number, self.plan, self.isCyclic) = (number, plan, isCyclic)
        encoder = RecordEncoder(plan.record)
        destinations = ContiguousArray(repeating: -1, count: plan.fields.count)
    }
}

/// The values of models, one model after the other. They are appended and set first, and only read afterwards.
///
/// It has memory of its own, since an array checks for unique ownership whenever a value is set. One thread at a time
/// uses it until the last value is set.
final class ValueRows {
    // Unsafe memory: the first `count` values are initialized, and every access is checked against `count`. Accesses
    // are not checked for overlaps: only one thread at a time uses this.
    @exclusivity(unchecked) private var start: UnsafeMutablePointer<StoredValue>
    @exclusivity(unchecked) private(set) var count = 0
    @exclusivity(unchecked) private var capacity: Int

    /// - Parameter nulls: how many values there are at first.
    init(nulls: Int = 0) {
        capacity = max(nulls, 8)
        start = .allocate(capacity: capacity)
        append(nulls: nulls)
    }

    deinit {
        start.deinitialize(count: count)
        start.deallocate()
    }

    /// Makes room for more values.
    func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        capacity = max(2 * capacity, count + more)
        let larger = UnsafeMutablePointer<StoredValue>.allocate(capacity: capacity)
        larger.moveInitialize(from: start, count: count)
        start.deallocate()
        start = larger
    }

    /// Appends values that are `.null`.
    func append(nulls: Int) {
        reserve(nulls)
        (start + count).initialize(repeating: .null, count: nulls)
        count += nulls
    }

    /// Removes all values, and keeps the memory.
    func removeAll() {
        start.deinitialize(count: count)
        count = 0
    }

    @inline(__always)
    subscript(place: Int) -> StoredValue {
        get {
            precondition(place >= 0 && place < count, "A place among the values")
            return start[place]
        }
        set {
            precondition(place >= 0 && place < count, "A place among the values")
            start[place] = newValue
        }
    }

    /// Some of the values as an array.
    subscript(places: Range<Int>) -> ContiguousArray<StoredValue> {
        precondition(places.lowerBound >= 0 && places.upperBound <= count, "Places among the values")
        return ContiguousArray(UnsafeBufferPointer(start: start + places.lowerBound, count: places.count))
    }
}
