import StoreSession

/// Makes models from rows, from the innermost models outwards, so that the models in a model exist when its decoder
/// asks for them. Each row is decoded once, and its value is shared by all models that contain it.
///
/// If a model contains itself, some levels down, the inner occurrence has no relationships, since values cannot be
/// cyclic. Saving such a value changes nothing, since the outermost occurrence counts.
final class StructAssembler: RelatedRows {
    private let registry: ModelRegistry
    private let source: any StructRows
    private var graph = RowGraph()
    private var order = ComponentOrder(count: 0, roots: [], successors: { _ in [] })
    /// The models that are the same on every path to them, by row.
    private var made: ContiguousArray<AssembledModel?> = []
    /// The models within the current one that are valid on this path only, by row.
    private var local: [Int: AssembledModel] = [:]
    /// The row of the model that is being made.
    private var current = -1
    /// Whether that model is contained in itself.
    private var isCut = false
    private var repetitions = 0
    private var decoders: [ObjectIdentifier: RowDecoder] = [:]

    init(registry: ModelRegistry, source: any StructRows) {
        self.registry = registry
        self.source = source
    }

    /// The models of rows, in order.
    ///
    /// - Throws: ``PersistenceError/Code/unreadable`` for rows from which no value can be made, or only one that would
    ///   nest too deep or be too large.
    func models<Model: CoreModel>(
        _ type: Model.Type, of plan: EntityPlan, _ rows: ContiguousArray<Row>
    ) throws -> [Model] {
        defer { finish() }
        var loader = RelatedRowLoader(registry: registry, source: source)
        let roots = try loader.load(rows, of: plan)
        graph = loader.graph
        order = ComponentOrder(count: graph.nodes.count, roots: roots) { graph.members(of: $0) }
        made = ContiguousArray(repeating: nil, count: graph.nodes.count)
        try makeAll(roots)
        var models: [Model] = []
        models.reserveCapacity(roots.count)
        for root in roots {
            if let model = try made[root]?.get().model(as: type) { models.append(model) }
        }
        return models
    }

    // MARK: In order

    private func makeAll(_ roots: [Int]) throws {
        let entries = entries(roots)
        for members in order.components {
            let isAlone = members.count == 1 && !graph.members(of: members[0]).contains(members[0])
            for member in members where isAlone || entries[member] {
                made[member] = isAlone ? try making(member, isCut: false, [:]) : try unfold(member)
            }
        }
    }

    /// The rows on cycles at which a cycle is entered: those that are asked for, or that rows outside lead to.
    private func entries(_ roots: [Int]) -> ContiguousArray<Bool> {
        var entries = ContiguousArray(repeating: false, count: graph.nodes.count)
        for root in roots { entries[root] = true }
        for (component, members) in order.components.enumerated() {
            for target in members.lazy.flatMap({ self.graph.members(of: $0) })
            where order.component[target] != component { entries[target] = true }
        }
        return entries
    }

    /// Makes a model on a cycle, by following each path through its component until a row occurs again.
    private func unfold(_ entry: Int) throws -> AssembledModel {
        struct Frame {
            let node: Int
            let isCut: Bool
            var waiting: [Int]
            var local: [Int: AssembledModel] = [:]
        }
        let component = order.component[entry]
        var visits: [Int: Int] = [entry: 1]
        func frame(_ node: Int, isCut: Bool) -> Frame {
            let members = Set(graph.members(of: node, requiredOnly: isCut))
            return Frame(node: node, isCut: isCut, waiting: members.filter { order.component[$0] == component })
        }
        var frames = [frame(entry, isCut: false)]
        while !frames.isEmpty {
            if let next = frames[frames.count - 1].waiting.popLast() {
                repetitions += 1
                guard repetitions <= AssemblyLimits.repetitions else { throw tooMany(frames.map(\.node) + [next]) }
                guard frames.count < AssemblyLimits.depth else { throw tooDeep(frames.map(\.node)) }
                let isCut = visits[next, default: 0] > 0
                visits[next, default: 0] += 1
                frames.append(frame(next, isCut: isCut))
                continue
            }
            let top = frames.removeLast()
            let making = try making(top.node, isCut: top.isCut, top.local)
            visits[top.node, default: 1] -= 1
            guard !frames.isEmpty else { return making }
            frames[frames.count - 1].local[top.node] = making
        }
        return .failure(unknown(entry))
    }

    /// The model of a row whose members have been made.
    ///
    /// - Throws: an error about depth or size, which ends the whole fetch. Any other error is part of the result: only
    ///   models that contain this one fail by it.
    private func making(_ node: Int, isCut: Bool, _ local: [Int: AssembledModel]) throws -> AssembledModel {
        (current, self.isCut, self.local) = (node, isCut, local)
        var size = MadeModel.Size()
        for member in isCut ? graph.members(of: node, requiredOnly: true) : graph.members(of: node) {
            if case .success(let inner)? = making(of: member) { size.add(inner.size) }
        }
        guard size.depth <= AssemblyLimits.depth else { throw tooDeep(deepestPath(from: node)) }
        let plan = graph.nodes[node].plan
        do { return .success(try make(plan.type, node, size)) } catch let error as ExcessiveModelError {
            throw error.reason
        } catch { return .failure(named(error, graph.nodes[node].row, plan)) }
    }

    private func make<Model: CoreModel>(_ type: Model.Type, _ node: Int, _ size: MadeModel.Size) throws -> MadeModel {
        let (plan, row) = (graph.nodes[node].plan, graph.nodes[node].row)
        return MadeModelOf(try decoder(of: plan).decode(type, from: row), size: size)
    }

    // MARK: What decoders ask for

    func model<Value: Decodable>(_ type: Value.Type, _ field: Int, of decoder: RowDecoder) throws -> Value? {
        let plan = decoder.record.fields[field]
        guard !isCut || !plan.isOptional, let related = plan.related, let target = targets(field).first else {
            return nil
        }
        return try model(type, target, related)
    }

    func models<Value: Decodable>(_ type: Value.Type, _ field: Int, of decoder: RowDecoder) throws -> Value? {
        let plan = decoder.record.fields[field]
        guard case .toMany(let related, let isOrdered) = plan.kind else { return nil }
        let targets = isCut ? [] : Array(targets(field))
        if targets.isEmpty, plan.isOptional, try !decoder.isMarked(field) { return nil }
        if !isOrdered, !related.isReference { try checkSet(targets, plan) }
        return try Value(
            from: ModelsDecoder(
                AssembledMembers(nodes: targets, related: related, assembler: self), count: targets.count, of: related))
    }

    /// The model or the reference of a row; nil if there is none.
    func model<Value: Decodable>(_ type: Value.Type, _ node: Int, _ related: RelatedModel) throws -> Value? {
        if related.isReference {
            let (plan, row) = (graph.nodes[node].plan, graph.nodes[node].row)
            let slot = try source.slots(of: plan)[plan.uidField]
            return try Value(from: ValueDecoder(value: row.values[slot], entity: plan.name, key: plan.uidKey))
        }
        return try making(of: node)?.get().model(as: type)
    }

    private func making(of node: Int) -> AssembledModel? { local[node] ?? made[node] }

    private func targets(_ field: Int) -> ContiguousArray<Int>.SubSequence {
        let plan = graph.nodes[current].plan
        guard let index = plan.relationships.firstIndex(of: field) else { return [] }
        return graph.targets(of: current, at: index)
    }

    private func decoder(of plan: EntityPlan) throws -> RowDecoder {
        if let known = decoders[plan.id] { return known }
        let new = RowDecoder(plan.record, entity: plan.name, slots: try source.slots(of: plan), related: self)
        decoders[plan.id] = new
        return new
    }

    /// Breaks the reference cycles: decoders refer to the assembler and to themselves.
    private func finish() {
        for decoder in decoders.values { decoder.finish() }
        decoders = [:]
        local = [:]
    }

    // MARK: Errors

    /// An error of decoding, with the identifier of the model added.
    private func named(_ error: any Error, _ row: Row, _ plan: EntityPlan) -> any Error {
        plan.named(error, (try? source.slots(of: plan)[plan.uidField]).map { row.values[$0] })
    }

    private func unknown(_ node: Int) -> PersistenceError {
        .unreadable(entity: graph.nodes[node].plan.name, key: "", reason: "it leads back to itself.")
    }

    /// The rows of the longest path down from a row.
    private func deepestPath(from node: Int) -> [Int] {
        var path = [node]
        while path.count < AssemblyLimits.depth {
            let members = graph.members(of: path[path.count - 1])
            let deepest = members.max { (depth($0) ?? 0) < (depth($1) ?? 0) }
            guard let deepest, depth(deepest) != nil else { break }
            path.append(deepest)
        }
        return path
    }

    private func depth(_ node: Int) -> Int? {
        guard case .success(let model)? = making(of: node) else { return nil }
        return model.size.depth
    }

    /// Checks the limits for a set, which hashes its elements with everything in them.
    private func checkSet(_ targets: [Int], _ field: FieldPlan) throws {
        var size = MadeModel.Size()
        for target in targets {
            if case .success(let model)? = making(of: target) { size.add(model.size) }
        }
        guard size.depth > AssemblyLimits.depthInSet || size.count > AssemblyLimits.countInSet else { return }
        let limit =
            size.depth > AssemblyLimits.depthInSet
            ? "more than \(AssemblyLimits.depthInSet) levels" : "more than \(AssemblyLimits.countInSet) models"
        throw ExcessiveModelError(
            reason: excess(
                deepestPath(from: current), "a set would have to hash \(limit) of models in models",
                key: field.name))
    }

    private func tooDeep(_ path: [Int]) -> PersistenceError {
        excess(path, "models are in models more than \(AssemblyLimits.depth) levels deep")
    }

    private func tooMany(_ path: [Int]) -> PersistenceError {
        excess(
            path,
            "models that lead back to themselves would be in one another more than \(AssemblyLimits.repetitions) times")
    }

    private func excess(_ path: [Int], _ what: String, key: String? = nil) -> PersistenceError {
        let names = path.map { node in
            let (plan, row) = (graph.nodes[node].plan, graph.nodes[node].row)
            let slot = (try? source.slots(of: plan)[plan.uidField]) ?? -1
            let uid = row.values.indices.contains(slot) ? row.values[slot].attributeValue(.string) : nil
            return (entity: plan.name, uid: uid.map { "\($0)" } ?? "?", node: node)
        }
        var shown = names.prefix(6).map { "\($0.entity) '\($0.uid)'" }
        if names.count > 7 { shown.append("…") }
        if names.count > 6, let last = names.last { shown.append("\(last.entity) '\(last.uid)'") }
        return .unreadable(
            entity: names.first?.entity ?? "", uid: names.first?.uid, key: key ?? step(path),
            reason:
                "\(what): \(shown.joined(separator: " → ")). Make it a Reference, or an array of them, and fetch what it leads "
                + "to when it is needed.")
    }

    /// The property with which a path begins.
    private func step(_ path: [Int]) -> String {
        guard path.count > 1 else { return "" }
        let plan = graph.nodes[path[0]].plan
        let index = plan.relationships.indices.first { graph.targets(of: path[0], at: $0).contains(path[1]) }
        return index.map { plan.fields[plan.relationships[$0]].name } ?? ""
    }
}

/// Models that have been made, by the numbers of their rows.
private struct AssembledMembers: MemberSource {
    let nodes: [Int]
    let related: RelatedModel
    let assembler: StructAssembler

    func member<Value: Decodable>(_ type: Value.Type, _ index: Int) throws -> Value? {
        try assembler.model(type, nodes[index], related)
    }
}

/// The error for a value that cannot be made on any path.
private struct ExcessiveModelError: Error {
    let reason: PersistenceError
}
