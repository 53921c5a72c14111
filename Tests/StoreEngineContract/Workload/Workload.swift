import CoreDataModel

/// Makes up steps, the same for the same seed and the same objects.
struct Workload {
    var random: SplitMix
    let layout: ModelLayout
    private var lastNumber = 0
    /// Objects that were there once.
    private var gone: Set<Int> = []
    private var seen: Set<Int> = []

    init(seed: UInt64, layout: ModelLayout) {
        random = SplitMix(seed: seed ^ 0x5EED)
        self.layout = layout
    }

    /// The entities that have objects of their own.
    var concrete: [EntityLayout] { layout.entities.filter { !$0.isAbstract } }

    /// The next step for a store with these objects.
    mutating func next(_ graph: Graph) -> Step {
        gone.formUnion(seen.subtracting(graph.objects.keys))
        seen = Set(graph.objects.keys)
        if graph.objects.count < 6 { return .save(save(graph, inserting: 4)) }
        switch random.below(100) {
        case ..<34: return .save(save(graph, inserting: graph.objects.count < 40 ? 3 : 0))
        case ..<62: return .fetch(fetch(random.pick(layout.entities), graph))
        case ..<70: return dictionaries(graph)
        case ..<77: return .insertBatch(insertBatch(graph))
        case ..<85: return .updateBatch(updateBatch(graph))
        case ..<92: return .deleteBatch(deleteBatch(graph))
        case ..<95:
            let saves = (0..<1 + random.below(3)).map { _ in save(graph, inserting: 2) }
            return .longTransaction(saves: saves, commits: random.chance(60))
        case ..<97: return .reserveKeys(entity: random.pick(concrete).name, more: random.below(20))
        default: return .reopen
        }
    }

    private mutating func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// An object of an entity; another one, or none, once in a while.
    mutating func object(of entity: EntityLayout, _ graph: Graph) -> Int? {
        let known = graph.numbers(of: entity)
        return known.isEmpty ? nil : random.pick(known)
    }

    // MARK: Saves

    private mutating func save(_ graph: Graph, inserting limit: Int) -> SaveStep {
        var step = SaveStep()
        // What is inserted can be led to in the same save.
        var after = graph
        for _ in 0..<random.below(limit + 1) {
            let entity = random.pick(concrete)
            let insertion = Insertion(number: newNumber(), entity: entity.name)
            step.inserted.append(insertion)
            after.objects[insertion.number] = Graph.Object(
                entity: entity, version: 0, values: entity.defaultValues, toManys: entity.relationships.map { _ in [] })
        }
        for index in step.inserted.indices {
            guard let entity = after.objects[step.inserted[index].number]?.entity else { continue }
            step.inserted[index].values = random.values(of: entity, percent: 80)
            let (toOne, toMany) = relationships(of: entity, nil, after, percent: 40)
            step.inserted[index].values.merge(toOne) { $1 }
            step.inserted[index].toMany = toMany
        }
        for number in random.some(of: graph.objects.keys.sorted(), atMost: 4) {
            guard let object = graph.objects[number] else { continue }
            var edit = Edit(number: number)
            if random.chance(60) { edit.values = random.values(of: object.entity, percent: 30) }
            if random.chance(60) {
                let (toOne, toMany) = relationships(of: object.entity, object, after, percent: 35)
                edit.values.merge(toOne) { $1 }
                edit.toMany = toMany
            }
            step.changed.append(edit)
        }
        if random.chance(10) { step.changed += exchange(graph) }
        if random.chance(35) { step.deleted = random.some(of: graph.objects.keys.sorted(), atMost: 3) }
        if random.chance(8) {
            step.stale =
                random.some(of: graph.objects.keys.sorted(), atMost: 2) + random.some(of: gone.sorted(), atMost: 1)
        }
        step.failsAtEnd = random.chance(4)
        step.saysOrders = random.chance(85)
        return step
    }

    /// Two objects trade their unique values.
    private mutating func exchange(_ graph: Graph) -> [Edit] {
        let candidates = concrete.filter { $0.uniquenessConstraints.count == 1 }
        guard !candidates.isEmpty, case let entity = random.pick(candidates) else { return [] }
        let pair = graph.numbers(of: entity).shuffled(using: &random).prefix(2)
        guard pair.count == 2, let first = graph.objects[pair[0]], let second = graph.objects[pair[1]] else {
            return []
        }
        func values(_ object: Graph.Object) -> [String: PlainValue] {
            var values: [String: PlainValue] = [:]
            for name in entity.uniquenessConstraints.joined() {
                guard let slot = entity.slotIndex(forName: name) else { continue }
                switch object.values[slot] {
                case .string(let text): values[name] = .text(text)
                case .integer(let number): values[name] = .integer(number)
                case .null: values[name] = .null
                default: continue
                }
            }
            return values
        }
        return [Edit(number: pair[0], values: values(second)), Edit(number: pair[1], values: values(first))]
    }

    /// New destinations for some relationships.
    private mutating func relationships(
        of entity: EntityLayout, _ object: Graph.Object?, _ graph: Graph, percent: Int
    ) -> (toOne: [String: PlainValue], toMany: [String: [Int]]) {
        var toOne: [String: PlainValue] = [:]
        var toMany: [String: [Int]] = [:]
        for relationship in entity.relationships where random.chance(percent) {
            guard relationship.isToMany else {
                let isNull = random.chance(20)
                toOne[relationship.name] =
                    isNull ? .null : self.object(of: relationship.destination, graph).map { .object($0) } ?? .null
                continue
            }
            let candidates = graph.numbers(of: relationship.destination)
            let present = object?.toManys[relationship.index] ?? []
            switch random.below(4) {
            case 0: toMany[relationship.name] = present.shuffled(using: &random)
            case 1: toMany[relationship.name] = present.filter { _ in random.chance(60) }
            case 2:
                var list = present
                for new in random.some(of: candidates, atMost: 2) where !list.contains(new) {
                    list.insert(new, at: random.below(list.count + 1))
                }
                toMany[relationship.name] = list
            default: toMany[relationship.name] = random.some(of: candidates, atMost: 4)
            }
        }
        return (toOne, toMany)
    }

    // MARK: Batches

    private mutating func insertBatch(_ graph: Graph) -> InsertBatchStep {
        let entity = random.pick(concrete)
        var step = InsertBatchStep(entity: entity.name, rows: [])
        for _ in 0..<1 + random.below(4) {
            var row = InsertBatchStep.Row(number: newNumber(), values: random.values(of: entity, percent: 70))
            for relationship in entity.toOnes where random.chance(25) {
                row.values[relationship.name] = object(of: relationship.destination, graph).map { .object($0) }
            }
            step.rows.append(row)
        }
        // Which of two rows a new one replaces is not said.
        let canReplace = entity.uniquenessConstraints.count == 1
        let conflicts: [InsertBatchStep.Conflicts] = canReplace ? [.fail, .replace, .keep] : [.fail, .keep]
        step.conflicts = random.pick(conflicts)
        step.wantsIdentifiers = random.chance(50)
        step.tellsWhatIsGiven = random.chance(80)
        if random.chance(5) { step.failsAfter = random.below(3) }
        return step
    }

    private mutating func updateBatch(_ graph: Graph) -> UpdateBatchStep {
        let entity = random.pick(layout.entities)
        var step = UpdateBatchStep(rows: batchRows(entity, graph), values: random.values(of: entity, percent: 20))
        let unique = Set(entity.selfAndSubentities.flatMap(\.uniquenessConstraints).joined())
        for slot in entity.slots where slot.name != EntityLayout.numberName && !slot.isTransient {
            if let relationship = slot.relationship, random.chance(20) {
                step.values[slot.name] =
                    random.chance(30)
                    ? .null : object(of: relationship.destination, graph).map { .object($0) } ?? .null
            }
            // Expressions see what is stored, and unique values are compared one row after the other.
            if let attribute = slot.attribute, attribute.derivation == nil, !unique.contains(slot.name),
                random.chance(15),
                let format = expression(like: attribute, of: entity)
            {
                step.values[slot.name] = nil
                step.expressions[slot.name] = format
            }
        }
        for slot in entity.slots where slot.isTransient { step.values[slot.name] = nil }
        if step.values.isEmpty, step.expressions.isEmpty {
            guard
                let slot = entity.slots.first(where: { $0.name != "number" && $0.attribute != nil && !$0.isTransient }),
                let attribute = slot.attribute
            else { return step }
            step.values[slot.name] = random.value(of: attribute)
        }
        step.wantsIdentifiers = random.chance(50)
        return step
    }

    private mutating func expression(like attribute: AttributeLayout, of entity: EntityLayout) -> String? {
        let others = entity.slots.compactMap { slot -> String? in
            guard let other = slot.attribute, other.type == attribute.type, !slot.isTransient else { return nil }
            return "\(Self.key(other.name))"
        }
        let key = random.pick(others)
        switch attribute.type {
        case .integer16AttributeType, .integer32AttributeType:
            return random.pick(["\(key) + 1", "\(key) * 2", "\(key) - 3", "\(key)", "0 - \(key)"])
        case .doubleAttributeType: return random.pick(["\(key) / 2", "\(key) + 0.5", "\(key)"])
        case .stringAttributeType: return random.pick(["uppercase(\(key))", "lowercase(\(key))", "\(key)"])
        case .dateAttributeType, .UUIDAttributeType, .booleanAttributeType, .integer64AttributeType: return key
        default: return nil
        }
    }

    private mutating func deleteBatch(_ graph: Graph) -> DeleteBatchStep {
        let entity = random.pick(layout.entities)
        var step = DeleteBatchStep(rows: batchRows(entity, graph))
        if random.chance(50) {
            step.objects = random.some(of: graph.numbers(of: entity) + gone.sorted(), atMost: 3)
            step.rows = FetchStep(entity: entity.name)
        }
        step.wantsIdentifiers = random.chance(50)
        return step
    }

    /// Rows for a batch: all that satisfy a predicate, or the first of them.
    private mutating func batchRows(_ entity: EntityLayout, _ graph: Graph) -> FetchStep {
        var rows = fetch(entity, graph)
        if rows.condition == nil || random.chance(50) { rows.limit = 1 + random.below(3) }
        if rows.limit > 0 {
            rows.order = [Order(key: EntityLayout.numberName, ascending: random.chance(50))]
        } else {
            (rows.order, rows.offset) = ([], 0)
        }
        return rows
    }
}
