import CoreDataModel
import StoreEngine

extension Workload {
    /// A key as a format string has it: one that is a keyword needs a mark.
    static func key(_ name: String) -> String { "#\(name)" }

    mutating func fetch(_ entity: EntityLayout, _ graph: Graph) -> FetchStep {
        var step = FetchStep(entity: entity.name)
        step.includesSubentities = random.chance(85)
        if random.chance(85) {
            var maker = ConditionMaker(random: random, graph: graph)
            step.condition = maker.condition(of: entity)
            random = maker.random
        }
        for _ in 0..<random.below(3) { if let order = order(of: entity) { step.order.append(order) } }
        if random.chance(30) {
            step.limit = random.chance(80) ? 1 + random.below(5) : 0
            step.offset = random.chance(50) ? random.below(4) : 0
        }
        // Which of equals come first is not said.
        if !step.order.isEmpty || step.limit > 0 || step.offset > 0 {
            step.order.append(Order(key: EntityLayout.numberName, ascending: random.chance(70)))
        }
        return step
    }

    private mutating func order(of entity: EntityLayout) -> Order? {
        var keys: [String] = []
        var end = entity
        if random.chance(25), let relationship = end.toOnes.isEmpty ? nil : random.pick(end.toOnes) {
            keys.append(relationship.name)
            end = relationship.destination
        }
        let attributes = end.slots.filter { !$0.isTransient }.compactMap(\.attribute)
            .filter(Self.isSortable)
        let attribute = random.pick(attributes)
        keys.append(attribute.name)
        var order = Order(key: keys.joined(separator: "."), ascending: random.chance(50))
        if attribute.type == .stringAttributeType, random.chance(50) {
            order.selector = random.pick([
                "caseInsensitiveCompare:", "localizedStandardCompare:", "localizedCompare:",
                "localizedCaseInsensitiveCompare:",
            ])
        }
        return order
    }

    static func isComparable(_ type: NSAttributeType) -> Bool {
        type != .transformableAttributeType && type != .compositeAttributeType
    }

    // MARK: Dictionaries

    mutating func dictionaries(_ graph: Graph) -> Step {
        let entity = random.pick(layout.entities)
        var step = DictionaryStep(fetch: fetch(entity, graph))
        (step.fetch.limit, step.fetch.offset) = (0, 0)
        let keyPaths = dictionaryKeyPaths(of: entity)
        if random.chance(50) {
            step.columns = random.some(of: keyPaths, atMost: 4).map { .keyPath($0) }
            step.isDistinct = random.chance(50)
            if step.isDistinct || step.columns.isEmpty { step.fetch.order = [] }
            if step.columns.isEmpty { step.columns = [.keyPath(EntityLayout.numberName)] }
            return .dictionaries(step)
        }
        step.fetch.order = []
        step.groupBy = random.some(of: keyPaths, atMost: 2)
        step.columns = step.groupBy.map { .keyPath($0) }
        let numbers = entity.slots.filter { !$0.isTransient }.compactMap(\.attribute).filter {
            switch $0.type {
            case .integer16AttributeType, .integer32AttributeType, .doubleAttributeType: true
            default: false
            }
        }.map(\.name)
        let column = random.pick(numbers + [EntityLayout.numberName])
        let function = random.pick(["sum:", "count:", "min:", "max:", "average:"])
        step.columns.append(.computed(name: "computed", function: function, keyPath: column))
        if random.chance(40) {
            step.having = Condition(
                format: random.pick(["$computed > 1", "count:(#number) > 1", "$computed == nil", "max:(#number) < 20"]))
        }
        return .dictionaries(step)
    }

    /// Attributes, relationships to one, and attributes behind these.
    private mutating func dictionaryKeyPaths(of entity: EntityLayout) -> [String] {
        func attributes(_ entity: EntityLayout) -> [String] {
            entity.slots.filter { !$0.isTransient && !($0.attribute.map { !Self.isSortable($0) } ?? false) }.map(\.name)
        }
        let behind = entity.toOnes.flatMap { relationship in
            attributes(relationship.destination).map { "\(relationship.name).\($0)" }
        }
        return attributes(entity) + behind
    }

    /// What is kept elsewhere has no order, and is not compared with other values.
    private static func isSortable(_ attribute: AttributeLayout) -> Bool {
        isComparable(attribute.type) && !attribute.allowsExternalStorage
    }
}
