import CoreData

/// The models of a save: each model once, with its values and its links to the others.
///
/// It is computed from the models alone, before the store is read. A model that occurs several times must have the same
/// values each time, since only one of them could be saved. Models that lead back to themselves are excepted: their
/// inner copies are cut off somewhere, so the occurrence nearest to the saved models counts; of two equally near, the
/// first.
struct ModelGraph {
    /// A model, or a reference to one that is not among the models.
    struct Node {
        // Not retained, since each copy of a node would pay for it: the graph's registry keeps it alive.
        unowned(unsafe) let plan: EntityPlan
        /// The number of its entity in the graph.
        let table: Int
        let key: RecordKey
        /// The index of its first value among those of its entity; -1 for a reference.
        fileprivate(set) var row = -1
        fileprivate(set) var links: [Link] = []
        fileprivate(set) var isReference: Bool
    }

    /// A relationship: the field, and the nodes that it leads to, in order.
    struct Link {
        let field: Int
        let targets: [Int]
    }

    /// The source, the field and the destination of a relationship.
    struct LinkEnd {
        let source: Int
        let field: FieldPlan
        let destination: EntityPlan
    }

    private(set) var nodes: ContiguousArray<Node> = []
    /// The number of nodes made from the given models. They are the first ones.
    private(set) var rootCount = 0
    /// The entity of the models that were given.
    private(set) var plan: EntityPlan?
    /// The sources of references, by node, for the message about one that leads nowhere.
    private(set) var referrers: [Int: (entity: String, key: String)] = [:]
    /// The identifiers that references hold, by node, as attributes hold them.
    private var referencedKeys: [Int: Any] = [:]
    /// The entities, each with its nodes.
    private var tables: [Table] = []
    private var tableNumbers: [ObjectIdentifier: Int] = [:]
    /// The fields' values by entity, node by node.
    private var values: ContiguousArray<ValueRows> = []
    /// The models that are yet to be encoded.
    private var waiting: ContiguousArray<any WaitingModels> = []
    private var origins = ModelOrigins()
    /// Further occurrences of models, which are compared with the encoded ones.
    private var copies: ContiguousArray<any WaitingModels> = []
    /// The link by which each node was last reached, to detect a node that occurs twice in one link.
    private var latestLinks: ContiguousArray<Int32> = []
    private var linkCount: Int32 = 0
    private let registry: ModelRegistry

    /// The nodes of an entity.
    private final class Table {
        let number: Int
        let plan: EntityPlan
        let encoder: RecordEncoder
        // Only one thread at a time uses this, so checking accesses for overlaps would find nothing.
        /// By identifier.
        @exclusivity(unchecked) var nodes = NodePlaces()

        init(_ number: Int, _ plan: EntityPlan) {
            self.number = number
            self.plan = plan
            encoder = RecordEncoder(plan.record)
        }
    }

    /// - Parameters:
    ///   - models: the models. Those within them are found.
    ///   - registry: tells what each model consists of.
    ///   - limit: the most models; nil for any number.
    /// - Throws: ``PersistenceError/Code/unknownModel``, ``PersistenceError/Code/unwritable``, and
    ///   `WorkDurations.TooMuch` for more models than the limit.
    init<Model: CoreModel>(_ models: [Model], registry: ModelRegistry, limit: Int? = nil) throws {
        self.registry = registry
        let plan = try registry.plan(of: Model.self)
        self.plan = plan
        let table = table(of: plan)
        reserve(models.count, table)
        // Of several models with one identifier, the last one counts.
        var picks: ContiguousArray<(index: Int, node: Int)> = []
        picks.reserveCapacity(models.count)
        try models.forEachInPlace { place, model in
            let (node, isNew) = node(try Model.recordKey(of: model.id), table, isReference: false)
            if isNew { picks.append((place, node)) } else { picks[node].index = place }
            origins.set(node, list: 0, index: place)
        }
        rootCount = nodes.count
        waiting.append(WaitingModelList(models: models, picks: picks))
        var (next, nextCopy) = (0, 0)
        while next < waiting.count || nextCopy < copies.count {
            if next < waiting.count {
                try waiting[next].encode(into: &self)
                next += 1
            } else {
                try copies[nextCopy].compare(in: &self)
                nextCopy += 1
            }
            if let limit, nodes.count > limit { throw WorkDurations.TooMuch() }
        }
        (waiting, copies, origins, latestLinks) = ([], [], ModelOrigins(), [])
        values = ContiguousArray(tables.map { $0.encoder.finish() })
        try GraphCheck(nodes, registry).check()
    }

    // MARK: Asking

    /// The node of a model; nil for one that is not among them.
    func node(_ key: RecordKey, of plan: EntityPlan) -> Int? {
        tableNumbers[plan.id].flatMap { tables[$0].nodes.place(of: key) }
    }

    /// How many entities there are.
    var tableCount: Int { tables.count }

    /// The number of an entity; nil for one that has no nodes.
    func tableNumber(of plan: EntityPlan) -> Int? { tableNumbers[plan.id] }

    /// The value of a node's field.
    @inline(__always)
    func value(_ node: Int, _ field: Int) -> StoredValue { values[nodes[node].table][nodes[node].row + field] }

    /// The identifier of a node as a row has it; nil for a reference whose identifier is of a rare type.
    func storedIdentifier(_ node: Int, _ plan: EntityPlan) -> StoredValue? {
        if nodes[node].row >= 0 { return value(node, plan.uidField) }
        return StoredValue(nodes[node].key)
    }

    /// Whether all nodes of an entity have values in some fields. References, which have no values, do not count.
    ///
    /// - Parameters:
    ///   - fields: the fields.
    ///   - table: the number of the entity.
    ///   - isLeftOut: which other nodes do not count.
    /// - Returns: whether none of the values is missing.
    func hasValues(in fields: [Int], ofTable table: Int, except isLeftOut: (_ node: Int) -> Bool) -> Bool {
        let values = values[table]
        return nodes.indices.allSatisfy { node in
            let first = nodes[node].row
            guard nodes[node].table == table, first >= 0, !isLeftOut(node) else { return true }
            return fields.allSatisfy { !values[first + $0].isNull }
        }
    }

    /// The values of all nodes of a node's entity, and the index at which the node's own begin.
    func values(holding node: Int) -> (values: ValueRows, first: Int) {
        (values[nodes[node].table], nodes[node].row)
    }

    /// The values of a node, by field.
    func values(of node: Int) -> ContiguousArray<StoredValue> {
        let row = nodes[node].row
        return row < 0 ? [] : values[nodes[node].table][row..<row + nodes[node].plan.fields.count]
    }

    /// The nodes that a relationship of a node leads to.
    func targets(of node: Int, _ field: Int) -> [Int] { nodes[node].links.first { $0.field == field }?.targets ?? [] }

    /// The identifier as its attribute holds it.
    func keyValue(of node: Int) -> Any? {
        if let known = referencedKeys[node] { return known }
        let plan = nodes[node].plan
        guard nodes[node].row >= 0, let kind = plan.record.attributeKinds[plan.uidField] else { return nil }
        return value(node, plan.uidField).attributeValue(kind)
    }

    // MARK: Encoding

    /// Encodes models that have nodes, and creates nodes for the models that they lead to.
    ///
    /// - Parameters:
    ///   - models: a list.
    ///   - picks: the indexes of the models to encode, and their nodes.
    /// - Throws: ``PersistenceError/Code/unwritable``
    mutating func encode<Model: CoreModel>(
        _ models: [Model], _ picks: ContiguousArray<(index: Int, node: Int)>
    ) throws {
        guard let first = picks.first else { return }
        let encoder = tables[nodes[first.node].table].encoder
        if picks.count > 1_000 { encoder.reserve(picks.count) }
        var links: ContiguousArray<(node: Int, link: EncodedRecord.Link)> = []
        try models.forEachInPlace(picks.count, { picks[$0].index }) { place, model in
            let node = picks[place].node
            let encoded: (row: Int, links: [EncodedRecord.Link])
            do { encoded = try encoder.append(&model) } catch {
                throw PersistenceError.unwritable(
                    entity: nodes[node].plan.name, uid: nodes[node].key.text,
                    key: error is EncodingError ? encoder.lastProperty : nil, reason: error.encodingReason)
            }
            try encoder.checkIdentifier(nodes[node].key, of: nodes[node].plan)
            nodes[node].row = encoded.row
            for link in encoded.links { links.append((node, link)) }
        }
        try reserve(for: links)
        for (node, link) in links {
            guard let targets = try targets(of: link, from: node) else { continue }
            nodes[node].links.append(Link(field: link.field, targets: targets))
        }
    }

    /// The nodes that an encoded relationship leads to; nil for one that leads to no models.
    mutating func targets(of link: EncodedRecord.Link, from node: Int) throws -> [Int]? {
        let field = nodes[node].plan.fields[link.field]
        guard let related = field.related else { return nil }
        linkCount += 1
        let end = LinkEnd(source: node, field: field, destination: try registry.plan(related))
        return try link.targets.link(into: &self, end)
    }

    /// The values of a node that is encoded, while others are not yet.
    func encodedValues(of node: Int) -> ContiguousArray<StoredValue> {
        let encoder = tables[nodes[node].table].encoder
        return ContiguousArray(nodes[node].plan.fields.indices.map { encoder.values[nodes[node].row + $0] })
    }

    /// Makes room for many models at once.
    private mutating func reserve(for links: ContiguousArray<(node: Int, link: EncodedRecord.Link)>) throws {
        var counts: [ObjectIdentifier: (plan: EntityPlan, count: Int)] = [:]
        for (node, link) in links {
            guard let related = nodes[node].plan.fields[link.field].related else { continue }
            let plan = try registry.plan(related)
            counts[related.id, default: (plan, 0)].count += link.targets.count
        }
        for (plan, count) in counts.values where count > 1_000 { reserve(count, table(of: plan)) }
    }

    // MARK: Linking

    /// The nodes of the models that a relationship shall have. New nodes wait to be encoded.
    mutating func link<Model: CoreModel>(_ models: [Model], _ end: LinkEnd) throws -> [Int] {
        var targets: [Int] = []
        targets.reserveCapacity(models.count)
        var picks: ContiguousArray<(index: Int, node: Int)> = []
        var others: ContiguousArray<(index: Int, node: Int)> = []
        let table = table(of: end.destination)
        let isComparable = !registry.mayContainItself(end.destination)
        try models.forEachInPlace { place, model in
            let found = node(try Model.recordKey(of: model.id), table, isReference: false)
            if found.isNew || nodes[found.node].isReference {
                nodes[found.node].isReference = false
                origins.set(found.node, list: waiting.count, index: place)
                picks.append((place, found.node))
            } else if isComparable, !origins.isCopy(&model, of: found.node, in: waiting) {
                others.append((place, found.node))
            }
            targets.append(try linked(found.node, end))
        }
        if !picks.isEmpty { waiting.append(WaitingModelList(models: models, picks: picks)) }
        if !others.isEmpty { copies.append(WaitingModelList(models: models, picks: others)) }
        return targets
    }

    /// The nodes of the references that a relationship shall have.
    mutating func link(_ references: [any ModelReference], _ end: LinkEnd) throws -> [Int] {
        let table = table(of: end.destination)
        return try references.map { reference in
            let value = try reference.keyValue()
            let found = node(RecordKey(attributeValue: value), table, isReference: true)
            if found.isNew {
                referrers[found.node] = (nodes[end.source].plan.name, end.field.name)
                referencedKeys[found.node] = value
            }
            return try linked(found.node, end)
        }
    }

    /// A node, recorded as a target of the current link. It throws if the link leads to it already.
    private mutating func linked(_ node: Int, _ end: LinkEnd) throws -> Int {
        guard latestLinks[node] != linkCount else {
            throw PersistenceError.unwritable(
                entity: nodes[end.source].plan.name, uid: nodes[end.source].key.text, key: end.field.name,
                reason:
                    "the \(end.destination.name) '\(nodes[node].key.text)' is in it twice, and can be in it once only."
            )
        }
        latestLinks[node] = linkCount
        return node
    }

    private mutating func table(of plan: EntityPlan) -> Table {
        if let known = tableNumbers[plan.id] { return tables[known] }
        let new = Table(tables.count, plan)
        tableNumbers[plan.id] = new.number
        tables.append(new)
        return new
    }

    private mutating func reserve(_ count: Int, _ table: Table) {
        nodes.reserveCapacity(nodes.count + count)
        latestLinks.reserveCapacity(latestLinks.count + count)
        origins.reserve(count)
        table.nodes.reserve(count, table.plan.record.attributeKinds[table.plan.uidField])
        table.encoder.reserve(count)
    }

    private mutating func node(_ key: RecordKey, _ table: Table, isReference: Bool) -> (node: Int, isNew: Bool) {
        let next = nodes.count
        let node = table.nodes.place(of: key, orPut: next)
        if node < next { return (node, false) }
        nodes.append(Node(plan: table.plan, table: table.number, key: key, isReference: isReference))
        latestLinks.append(-1)
        origins.append()
        return (node, true)
    }
}
