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
