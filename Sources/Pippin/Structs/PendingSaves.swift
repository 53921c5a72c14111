import StoreSession

/// The saves of a block that go to the store as rows when it ends, unless the block does anything else: one save of
/// any models, or several of models of one type, each of which is saved once. Several saves are joined into one at
/// the end.
struct PendingSaves {
    /// The only save, whose models have been looked up; nil if there are several.
    private var only: (any RowSave)?
    /// The graph of the first one.
    private let first: ModelGraph
    private let models: (any PendingModels)?
    private let plan: EntityPlan
    /// Which of the models may be stored already.
    let mode: GraphWriter.Mode
    /// The identifiers of the models that were given after the first save.
    private var keys: Set<RecordKey> = []
    /// The models contained in those, by entity and identifier.
    private var inner: [InnerKey: InnerModel] = [:]
    private let registry: ModelRegistry

    /// The first save.
    ///
    /// - Parameters:
    ///   - save: the save, whose models have been looked up.
    ///   - mode: which of its models may be stored already.
    ///   - models: the models as they were given; nil if they are not available.
    ///   - registry: knows their plans.
    init(
        _ save: any RowSave, _ mode: GraphWriter.Mode, _ models: (any PendingModels)?,
        _ registry: ModelRegistry
    ) {
        (only, first, self.mode, self.models) = (save, save.graph, mode, models)
        (plan, self.registry) = (save.graph.plan, registry)
    }

    /// Whether there is one save, and not several.
    var isOne: Bool { only != nil }

    /// Whether another save can be joined with the pending ones.
    ///
    /// - Parameters:
    ///   - graph: its models.
    ///   - mode: which of them may be stored already.
    ///   - models: the same models, as they were given; nil if they are not available.
    /// - Returns: whether they can become one save, with the same outcome as one after the other.
    func takes(_ graph: ModelGraph, _ mode: GraphWriter.Mode, _ models: (any PendingModels)?) -> Bool {
        guard graph.plan === plan, mode == self.mode, mode != .only, self.models != nil, models != nil,
            registry.isTree(plan)
        else { return false }
        return (0..<graph.rootCount).allSatisfy { !holds(graph.nodes[$0].key) } && agrees(with: graph)
    }

    /// Whether a model was given.
    private func holds(_ key: RecordKey) -> Bool {
        first.node(key, of: plan) != nil || keys.contains(key)
    }

    /// Whether the models within others are the same as in the pending saves. If they differ, the later of two
    /// saves counts, but one save is refused.
    private func agrees(with graph: ModelGraph) -> Bool {
        graph.nodes.indices.dropFirst(graph.rootCount).allSatisfy { node in
            guard let new = InnerModel(graph, node) else { return true }
            if let known = first.node(graph.nodes[node].key, of: graph.nodes[node].plan),
                let model = InnerModel(first, known), model != new || model.leadsOn
            {
                return false
            }
            return inner[InnerKey(graph, node)].map { $0 == new && !new.leadsOn } ?? true
        }
    }

    /// Adds a save for which `takes` returned true.
    mutating func add(_ save: any RowSave, _ models: (any PendingModels)?) {
        let graph = save.graph
        only = nil
        keys.formUnion(graph.nodes[..<graph.rootCount].lazy.map(\.key))
        for node in graph.nodes.indices.dropFirst(graph.rootCount) {
            if let model = InnerModel(graph, node) { inner[InnerKey(graph, node)] = model }
        }
        if let models { self.models?.append(models) }
    }

    /// Whether the pending saves change neither the model with an identifier nor anything that is read for it.
    func leavesAlone(_ key: RecordKey, of other: EntityPlan) -> Bool {
        guard plan.relationships.isEmpty, other.relationships.isEmpty else { return false }
        return plan !== other || !holds(key)
    }

    /// The graphs to write as objects, one after the other: a model in two of them gets its values from the later
    /// one.
    func graphs() throws -> [ModelGraph] {
        if let only { return [only.graph] }
        guard let models else { return [] }
        return plan.relationships.isEmpty ? [try models.graph(registry)] : try models.graphs(registry)
    }

    /// All pending saves as one.
    ///
    /// - Parameters:
    ///   - hasRead: whether the transaction has a state, in which a save that was looked up before is looked up
    ///     again.
    ///   - lookUp: looks the models up.
    /// - Returns: the save.
    /// - Throws: `DirectSave.NotDirect` where they must be saved as objects, the mode's error for a model that is
    ///   stored by now, or is not, and what reading throws.
    func save(hasRead: Bool, _ lookUp: (ModelGraph) throws -> (any RowSave)?) throws -> any RowSave {
        if let only, !(hasRead && only.readsCurrentState) { return only }
        // Changes that are not allowed in one save, such as a model that moves to another owner, may be allowed in
        // two.
        guard let graph = only?.graph ?? (try? models?.graph(registry)), let save = try lookUp(graph) else {
            throw DirectSave.NotDirect()
        }
        // What one save has taken off its owner is gone, and the next one makes it anew.
        if only == nil, !save.isOneOfSeveral { throw DirectSave.NotDirect() }
        try mode.check(graph) { save.isKnown($0) }
        return save
    }
}

/// Models that were given to be saved, of a type that only the implementation knows.
protocol PendingModels: AnyObject {
    /// Adds those of another list of the same type.
    func append(_ other: any PendingModels)
    /// All of them.
    func graph(_ registry: ModelRegistry) throws -> ModelGraph
    /// A graph for each list.
    func graphs(_ registry: ModelRegistry) throws -> [ModelGraph]
}

final class PendingModelList<Model: CoreModel>: PendingModels {
    private var models: [Model]
    /// Where each list ends.
    private var ends: [Int]

    init(_ models: [Model]) {
        self.models = models
        ends = [models.count]
    }

    func append(_ other: any PendingModels) {
        guard let other = other as? PendingModelList<Model> else { return }
        models += other.models
        ends.append(models.count)
    }

    func graph(_ registry: ModelRegistry) throws -> ModelGraph { try ModelGraph(models, registry: registry) }

    func graphs(_ registry: ModelRegistry) throws -> [ModelGraph] {
        try zip([0] + ends, ends).map { begin, end in
            try ModelGraph(Array(models[begin..<end]), registry: registry)
        }
    }
}

private struct InnerKey: Hashable {
    let entity: ObjectIdentifier
    let key: RecordKey

    init(_ graph: ModelGraph, _ node: Int) {
        entity = graph.nodes[node].plan.id
        key = graph.nodes[node].key
    }
}

/// A model within another one.
private struct InnerModel: Equatable {
    let values: ContiguousArray<StoredValue>
    /// Whether it leads to other models, which are not compared.
    let leadsOn: Bool

    /// Nil for a reference, which has no values to compare.
    init?(_ graph: ModelGraph, _ node: Int) {
        guard graph.nodes[node].row >= 0 else { return nil }
        values = graph.values(of: node)
        leadsOn = !graph.nodes[node].links.isEmpty
    }
}
