import StoreSession

/// Makes the nodes of a graph, and holds what is needed only meanwhile. All of its methods are mutating: one that is
/// not would have the whole builder copied by each closure that changes it.
struct GraphBuilder {
    typealias Node = ModelGraph.Node
    typealias Link = ModelGraph.Link
    /// The indexes of models in a list, and their nodes.
    typealias Picks = ContiguousArray<(index: Int, node: Int)>

    private(set) var nodes: ContiguousArray<Node> = []
    private(set) var rareKeys: [Int: Any] = [:]
    private(set) var tables: [GraphTable] = []
    private(set) var tableNumbers: [ObjectIdentifier: Int] = [:]
    var hasLeftModels = false
    var origins = ModelOrigins()
    /// The models that are yet to be encoded.
    private var waiting: ContiguousArray<any WaitingModels> = []
    /// Further occurrences of models, which are compared with the encoded ones.
    private var copies: ContiguousArray<any CopiedModels> = []
    /// How far each node is from the given models, and whether its model is whole, if models may lead back to
    /// themselves; empty otherwise. A model that another one of its cycle leads to may be cut off.
    private var distances: ContiguousArray<(level: Int32, isWhole: Bool)> = []
    /// The number of the given model that each node's values are from, where the last one counts; empty otherwise.
    private var records: ContiguousArray<Int> = []
    /// The link by which each node was last reached, to detect a node that occurs twice in one link.
    private var latestLinks: ContiguousArray<Int32> = []
    private var linkCount: Int32 = 0
    let repeated: RepeatedModels
    private let registry: ModelRegistry

    init(_ registry: ModelRegistry, _ repeated: RepeatedModels) {
        (self.registry, self.repeated) = (registry, repeated)
    }

    /// Creates nodes for the given models. Of several with one identifier, the last one counts, or they must be the
    /// same.
    mutating func take<Model: CoreModel>(_ models: [Model], of plan: EntityPlan) throws {
        let table = table(of: plan)
        reserve(models.count, table)
        var picks: Picks = []
        picks.reserveCapacity(models.count)
        let start = ModelOrigins.start(of: models, plan)
        try models.forEachInPlace { place, model in
            let origin = ModelOrigins.origin(start, place, Model.self)
            let (node, isNew) = node(try Model.recordKey(of: model.id), table, origin)
            if isNew {
                picks.append((place, node))
                if repeated == .lastCounts { records[node] = place }
            } else if repeated == .mustDiffer {
                throw PersistenceError.repeatedIdentifier(entity: plan.name)
            } else {
                // What only the former ones lead to is saved as well, where the last one counts.
                copies.append(CopiedModelList(models: models, picks: [(place, node)], record: place, areWhole: true))
            }
        }
        waiting.append(WaitingModelList(models: models, picks: picks))
    }

    /// Encodes the models that wait, and those that they lead to, and compares the copies.
    ///
    /// - Parameter limit: the most models; nil for any number.
    /// - Throws: ``PersistenceError/Code/unwritable``, and `WorkDurations.TooMuch` for more models than the limit.
    mutating func encodeAll(limit: Int?) throws {
        var (next, nextCopy) = (0, 0)
        while next < waiting.count || nextCopy < copies.count {
            if next < waiting.count {
                try waiting[next].encode(into: &self)
                next += 1
            } else {
                try copies[nextCopy].take(in: &self)
                nextCopy += 1
            }
            if let limit, nodes.count > limit { throw WorkDurations.TooMuch() }
        }
    }

    /// Encodes models that have nodes, and creates nodes for the models that they lead to.
    ///
    /// - Parameters:
    ///   - models: a list.
    ///   - picks: the indexes of the models to encode, and their nodes.
    /// - Throws: ``PersistenceError/Code/unwritable``
    mutating func encode<Model: CoreModel>(_ models: [Model], _ picks: Picks) throws {
        guard let first = picks.first else { return }
        // Models of one list are of one type.
        let table = tables[nodes[first.node].table]
        let columns = table.encoder.columns(of: Model.self)
        if picks.count > 1_000 { table.encoder.reserve(picks.count) }
        var links: ContiguousArray<(node: Int, links: [EncodedRecord.Link])> = []
        try models.forEachInPlace(picks.count, { picks[$0].index }) { place, model in
            let node = picks[place].node
            let encoded = try encode(&model, node, table, by: table.encoder, columns)
            nodes[node].row = encoded.row
            if !encoded.links.isEmpty { links.append((node, encoded.links)) }
        }
        try reserve(for: links)
        for (node, links) in links {
            nodes[node].links = try targets(of: links, from: node, record: records.isEmpty ? 0 : records[node])
        }
    }

    /// Encodes the model of a node.
    ///
    /// - Parameters:
    ///   - model: the model. It is passed `inout` to avoid a copy, and not changed.
    ///   - node: its node.
    ///   - table: its entity.
    ///   - encoder: the encoder that receives its values.
    ///   - columns: the functions that write it; nil for one that is encoded by its coding.
    /// - Returns: the index of its first value, and its relationships.
    /// - Throws: ``PersistenceError/Code/unwritable``
    @inline(__always)
    mutating func encode<Model: CoreModel>(
        _ model: inout Model, _ node: Int, _ table: GraphTable, by encoder: RecordEncoder,
        _ columns: ColumnFunctionsOf<Model>?
    ) throws -> (row: Int, links: [EncodedRecord.Link]) {
        let encoded: (row: Int, links: [EncodedRecord.Link])
        do { encoded = try encoder.append(&model, by: columns) } catch {
            throw PersistenceError.unwritable(
                entity: table.plan.name, uid: nodes[node].key.text,
                key: error is EncodingError ? encoder.lastProperty : nil, reason: error.encodingReason)
        }
        try encoder.checkIdentifier(nodes[node].key, of: table.plan)
        return encoded
    }

    /// The nodes that encoded relationships lead to.
    ///
    /// - Parameters:
    ///   - links: the relationships.
    ///   - node: the model that has them.
    ///   - record: the number of the given model that this one is in, where the last one counts.
    /// - Returns: the relationships with their nodes.
    /// - Throws: ``PersistenceError/Code/unwritable`` for a model that is in a relationship twice.
    mutating func targets(of links: [EncodedRecord.Link], from node: Int, record: Int) throws -> [Link] {
        let table = tables[nodes[node].table]
        var found: [Link] = []
        found.reserveCapacity(links.count)
        for link in links {
            guard let destination = try destination(of: link.field, table) else { continue }
            linkCount += 1
            let end = LinkEnd(source: node, field: link.field, destination: destination, record: record)
            found.append(Link(field: link.field, targets: try link.targets.link(into: &self, end)))
        }
        return found
    }

    /// The table that a field leads to; nil for a field that leads to no models.
    private mutating func destination(of field: Int, _ table: GraphTable) throws -> GraphTable? {
        let known = table.destinations[field]
        if known >= 0 { return tables[known] }
        guard let related = table.plan.fields[field].related else { return nil }
        let found = self.table(of: try registry.plan(related))
        table.destinations[field] = found.number
        return found
    }

    /// Makes room for many models at once.
    private mutating func reserve(for links: ContiguousArray<(node: Int, links: [EncodedRecord.Link])>) throws {
        let count = links.reduce(0) { $1.links.reduce($0) { $0 + $1.targets.count } }
        guard count > 1_000 else { return }
        for (node, links) in links {
            let table = tables[nodes[node].table]
            for link in links { try destination(of: link.field, table)?.expected += link.targets.count }
        }
        for table in tables {
            if table.expected > 1_000 { reserve(table.expected, table) }
            table.expected = 0
        }
    }

    /// How a given model and the one that a node's values are from follow each other.
    mutating func order(of record: Int, at node: Int) -> RecordOrder {
        guard repeated == .lastCounts, records[node] != record else { return .same }
        return record < records[node] ? .earlier : .later
    }

    /// Replaces a node's values by those of a later copy.
    mutating func replace(_ node: Int, row: Int, _ links: [Link], record: Int, isWhole: Bool) {
        nodes[node].row = row
        nodes[node].links = links
        records[node] = record
        if !distances.isEmpty { distances[node].isWhole = isWhole }
    }

    /// Whether the relationships of a node's model are complete.
    mutating func isWhole(_ node: Int, _ table: GraphTable) -> Bool { !table.isCyclic || distances[node].isWhole }

    // MARK: Linking

    /// The nodes of the models that a relationship shall have. New nodes wait to be encoded.
    mutating func link<Model: CoreModel>(_ models: [Model], _ end: LinkEnd) throws -> [Int] {
        var targets: [Int] = []
        targets.reserveCapacity(models.count)
        var (picks, others): (Picks, Picks) = ([], [])
        let table = end.destination
        let start = ModelOrigins.start(of: models, table.plan)
        let level = distances.isEmpty ? 0 : distances[end.source].level + 1
        let areWhole = !tables[nodes[end.source].table].isCyclic
        try models.forEachInPlace { place, model in
            let origin = ModelOrigins.origin(start, place, Model.self)
            let found = node(try Model.recordKey(of: model.id), table, origin)
            if found.isNew || nodes[found.node].isReference {
                if !found.isNew {
                    nodes[found.node].isReference = false
                    origins.set(found.node, origin)
                }
                if !distances.isEmpty { distances[found.node] = (level, areWhole) }
                if !records.isEmpty { records[found.node] = end.record }
                if picks.isEmpty { picks.reserveCapacity(models.count - place) }
                picks.append((place, found.node))
            } else if !table.isCyclic || distances[found.node].level == level,
                !isCopy(&model, start, of: found.node, table, record: end.record)
            {
                others.append((place, found.node))
            }
            targets.append(found.isNew ? found.node : try linked(found.node, end))
        }
        if !picks.isEmpty { waiting.append(WaitingModelList(models: models, picks: picks)) }
        if !others.isEmpty {
            copies.append(CopiedModelList(models: models, picks: others, record: end.record, areWhole: areWhole))
        }
        return targets
    }

    /// Whether a model certainly equals the one that a node's values are from, so that nothing has to be done for it.
    @inline(__always)
    mutating func isCopy<Model: CoreModel>(
        _ model: inout Model, _ start: UnsafeRawPointer?, of node: Int, _ table: GraphTable, record: Int
    ) -> Bool {
        guard origins.isCopy(&model, start, of: node) else { return false }
        guard repeated == .lastCounts, record > records[node] else { return true }
        // What is within it counts from here on, too.
        guard table.plan.relationships.isEmpty else { return false }
        records[node] = record
        return true
    }

    /// The nodes of the references that a relationship shall have.
    mutating func link(_ references: [any ModelReference], _ end: LinkEnd) throws -> [Int] {
        let plan = end.destination.plan
        let kind = plan.record.attributeKinds[plan.uidField]
        return try references.map { reference in
            let value = try reference.keyValue()
            let key = RecordKey(attributeValue: value)
            let found = node(key, end.destination, nil, isReference: true)
            guard found.isNew else { return try linked(found.node, end) }
            if StoredValue(key, of: kind) == nil { rareKeys[found.node] = value }
            return found.node
        }
    }

    /// A node, recorded as a target of the current link. It throws if the link leads to it already.
    private mutating func linked(_ node: Int, _ end: LinkEnd) throws -> Int {
        guard latestLinks[node] != linkCount else {
            let source = nodes[end.source]
            throw PersistenceError.unwritable(
                entity: source.plan.name, uid: source.key.text, key: source.plan.fields[end.field].name,
                reason:
                    "the \(end.destination.plan.name) '\(nodes[node].key.text)' is in it twice, and can be in it once only."
            )
        }
        latestLinks[node] = linkCount
        return node
    }

    private mutating func table(of plan: EntityPlan) -> GraphTable {
        if let known = tableNumbers[plan.id] { return tables[known] }
        let new = GraphTable(tables.count, plan, isCyclic: registry.mayContainItself(plan))
        tableNumbers[plan.id] = new.number
        tables.append(new)
        return new
    }

    private mutating func reserve(_ count: Int, _ table: GraphTable) {
        nodes.reserveCapacity(nodes.count + count)
        latestLinks.reserveCapacity(latestLinks.count + count)
        origins.reserve(count)
        table.nodes.reserve(count, table.plan.record.attributeKinds[table.plan.uidField])
        table.encoder.reserve(count)
    }

    /// The node of a key. A new one counts as reached by the current link.
    private mutating func node(
        _ key: RecordKey, _ table: GraphTable, _ origin: UnsafeRawPointer?, isReference: Bool = false
    ) -> (node: Int, isNew: Bool) {
        let next = nodes.count
        let node = table.nodes.place(of: key, orPut: next)
        if node < next { return (node, false) }
        nodes.append(Node(plan: table.plan, table: table.number, key: key, isReference: isReference))
        latestLinks.append(linkCount)
        origins.append(origin)
        if registry.hasCycles { distances.append((0, true)) }
        if repeated == .lastCounts { records.append(0) }
        return (node, true)
    }
}

// In code that is not specialized for one type, each access to an array's element copies it, which retains everything
// in it. An element passed as `inout` is not copied.
extension Array {
    /// Hands out the elements where they are, with their places. `body` must not change them.
    @inline(__always)
    func forEachInPlace(_ body: (_ place: Int, _ element: inout Element) throws -> Void) rethrows {
        try forEachInPlace(count, { $0 }, body)
    }

    /// Hands out some elements where they are. `body` must not change them.
    ///
    /// - Parameters:
    ///   - times: how many.
    ///   - index: the index of the first of them, of the second, and so on.
    ///   - body: receives the number of an element among them.
    @inline(__always)
    func forEachInPlace(
        _ times: Int, _ index: (_ number: Int) -> Int, _ body: (_ number: Int, _ element: inout Element) throws -> Void
    ) rethrows {
        let count = count
        try withUnsafeBufferPointer { elements in
            guard let first = elements.baseAddress else { return }
            // Unsafe memory: the pointer is only read, and each index is checked.
            let start = UnsafeMutablePointer(mutating: first)
            var number = 0
            while number < times {
                let index = index(number)
                precondition(index >= 0 && index < count, "An index of the array")
                try body(number, &start[index])
                number += 1
            }
        }
    }
}
