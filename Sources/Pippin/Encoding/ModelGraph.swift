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
        /// The identifier as its attribute holds it.
        let uid: Any
        /// By field; empty for a reference.
        var values: ContiguousArray<StoredValue> = []
        var links: [Link] = []
        /// Where a reference comes from, for the message where it leads nowhere.
        var referrer: (entity: String, key: String)?
        fileprivate(set) var isReference: Bool
    }

    /// A relationship: the field, and the nodes that it leads to, in order.
    struct Link {
        let field: Int
        let targets: [Int]
    }

    private(set) var nodes: [Node] = []
    /// How many of the nodes, from the first on, are the models that the graph was made of.
    private(set) var rootCount = 0
    /// The entity of the models that were given.
    private(set) var plan: EntityPlan?
    private var indexes: [ObjectIdentifier: [RecordKey: Int]] = [:]
    private var encoders: [ObjectIdentifier: RecordEncoder] = [:]
    /// The models that are yet to be encoded, by node.
    private var waiting: [(node: Int, model: any CoreModel)] = []
    private let registry: ModelRegistry

    /// - Throws: ``PersistenceError/Code/unknownModel``, and ``PersistenceError/Code/unwritable``.
    init(_ models: [some CoreModel], registry: ModelRegistry) throws {
        self.registry = registry
        nodes.reserveCapacity(models.count)
        waiting.reserveCapacity(models.count)
        let plan = try registry.plan(of: type(of: models).Element.self)
        self.plan = plan
        indexes[plan.id] = Dictionary(minimumCapacity: models.count)
        for model in models {
            let node = index(plan, uid: try model.keyValue(), isReference: false)
            if node.isNew { waiting.append((node.index, model)) } else { waiting[node.index].model = model }
        }
        rootCount = nodes.count
        var next = 0
        while next < waiting.count {
            let (node, model) = waiting[next]
            next += 1
            try encode(model, into: node)
        }
        waiting = []
        try GraphCheck(nodes, registry).check()
    }

    /// The node of a model; nil for one that is not among them.
    func node(_ key: RecordKey, of plan: EntityPlan) -> Int? { indexes[plan.id]?[key] }

    /// What a relationship of a node leads to.
    func targets(of node: Int, _ field: Int) -> [Int] { nodes[node].links.first { $0.field == field }?.targets ?? [] }

    private mutating func encode(_ model: some CoreModel, into node: Int) throws {
        let plan = nodes[node].plan
        let encoder = encoders[plan.id] ?? RecordEncoder(plan.record)
        encoders[plan.id] = encoder
        let encoded: EncodedRecord
        do { encoded = try encoder.encode(model) } catch {
            throw PersistenceError.unwritable(
                entity: plan.name, uid: nodes[node].key.text, key: error is EncodingError ? encoder.lastProperty : nil,
                reason: error.encodingReason)
        }
        nodes[node].values = encoded.values
        for link in encoded.links { nodes[node].links.append(try self.link(link, of: plan, node)) }
    }

    private mutating func link(_ link: EncodedRecord.Link, of plan: EntityPlan, _ node: Int) throws -> Link {
        let field = plan.fields[link.field]
        guard let related = field.related else { return Link(field: link.field, targets: []) }
        let destination = try registry.plan(related)
        var targets: [Int] = []
        var seen: Set<Int> = []
        for target in link.targets {
            let index: Int
            if let reference = target as? any ModelReference {
                let found = self.index(destination, uid: try reference.keyValue(), isReference: true)
                if found.isNew { nodes[found.index].referrer = (plan.name, field.name) }
                index = found.index
            } else if let model = target as? any CoreModel {
                index = try self.index(of: model, destination)
            } else {
                continue
            }
            guard seen.insert(index).inserted else {
                throw PersistenceError.unwritable(
                    entity: plan.name, uid: nodes[node].key.text, key: field.name,
                    reason:
                        "the \(destination.name) '\(nodes[index].key.text)' is in it twice, and can be in it once only."
                )
            }
            targets.append(index)
        }
        return Link(field: link.field, targets: targets)
    }

    private mutating func index(of model: some CoreModel, _ plan: EntityPlan) throws -> Int {
        let found = index(plan, uid: try model.keyValue(), isReference: false)
        if found.isNew || nodes[found.index].isReference {
            nodes[found.index].isReference = false
            waiting.append((found.index, model))
        }
        return found.index
    }

    private mutating func index(_ plan: EntityPlan, uid: Any, isReference: Bool) -> (index: Int, isNew: Bool) {
        let key = RecordKey(attributeValue: uid)
        // One look at the table: the place of the next node is put there unless there is one.
        let next = nodes.count
        let index = Self.taken(&indexes[plan.id, default: [:]][key, default: next])
        if index < next { return (index, false) }
        nodes.append(Node(plan: plan, key: key, uid: uid, isReference: isReference))
        return (index, true)
    }

    private static func taken(_ index: inout Int) -> Int { index }
}
