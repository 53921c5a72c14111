import CoreData

/// What a save of models comes to: each model once, with its values, and which of the others it leads to.
///
/// Worked out from the models alone, before the store is looked into. A model that comes several times, with different
/// values, counts where it is nearest to those being saved; of two equally near, the later one.
struct ModelGraph {
    /// A model, or a reference to one that is not among them.
    struct Node {
        let plan: EntityPlan
        let key: RecordKey
        /// By field; empty for a reference.
        fileprivate(set) var values: ContiguousArray<StoredValue> = []
        fileprivate(set) var links: [Link] = []
        fileprivate(set) var isReference: Bool
    }

    /// A relationship: the field, and the nodes that it leads to, in order.
    struct Link {
        let field: Int
        let targets: [Int]
    }

    /// Where a relationship comes from, and what it leads to.
    struct LinkEnd {
        let source: Int
        let field: FieldPlan
        let destination: EntityPlan
    }

    private(set) var nodes: ContiguousArray<Node> = []
    /// How many of the nodes, from the first on, are the models that the graph was made of.
    private(set) var rootCount = 0
    /// The entity of the models that were given.
    private(set) var plan: EntityPlan?
    /// Where references come from, by node, for the message where one leads nowhere.
    private(set) var referrers: [Int: (entity: String, key: String)] = [:]
    /// The identifiers that references hold, by node, as attributes hold them.
    private var referencedKeys: [Int: Any] = [:]
    private var indexes: [ObjectIdentifier: NodeIndex] = [:]
    private var encoders: [ObjectIdentifier: RecordEncoder] = [:]
    /// The models that are yet to be encoded.
    private var waiting: ContiguousArray<any WaitingModels> = []
    /// The latest link that leads to a node, by node.
    private var latestLinks: ContiguousArray<Int32> = []
    private var linkCount: Int32 = 0
    private let registry: ModelRegistry

    /// The nodes of an entity, by identifier.
    private final class NodeIndex {
        var nodes: [RecordKey: Int] = [:]
    }

    /// - Throws: ``PersistenceError/Code/unknownModel``, and ``PersistenceError/Code/unwritable``.
    init<Model: CoreModel>(_ models: [Model], registry: ModelRegistry) throws {
        self.registry = registry
        let plan = try registry.plan(of: Model.self)
        self.plan = plan
        reserve(models.count, plan)
        let index = index(of: plan)
        // Of several with one identifier the last one counts.
        var picks: ContiguousArray<(index: Int, node: Int)> = []
        picks.reserveCapacity(models.count)
        for place in models.indices {
            let (node, isNew) = node(try Model.recordKey(of: models[place].id), plan, index, isReference: false)
            if isNew { picks.append((place, node)) } else { picks[node].index = place }
        }
        rootCount = nodes.count
        waiting.append(WaitingModelList(models: models, picks: picks))
        var next = 0
        while next < waiting.count {
            let batch = waiting[next]
            next += 1
            try batch.encode(into: &self)
        }
        waiting = []
        latestLinks = []
        try GraphCheck(nodes, registry).check()
    }

    // MARK: Asking

    /// The node of a model; nil for one that is not among them.
    func node(_ key: RecordKey, of plan: EntityPlan) -> Int? { indexes[plan.id]?.nodes[key] }

    /// What a relationship of a node leads to.
    func targets(of node: Int, _ field: Int) -> [Int] { nodes[node].links.first { $0.field == field }?.targets ?? [] }

    /// The identifier as its attribute holds it.
    func keyValue(of node: Int) -> Any? {
        if let known = referencedKeys[node] { return known }
        let plan = nodes[node].plan
        guard !nodes[node].values.isEmpty, let kind = plan.record.attributeKinds[plan.uidField] else { return nil }
        return nodes[node].values[plan.uidField].attributeValue(kind)
    }

    // MARK: Encoding

    func encoder(of plan: EntityPlan) -> RecordEncoder { encoders[plan.id] ?? RecordEncoder(plan.record) }

    mutating func encode(_ model: some CoreModel, into node: Int, _ encoder: RecordEncoder) throws {
        let encoded: EncodedRecord
        do { encoded = try encoder.encode(model) } catch {
            throw PersistenceError.unwritable(
                entity: nodes[node].plan.name, uid: nodes[node].key.text,
                key: error is EncodingError ? encoder.lastProperty : nil, reason: error.encodingReason)
        }
        nodes[node].values = encoded.values
        for link in encoded.links {
            let field = nodes[node].plan.fields[link.field]
            guard let related = field.related else { continue }
            linkCount += 1
            let end = LinkEnd(source: node, field: field, destination: try registry.plan(related))
            let targets = try link.targets.link(into: &self, end)
            nodes[node].links.append(Link(field: link.field, targets: targets))
        }
    }

    // MARK: Linking

    /// Models that a relationship is to have. Those that are not among the nodes wait to be encoded.
    mutating func link<Model: CoreModel>(_ models: [Model], _ end: LinkEnd) throws -> [Int] {
        var targets: [Int] = []
        targets.reserveCapacity(models.count)
        var picks: ContiguousArray<(index: Int, node: Int)> = []
        let index = index(of: end.destination)
        for place in models.indices {
            let found = node(try Model.recordKey(of: models[place].id), end.destination, index, isReference: false)
            if found.isNew || nodes[found.node].isReference {
                nodes[found.node].isReference = false
                picks.append((place, found.node))
            }
            targets.append(try linked(found.node, end))
        }
        if !picks.isEmpty { waiting.append(WaitingModelList(models: models, picks: picks)) }
        return targets
    }

    /// References that a relationship is to have.
    mutating func link(_ references: [any ModelReference], _ end: LinkEnd) throws -> [Int] {
        let index = index(of: end.destination)
        return try references.map { reference in
            let value = try reference.keyValue()
            let found = node(RecordKey(attributeValue: value), end.destination, index, isReference: true)
            if found.isNew {
                referrers[found.node] = (nodes[end.source].plan.name, end.field.name)
                referencedKeys[found.node] = value
            }
            return try linked(found.node, end)
        }
    }

    /// A node that the current link leads to, and led to not yet.
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

    private mutating func index(of plan: EntityPlan) -> NodeIndex {
        if let known = indexes[plan.id] { return known }
        let new = NodeIndex()
        indexes[plan.id] = new
        encoders[plan.id] = RecordEncoder(plan.record)
        return new
    }

    private mutating func reserve(_ count: Int, _ plan: EntityPlan) {
        nodes.reserveCapacity(count)
        latestLinks.reserveCapacity(count)
        index(of: plan).nodes.reserveCapacity(count)
    }

    private mutating func node(
        _ key: RecordKey, _ plan: EntityPlan, _ index: NodeIndex, isReference: Bool
    ) -> (node: Int, isNew: Bool) {
        // One look at the table: the place of the next node is put there unless there is one.
        let next = nodes.count
        let node = Self.taken(&index.nodes[key, default: next])
        if node < next { return (node, false) }
        nodes.append(Node(plan: plan, key: key, isReference: isReference))
        latestLinks.append(-1)
        return (node, true)
    }

    private static func taken(_ index: inout Int) -> Int { index }
}
