import CoreData

/// The models of a save: each model once, with its values and its links to the others.
///
/// It is computed from the models alone, before the store is read. Of several given models with one identifier, the
/// last one counts; what only the others lead to is saved in an import, and left out in a save. A model that occurs
/// several times within them must have the same values each time, since only one of them could be saved; in an import,
/// the one in the last record counts. Models that lead back to themselves are excepted: their inner copies are cut off
/// somewhere, so the occurrence nearest to the given models counts. Of those equally near the values must be the same,
/// and the relationships, too, if models of other types lead to them all; those that a model of their cycle leads to
/// may be cut off, and the relationships of the first one count.
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
        /// The index of the field.
        let field: Int
        let destination: GraphTable
        /// The number of the given model that the source is in, where the last one counts.
        let record: Int
    }

    private(set) var nodes: ContiguousArray<Node> = []
    /// The number of nodes made from the given models. They are the first ones.
    private(set) var rootCount = 0
    /// The entity of the models that were given.
    private(set) var plan: EntityPlan?
    /// The identifiers of references as attributes hold them, by node, where these are not in their keys: of rare types.
    private(set) var rareKeys: [Int: Any] = [:]
    /// The entities, each with its nodes.
    private(set) var tables: [GraphTable] = []
    private(set) var tableNumbers: [ObjectIdentifier: Int] = [:]
    /// The fields' values by entity, node by node.
    private(set) var values: ContiguousArray<ValueRows> = []
    /// The models that are yet to be encoded.
    private var waiting: ContiguousArray<any WaitingModels> = []
    var origins = ModelOrigins()
    /// Further occurrences of models, which are compared with the encoded ones.
    private var copies: ContiguousArray<any CopiedModels> = []
    /// How far each node is from the given models, and whether its model is whole, if models may lead back to
    /// themselves; empty otherwise. A model that another one of its cycle leads to may be cut off.
    private var distances: ContiguousArray<(level: Int32, isWhole: Bool)> = []
    /// The number of the given model that each node's values are from, where the last one counts; empty otherwise.
    private var records: ContiguousArray<Int> = []
    let repeated: RepeatedModels
    /// Whether there may be models that no other one leads to any longer, since a later copy of that one counts.
    var hasLeftModels = false
    /// The link by which each node was last reached, to detect a node that occurs twice in one link.
    private var latestLinks: ContiguousArray<Int32> = []
    private var linkCount: Int32 = 0
    private let registry: ModelRegistry

    /// - Parameters:
    ///   - models: the models. Those within them are found.
    ///   - registry: tells what each model consists of.
    ///   - repeated: what becomes of a model that is within them several times.
    ///   - limit: the most models; nil for any number.
    /// - Throws: ``PersistenceError/Code/unknownModel``, ``PersistenceError/Code/unwritable``, and
    ///   `WorkDurations.TooMuch` for more models than the limit.
    init<Model: CoreModel>(
        _ models: [Model], registry: ModelRegistry, repeated: RepeatedModels = .mustAgree, limit: Int? = nil
    ) throws {
        (self.registry, self.repeated) = (registry, repeated)
        let plan = try registry.plan(of: Model.self)
        self.plan = plan
        let table = table(of: plan)
        reserve(models.count, table)
        // Of several models with one identifier, the last one counts.
        var picks: ContiguousArray<(index: Int, node: Int)> = []
        picks.reserveCapacity(models.count)
        let start = ModelOrigins.start(of: models, plan)
        try models.forEachInPlace { place, model in
            let (node, isNew) = node(try Model.recordKey(of: model.id), table, isReference: false)
            if isNew {
                picks.append((place, node))
                if repeated == .lastCounts { records[node] = place }
            } else if repeated == .mustAgree {
                picks[node].index = place
            } else {
                // What only the former ones lead to is saved as well.
                copies.append(CopiedModelList(models: models, picks: [(place, node)], record: place, areWhole: true))
                return
            }
            origins.set(node, start, place, Model.self)
        }
        rootCount = nodes.count
        waiting.append(WaitingModelList(models: models, picks: picks))
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
        (waiting, copies, origins, latestLinks, distances, records) = ([], [], ModelOrigins(), [], [], [])
        values = ContiguousArray(tables.map { $0.encoder.finish() })
        try GraphCheck(nodes, registry).check()
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
        // Models of one list are of one type.
        let table = tables[nodes[first.node].table]
        if picks.count > 1_000 { table.encoder.reserve(picks.count) }
        var links: ContiguousArray<(node: Int, link: EncodedRecord.Link)> = []
        try models.forEachInPlace(picks.count, { picks[$0].index }) { place, model in
            let node = picks[place].node
            let encoded = try encode(&model, node, table, by: table.encoder)
            nodes[node].row = encoded.row
            for link in encoded.links { links.append((node, link)) }
        }
        try reserve(for: links)
        for (node, link) in links {
            let record = records.isEmpty ? 0 : records[node]
            guard let targets = try targets(of: link, from: node, record: record) else { continue }
            nodes[node].links.append(Link(field: link.field, targets: targets))
        }
    }

    /// Encodes the model of a node. It is mutating, since a closure that changes the graph would copy it otherwise.
    ///
    /// - Parameters:
    ///   - model: the model. It is passed `inout` to avoid a copy, and not changed.
    ///   - node: its node.
    ///   - table: its entity.
    ///   - encoder: the encoder that receives its values.
    /// - Returns: the index of its first value, and its relationships.
    /// - Throws: ``PersistenceError/Code/unwritable``
    @inline(__always)
    mutating func encode<Model: CoreModel>(
        _ model: inout Model, _ node: Int, _ table: GraphTable, by encoder: RecordEncoder
    ) throws -> (row: Int, links: [EncodedRecord.Link]) {
        let encoded: (row: Int, links: [EncodedRecord.Link])
        do { encoded = try encoder.append(&model) } catch {
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
        var found: [Link] = []
        for link in links {
            guard let targets = try targets(of: link, from: node, record: record) else { continue }
            found.append(Link(field: link.field, targets: targets))
        }
        return found
    }

    /// The nodes that an encoded relationship leads to; nil for one that leads to no models.
    private mutating func targets(of link: EncodedRecord.Link, from node: Int, record: Int) throws -> [Int]? {
        guard let destination = try destination(of: link.field, tables[nodes[node].table]) else { return nil }
        linkCount += 1
        let end = LinkEnd(source: node, field: link.field, destination: destination, record: record)
        return try link.targets.link(into: &self, end)
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
    private mutating func reserve(for links: ContiguousArray<(node: Int, link: EncodedRecord.Link)>) throws {
        guard links.reduce(0, { $0 + $1.link.targets.count }) > 1_000 else { return }
        for (node, link) in links {
            try destination(of: link.field, tables[nodes[node].table])?.expected += link.targets.count
        }
        for table in tables {
            if table.expected > 1_000 { reserve(table.expected, table) }
            table.expected = 0
        }
    }

    // MARK: Copies

    /// How two given models follow each other.
    enum RecordOrder { case earlier, same, later }

    /// How a given model and the one that a node's values are from follow each other.
    func order(of record: Int, at node: Int) -> RecordOrder {
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
    func isWhole(_ node: Int, _ table: GraphTable) -> Bool { !table.isCyclic || distances[node].isWhole }

    // MARK: Linking

    /// The nodes of the models that a relationship shall have. New nodes wait to be encoded.
    mutating func link<Model: CoreModel>(_ models: [Model], _ end: LinkEnd) throws -> [Int] {
        var targets: [Int] = []
        targets.reserveCapacity(models.count)
        var picks: ContiguousArray<(index: Int, node: Int)> = []
        var others: ContiguousArray<(index: Int, node: Int)> = []
        let table = end.destination
        let start = ModelOrigins.start(of: models, table.plan)
        let level = distances.isEmpty ? 0 : distances[end.source].level + 1
        let areWhole = !tables[nodes[end.source].table].isCyclic
        try models.forEachInPlace { place, model in
            let found = node(try Model.recordKey(of: model.id), table, isReference: false)
            if found.isNew || nodes[found.node].isReference {
                nodes[found.node].isReference = false
                origins.set(found.node, start, place, Model.self)
                if !distances.isEmpty { distances[found.node] = (level, areWhole) }
                if !records.isEmpty { records[found.node] = end.record }
                if picks.isEmpty { picks.reserveCapacity(models.count - place) }
                picks.append((place, found.node))
            } else if !table.isCyclic || distances[found.node].level == level,
                !isCopy(&model, start, of: found.node, table, record: end.record)
            {
                others.append((place, found.node))
            }
            targets.append(try linked(found.node, end))
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
            let found = node(key, end.destination, isReference: true)
            if found.isNew, !(kind.flatMap { StoredValue(key)?.fits($0) } ?? false) { rareKeys[found.node] = value }
            return try linked(found.node, end)
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

    private mutating func node(_ key: RecordKey, _ table: GraphTable, isReference: Bool) -> (node: Int, isNew: Bool) {
        let next = nodes.count
        let node = table.nodes.place(of: key, orPut: next)
        if node < next { return (node, false) }
        nodes.append(Node(plan: table.plan, table: table.number, key: key, isReference: isReference))
        latestLinks.append(-1)
        origins.append()
        if registry.hasCycles { distances.append((0, true)) }
        if repeated == .lastCounts { records.append(0) }
        return (node, true)
    }
}
