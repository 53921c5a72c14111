import CoreData

/// Writes a graph of models into a context, on whose queue this runs: it finds, inserts, changes and connects objects,
/// and deletes owned ones that left their owner. Nothing is changed before it is certain that every reference leads
/// somewhere.
struct GraphWriter {
    private let graph: ModelGraph
    private let context: NSManagedObjectContext
    private var objects: [NSManagedObject?]
    private var isNew: [Bool]
    /// Where the objects are looked up in a migration, in which what a model leaves empty is inferred.
    private let given: (any KnownObjects)?
    /// What stored models get values of; nil for all of their properties.
    private let fields: GivenFields?
    /// The nodes that get values of all of their properties all the same.
    private var wholeNodes: Set<Int> = []

    /// - Parameters:
    ///   - graph: the models.
    ///   - context: the context.
    ///   - root: the object of the first model, where it is known.
    ///   - given: where the others are in a migration.
    ///   - fields: what stored models get values of; nil for all of their properties.
    init(
        _ graph: ModelGraph, _ context: NSManagedObjectContext, root: NSManagedObject? = nil,
        among given: (any KnownObjects)? = nil, setting fields: GivenFields? = nil
    ) {
        self.graph = graph
        self.context = context
        self.given = given
        self.fields = fields
        objects = Array(repeating: nil, count: graph.nodes.count)
        if let root { objects[0] = root }
        isNew = Array(repeating: false, count: graph.nodes.count)
    }

    /// Which of the given models may be stored already.
    enum Mode {
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

    /// - Parameter mode: which of the given models may be stored.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    mutating func write(_ mode: Mode = .any) throws {
        if let fields { wholeNodes = try fields.wholeNodes(of: graph) }
        try find()
        try mode.check(graph) { objects[$0] != nil }
        try insert()
        try setValues()
        var left: [NSManagedObject] = []
        for index in graph.nodes.indices where !graph.nodes[index].isReference { left += connect(index) }
        // Unless another saved model owns them now.
        if !left.isEmpty { delete(left) }
        if mode == .only { try deleteOthers() }
    }

    /// What a stored model gets values of; nil for all of its properties.
    private func fields(of index: Int) -> GivenFields? { wholeNodes.contains(index) ? nil : fields }

    /// Deletes the objects of an entity that have no model in the graph.
    private func deleteOthers() throws {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: graph.plan.name)
        delete(try context.fetch(request).compactMap { $0 as? NSManagedObject })
    }

    /// Deletes objects, and what they own, except for the graph's objects.
    private func delete(_ objects: [NSManagedObject]) {
        let stored = zip(self.objects, isNew).compactMap { $1 ? nil : $0 }
        context.delete(objects, keeping: Set(self.objects.compactMap { $0 }), owned: stored)
    }

    /// What became of the given models.
    var outcomes: [SaveOutcome] {
        objects.indices.prefix(graph.rootCount).map { index in
            isNew[index] ? .inserted : objects[index]?.hasChanges ?? false ? .updated : .unchanged
        }
    }

    private mutating func find() throws {
        if let given {
            for index in graph.nodes.indices where objects[index] == nil {
                objects[index] = try given.object(graph.nodes[index].key, of: graph.nodes[index].plan)
            }
        } else {
            try findStored()
        }
        for index in graph.nodes.indices where graph.nodes[index].isReference && objects[index] == nil {
            let node = graph.nodes[index]
            let source = graph.relationship(to: index) ?? (node.plan.name, node.plan.uidKey)
            throw PersistenceError.missingReference(entity: source.entity, key: source.key, uid: node.key.text)
        }
    }

    private mutating func findStored() throws {
        var groups: [ObjectIdentifier: [Int]] = [:]
        for index in graph.nodes.indices { groups[graph.nodes[index].plan.id, default: []].append(index) }
        for indexes in groups.values {
            guard let first = indexes.first else { continue }
            let plan = graph.nodes[first].plan
            let found = try plan.objects(
                keys: indexes.map { graph.keyValue(of: $0) ?? NSNull() },
                areConnected: indexes.contains { !graph.nodes[$0].isReference }, in: context)
            guard !found.isEmpty else { continue }
            for index in indexes { objects[index] = found[graph.nodes[index].key] }
        }
    }

    private mutating func insert() throws {
        var last: (plan: EntityPlan, entity: NSEntityDescription)?
        // By index, here and below, since iterating over the nodes would copy each.
        for index in graph.nodes.indices where objects[index] == nil {
            let plan = graph.nodes[index].plan
            if last?.plan !== plan { last = (plan, try plan.description(in: context)) }
            guard let entity = last?.entity else { continue }
            let object = NSManagedObject(entity: entity, insertInto: context)
            objects[index] = object
            isNew[index] = true
            given?.note(object, graph.nodes[index].key, of: plan)
        }
    }

    private func setValues() throws {
        var last: (plan: EntityPlan, slots: ContiguousArray<Int>)?
        for index in graph.nodes.indices where !graph.nodes[index].isReference {
            guard let object = objects[index] else { continue }
            let plan = graph.nodes[index].plan
            if last?.plan !== plan { last = (plan, object.slots(of: plan)) }
            guard let slots = last?.slots else { continue }
            // A migration says what becomes of each value.
            let uid = given == nil && !isNew[index] ? graph.nodes[index].key.text : nil
            try object.take(
                graph.values(of: index), of: plan, slots, isNew: isNew[index], setting: fields(of: index), merging: uid)
        }
    }

    /// Sets a node's relationships.
    ///
    /// - Returns: the objects that the model owned and no longer does.
    private func connect(_ index: Int) -> [NSManagedObject] {
        guard !graph.nodes[index].plan.relationships.isEmpty, let object = objects[index] else { return [] }
        let node = graph.nodes[index]
        var left: [NSManagedObject] = []
        for field in node.plan.relationships {
            if !isNew[index], let fields = fields(of: index), !fields.has(field, of: node.plan) { continue }
            let property = node.plan.fields[field]
            let targets = (node.links.first { $0.field == field }?.targets ?? []).compactMap { objects[$0] }
            if given != nil, targets.isEmpty { continue }
            let former = isNew[index] ? [] : object.destinations(of: property.name, isToMany: property.isToMany)
            guard former != targets || isNew[index] else { continue }
            if node.plan.owns(property) {
                let kept = Set(targets)
                left += former.filter { !kept.contains($0) }
            }
            object.connect(property, to: targets, former: former)
        }
        return left
    }
}

extension NSManagedObject {
    fileprivate func connect(_ field: FieldPlan, to targets: [NSManagedObject], former: [NSManagedObject]) {
        switch field.kind {
        case .toMany(_, let isOrdered):
            if isOrdered {
                setValue(NSOrderedSet(array: targets), forKey: field.name)
            } else if Set(targets) != Set(former) {
                setValue(NSSet(array: targets), forKey: field.name)
            }
        default:
            if let target = targets.first {
                setValue(target, forKey: field.name)
            } else if !former.isEmpty {
                setValue(nil, forKey: field.name)
            }
        }
    }
}

/// Objects that are found in another way than by asking a context.
protocol KnownObjects: AnyObject {
    /// The object with an identifier; nil for one that is not there.
    func object(_ key: RecordKey, of plan: EntityPlan) throws -> NSManagedObject?
    /// Notes an object that was inserted.
    func note(_ object: NSManagedObject, _ key: RecordKey, of plan: EntityPlan)
}

/// What became of a model that was saved.
enum SaveOutcome {
    case inserted, updated, unchanged
}
