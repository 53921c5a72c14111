import CoreDataModel

/// Makes up predicates as format strings.
struct ConditionMaker {
    var random: SplitMix
    let graph: Graph
    private var arguments: [Condition.Argument] = []
    private var variables = 0
    /// Keys that subqueries are within: an object outside stays in sight.
    private var depthOfSubqueries = 0

    init(random: SplitMix, graph: Graph) { (self.random, self.graph) = (random, graph) }

    mutating func condition(of entity: EntityLayout) -> Condition {
        if random.chance(3) { return Condition(format: random.pick(Self.wrong(entity))) }
        arguments = []
        let format = predicate(entity, "", depth: 2)
        return Condition(format: format, arguments: arguments)
    }

    /// What no engine takes.
    private static func wrong(_ entity: EntityLayout) -> [String] {
        var wrong = ["nosuchkey == 1", "number == nosuchkey", "number IN 5", "#number BETWEEN {1}"]
        if let toMany = entity.toManys.first { wrong.append("\(key(toMany.name)).number > 3") }
        return wrong
    }

    private static func key(_ name: String) -> String { Workload.key(name) }

    /// A predicate as a format string. The origin is what keys start with: nothing, or a variable and a point.
    private mutating func predicate(_ entity: EntityLayout, _ origin: String, depth: Int) -> String {
        switch depth > 0 ? random.below(8) : 7 {
        case 0: return "NOT (\(predicate(entity, origin, depth: depth - 1)))"
        case 1, 2:
            let parts = (0..<2 + random.below(2)).map { _ in "(\(predicate(entity, origin, depth: depth - 1)))" }
            return parts.joined(separator: random.pick([" AND ", " OR "]))
        default: return comparison(entity, origin, depth: depth)
        }
    }

    private mutating func comparison(_ entity: EntityLayout, _ origin: String, depth: Int) -> String {
        switch random.below(12) {
        case 0...1 where !entity.toOnes.isEmpty: return aboutObject(entity, origin)
        case 2...3 where !entity.toManys.isEmpty: return quantified(entity, origin)
        case 4 where !entity.toManys.isEmpty: return counted(entity, origin, depth: depth)
        case 5 where !entity.toManys.isEmpty: return aboutObjects(entity, origin)
        case 6: return aboutEntity(entity, origin)
        case 7: return computed(entity, origin)
        default:
            let (path, attribute) = attributePath(entity)
            return compare(origin + path, attribute)
        }
    }

    // MARK: Values

    /// An attribute of an entity, of one below it, or of the object at the end of a relationship to one.
    private mutating func attributePath(_ entity: EntityLayout) -> (String, AttributeLayout) {
        var (path, end) = ("", entity)
        while random.chance(25), !end.toOnes.isEmpty {
            let relationship = random.pick(end.toOnes)
            path += "\(Self.key(relationship.name))."
            end = relationship.destination
        }
        if random.chance(15) { end = random.pick(end.selfAndSubentities) }
        let attribute = attribute(of: end)
        return (path + Self.key(attribute.name), attribute)
    }

    private mutating func attribute(of entity: EntityLayout) -> AttributeLayout {
        random.pick(
            entity.slots.filter { !$0.isTransient }.compactMap(\.attribute).filter { Workload.isComparable($0.type) })
    }

    private mutating func constant(of attribute: AttributeLayout) -> String {
        random.value(of: attribute, inStore: false).format
    }

    private mutating func compare(_ path: String, _ attribute: AttributeLayout) -> String {
        // What is kept elsewhere has no order.
        if attribute.allowsExternalStorage {
            return "\(path) \(random.pick(["==", "!="])) \(constant(of: attribute))"
        }
        let isText = attribute.type == .stringAttributeType
        if isText, random.chance(50) { return compareText(path) }
        switch random.below(8) {
        case 0: return "\(path) \(random.pick(["==", "!="])) nil"
        case 1:
            let list = (0..<random.below(4)).map { _ in constant(of: attribute) }
            return "\(path) IN {\(list.joined(separator: ", "))}"
        case 2 where attribute.type != .booleanAttributeType:
            let bounds = [constant(of: attribute), constant(of: attribute)].filter { $0 != "nil" }
            if bounds.count == 2 { return "\(path) BETWEEN {\(bounds.joined(separator: ", "))}" }
        default: break
        }
        return "\(path) \(random.pick(["==", "!=", "<", "<=", ">", ">="])) \(constant(of: attribute))"
    }

    private mutating func compareText(_ path: String) -> String {
        let options = random.pick(["", "", "[c]", "[d]", "[cd]", "[n]"])
        switch random.below(6) {
        case 0: return "\(path) LIKE\(options) \(random.pick(["'*'", "'a*'", "'*b'", "'a?b'", "'*é*'", "'?'"]))"
        case 1: return "\(path) MATCHES\(options) \(random.pick(["'.*'", "'a.?'", "'[aA]b?'", "'é'", "'(a|b)+'"]))"
        default:
            let text = PlainValue.text(random.pick(SplitMix.texts)).format
            return "\(path) \(random.pick(["BEGINSWITH", "ENDSWITH", "CONTAINS", "==", "!=", "<"]))\(options) \(text)"
        }
    }

    private mutating func computed(_ entity: EntityLayout, _ origin: String) -> String {
        let numbers =
            entity.slots.compactMap(\.attribute).filter {
                $0.type == .integer16AttributeType || $0.type == .integer32AttributeType
                    || $0.type == .doubleAttributeType
            }.map(\.name) + [EntityLayout.numberName]
        let key = origin + Self.key(random.pick(numbers))
        let left = random.pick([
            "\(key) * 2 + 1", "\(key) - 3", "\(key) / 2", "modulus:by:(\(key), 3)", "abs(\(key))", "-\(key)",
            "TERNARY(\(key) > 3, 1, \(key))",
        ])
        return "\(left) \(random.pick(["==", "!=", "<", ">="])) \(random.below(6))"
    }

    // MARK: Objects

    private mutating func argument(of entity: EntityLayout) -> String {
        let known = graph.numbers(of: entity)
        guard !known.isEmpty, !random.chance(15) else { return "nil" }
        arguments.append(.object(random.pick(known)))
        return "%@"
    }

    private mutating func aboutObject(_ entity: EntityLayout, _ origin: String) -> String {
        let relationship = random.pick(entity.toOnes)
        let path = origin + Self.key(relationship.name)
        if random.chance(25) {
            let list = (0..<1 + random.below(2)).map { _ in argument(of: relationship.destination) }
            return "\(path) IN {\(list.joined(separator: ", "))}"
        }
        return "\(path) \(random.pick(["==", "!="])) \(argument(of: relationship.destination))"
    }

    private mutating func aboutEntity(_ entity: EntityLayout, _ origin: String) -> String {
        if random.chance(50) {
            let itself = origin.isEmpty ? "SELF" : String(origin.dropLast())
            return "\(itself) \(random.pick(["==", "!="])) \(argument(of: entity))"
        }
        arguments.append(.entity(random.pick(entity.root.selfAndSubentities).name))
        return "\(origin)entity \(random.pick(["==", "!="])) %@"
    }

    private mutating func aboutObjects(_ entity: EntityLayout, _ origin: String) -> String {
        let relationship = random.pick(entity.toManys)
        let path = origin + Self.key(relationship.name)
        switch random.below(4) {
        case 0 where origin.isEmpty:
            let object = argument(of: relationship.destination)
            return object == "nil" ? "\(path) == nil" : "\(object) IN \(path)"
        case 1 where origin.isEmpty:
            let object = argument(of: relationship.destination)
            return object == "nil" ? "\(path) != nil" : "\(path) CONTAINS \(object)"
        case 2 where origin.isEmpty: return "\(path) \(random.pick(["==", "!="])) nil"
        default: return "ANY \(path) \(random.pick(["==", "!="])) \(argument(of: relationship.destination))"
        }
    }

    private mutating func quantified(_ entity: EntityLayout, _ origin: String) -> String {
        let relationship = random.pick(entity.toManys)
        var path = origin + Self.key(relationship.name) + "."
        var end = relationship.destination
        if random.chance(25), let further = end.toManys.isEmpty ? nil : random.pick(end.toManys) {
            path += Self.key(further.name) + "."
            end = further.destination
        }
        let attribute = attribute(of: end)
        return "\(random.pick(["ANY", "ALL", "NONE"])) \(compare(path + Self.key(attribute.name), attribute))"
    }

    private mutating func counted(_ entity: EntityLayout, _ origin: String, depth: Int) -> String {
        let relationship = random.pick(entity.toManys)
        let path = origin + Self.key(relationship.name)
        let sign = random.pick(["==", "!=", "<", ">="])
        switch random.below(3) {
        case 0:
            variables += 1
            let variable = "$v\(variables)"
            let inner = predicate(relationship.destination, "\(variable).", depth: min(depth, 1) - 1)
            return "SUBQUERY(\(path), \(variable), \(inner)).@count \(sign) \(random.below(3))"
        case 1:
            let numbers =
                relationship.destination.slots.compactMap(\.attribute).filter {
                    $0.type == .integer16AttributeType || $0.type == .doubleAttributeType
                }.map(\.name) + [EntityLayout.numberName]
            let operation = random.pick(["@sum", "@avg", "@min", "@max"])
            return "\(path).\(operation).\(Self.key(random.pick(numbers))) \(sign) \(random.below(8))"
        default: return "\(path).@count \(sign) \(random.below(3))"
        }
    }
}
