import CoreData

/// Makes predicates about an entity at random, out of the whole language that a store runs.
struct RandomPredicates {
    var random: SeededNumbers
    /// Objects that predicates may name, by entity.
    let objects: [String: [NSManagedObject]]
    private var variables = 0

    init(_ random: SeededNumbers, objects: [String: [NSManagedObject]]) {
        self.random = random
        self.objects = objects
    }

    mutating func predicate(of entity: NSEntityDescription, depth: Int = 3) -> PredicateTree {
        predicate(Place(entity: entity), depth: depth)
    }

    mutating func sortDescriptors(of entity: NSEntityDescription) -> [NSSortDescriptor] {
        (0..<random.number(below: 3)).compactMap { _ in
            let path = attributePath(Place(entity: entity)) { $0 != .binaryDataAttributeType }
            guard let path else { return nil }
            let selectors = [nil, "caseInsensitiveCompare:", "localizedStandardCompare:", "localizedCompare:"]
            let selector = path.type == .stringAttributeType ? random.pick(selectors) : nil
            let (key, ascending) = (path.keys.joined(separator: "."), random.once(in: 2))
            guard let selector else { return NSSortDescriptor(key: key, ascending: ascending) }
            return NSSortDescriptor(key: key, ascending: ascending, selector: Selector(selector))
        }
    }

    // MARK: Places

    /// Where keys start: at the evaluated object, or at a subquery's variable.
    struct Place {
        var entity: NSEntityDescription
        var variable: String?

        func path(_ keys: [String]) -> ExpressionTree {
            guard let variable else { return keys.isEmpty ? .evaluatedObject : .keyPath(keys) }
            return keys.isEmpty ? .variable(variable) : .path(from: .variable(variable), keys)
        }
    }

    struct AttributePath {
        let keys: [String]
        let type: NSAttributeType
    }

    private mutating func relationship(
        _ entity: NSEntityDescription, toMany: Bool
    ) -> (String, NSEntityDescription)? {
        let all = entity.relationshipsByName.filter { $0.value.isToMany == toMany }.sorted { $0.key < $1.key }
        guard !all.isEmpty else { return nil }
        let found = random.pick(all)
        return found.value.destinationEntity.map { (found.key, $0) }
    }

    /// A path to many objects, perhaps over a to-one relationship.
    private mutating func many(_ place: Place) -> ([String], NSEntityDescription)? {
        let start = random.once(in: 3) ? relationship(place.entity, toMany: false) : nil
        let found = relationship(start?.1 ?? place.entity, toMany: true)
        return found.map { ((start.map { [$0.0] } ?? []) + [$0.0], $0.1) }
    }

    /// A path to an attribute, perhaps over to-one relationships.
    private mutating func attributePath(
        _ place: Place, _ isWanted: (NSAttributeType) -> Bool = { _ in true }
    ) -> AttributePath? {
        var entity = place.entity
        var keys: [String] = []
        while keys.count < 2, random.once(in: 3), let (name, destination) = relationship(entity, toMany: false) {
            keys.append(name)
            entity = destination
        }
        let attributes = entity.attributesByName.filter { isWanted($0.value.attributeType) }.sorted { $0.key < $1.key }
        guard !attributes.isEmpty else { return nil }
        let attribute = random.pick(attributes)
        return AttributePath(keys: keys + [attribute.key], type: attribute.value.attributeType)
    }

    // MARK: Predicates

    private mutating func predicate(_ place: Place, depth: Int) -> PredicateTree {
        switch depth > 0 ? random.number(below: 9) : 8 {
        case 0, 1: return .not(predicate(place, depth: depth - 1))
        case 2: return .and([predicate(place, depth: depth - 1), predicate(place, depth: depth - 1)])
        case 3: return .or([predicate(place, depth: depth - 1), predicate(place, depth: depth - 1)])
        default:
            if random.once(in: 40) { return .constant(random.once(in: 2)) }
            return .comparison(comparison(place, depth: depth))
        }
    }

    private mutating func comparison(_ place: Place, depth: Int) -> ComparisonTree {
        switch random.number(below: 12) {
        case 0, 1: return quantified(place)
        case 2: return subquery(place, depth: depth)
        case 3: return aboutObject(place)
        case 4: return aboutObjects(place)
        case 5, 6: return aboutNumbers(place, depth: 2)
        case 7: return twoKeys(place)
        default:
            guard let path = attributePath(place) else { return aboutObject(place) }
            return compare(place.path(path.keys), path.type)
        }
    }

    private static let orders: [ComparisonOperator] = [
        .equalTo, .notEqualTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo,
    ]

    private mutating func value(_ type: NSAttributeType) -> Value {
        random.once(in: 8) ? .null : RandomValues.value(of: type, &random)
    }

    /// An expression of a type compared with constants.
    private mutating func compare(_ left: ExpressionTree, _ type: NSAttributeType) -> ComparisonTree {
        if type == .stringAttributeType { return compareText(left) }
        switch random.number(below: 8) {
        case 0: return ComparisonTree(left, .in, .constant(.collection(values(type))))
        case 1:
            let bounds = [value(type), value(type)].filter { !$0.isNull }
            guard bounds.count == 2 else { return ComparisonTree(left, .notEqualTo, .constant(.null)) }
            return ComparisonTree(left, .between, .constant(.collection(bounds)))
        case 2: return ComparisonTree(.constant(value(type)), random.pick(Self.orders), left)
        default: return ComparisonTree(left, random.pick(Self.orders), .constant(value(type)))
        }
    }

    private mutating func values(_ type: NSAttributeType) -> [Value] {
        (0..<random.number(below: 4)).map { _ in value(type) }
    }

    private mutating func compareText(_ left: ExpressionTree) -> ComparisonTree {
        let operations = Self.orders + [.like, .matches, .beginsWith, .endsWith, .contains, .in, .between]
        let operation = random.pick(operations)
        let constant: Value
        switch operation {
        case .in: constant = .collection(values(.stringAttributeType))
        case .between: constant = .collection([.string(random.pick(["", "a"])), .string(random.pick(["b", "é"]))])
        case .like: constant = .string(random.pick(["*", "a*", "*b", "?", "a?b", "*é*", "", #"a\*b"#, "*?b*", "🍏"]))
        case .matches:
            constant = .string(
                random.pick([".*", "a.b", "[aA]b?", "é", ".", "", "(a|b)+", "[^a]+", #"\d+"#, "a*b*.", #"\."#]))
        default: constant = value(.stringAttributeType)
        }
        let options: StringOptions = random.pick([
            [], [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive], .normalized,
        ])
        return ComparisonTree(text(left), operation, .constant(constant), options: options)
    }

    private mutating func text(_ tree: ExpressionTree) -> ExpressionTree {
        random.once(in: 6) ? .function(random.pick([.lowercase, .uppercase]), [tree]) : tree
    }

    private mutating func twoKeys(_ place: Place) -> ComparisonTree {
        guard let left = attributePath(place), let right = attributePath(place, { $0 == left.type }) else {
            return aboutObject(place)
        }
        let options: StringOptions =
            left.type == .stringAttributeType ? random.pick([[], .caseInsensitive, .diacriticInsensitive]) : []
        var operations = Self.orders
        if left.type == .stringAttributeType { operations += [.contains, .beginsWith, .endsWith, .in, .like] }
        return ComparisonTree(
            place.path(left.keys), random.pick(operations), place.path(right.keys), options: options)
    }

    // MARK: Numbers

    private static func isNumber(_ type: NSAttributeType) -> Bool {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
            .floatAttributeType:
            true
        default: false
        }
    }

    private mutating func aboutNumbers(_ place: Place, depth: Int) -> ComparisonTree {
        let left = number(place, depth: depth)
        if random.once(in: 3) { return ComparisonTree(left, random.pick(Self.orders), number(place, depth: depth - 1)) }
        return compare(left, random.pick([.integer16AttributeType, .doubleAttributeType]))
    }

    private mutating func number(_ place: Place, depth: Int) -> ExpressionTree {
        switch depth > 0 ? random.number(below: 8) : 7 {
        case 0, 1:
            let function = random.pick([BuiltInFunction.add, .subtract, .multiply, .divide, .modulus])
            return .function(function, [number(place, depth: depth - 1), number(place, depth: depth - 1)])
        case 2:
            let function = random.pick([BuiltInFunction.absolute, .ceiling, .floor, .truncate, .negate])
            return .function(function, [number(place, depth: depth - 1)])
        case 3:
            guard let path = attributePath(place, { $0 == .stringAttributeType }) else { break }
            return .function(.length, [place.path(path.keys)])
        case 4:
            return .conditional(
                .comparison(comparison(place, depth: 0)), then: number(place, depth: depth - 1),
                otherwise: number(place, depth: depth - 1))
        case 5, 6:
            if random.once(in: 6), let (name, _) = relationship(place.entity, toMany: false) {
                return place.path([name, "@count"])
            }
            guard let (keys, destination) = many(place) else { break }
            if random.once(in: 2) { return place.path(keys + ["@count"]) }
            guard let path = attributePath(Place(entity: destination), Self.isNumber) else { break }
            return place.path(keys + [random.pick(["@sum", "@min", "@max", "@avg"])] + path.keys)
        default: break
        }
        if !random.once(in: 4), let path = attributePath(place, Self.isNumber) { return place.path(path.keys) }
        return .constant(RandomValues.value(of: random.pick([.integer16AttributeType, .doubleAttributeType]), &random))
    }

    // MARK: To-many relationships

    private mutating func quantified(_ place: Place) -> ComparisonTree {
        guard var (keys, end) = many(place) else { return aboutObject(place) }
        if random.once(in: 4), let (next, further) = relationship(end, toMany: true) {
            keys.append(next)
            end = further
        }
        guard let path = attributePath(Place(entity: end)) else { return aboutObject(place) }
        let expression = place.path(keys + path.keys)
        if random.once(in: 6) {
            // An element of the values, from either side.
            let constant = ExpressionTree.constant(RandomValues.value(of: path.type, &random))
            return random.once(in: 2)
                ? ComparisonTree(constant, .in, expression) : ComparisonTree(expression, .contains, constant)
        }
        var comparison = compare(expression, path.type)
        if random.once(in: 5), let other = attributePath(place, { $0 == path.type }) {
            comparison = ComparisonTree(expression, random.pick(Self.orders), place.path(other.keys))
        }
        guard comparison.left == expression else { return aboutObjects(place) }
        comparison.modifier = random.pick([.any, .all])
        return comparison
    }

    private mutating func subquery(_ place: Place, depth: Int) -> ComparisonTree {
        guard let (keys, destination) = many(place) else { return aboutObject(place) }
        variables += 1
        let inner = Place(entity: destination, variable: "v\(variables)")
        var condition = predicate(inner, depth: min(depth, 2) - 1)
        if random.once(in: 3) {
            // The object outside stays in sight.
            condition = .and([condition, .comparison(aboutNumbers(place, depth: 1))])
        }
        let result = ExpressionTree.subquery(of: place.path(keys), variable: inner.variable ?? "", condition)
        return ComparisonTree(
            .path(from: result, ["@count"]), random.pick(Self.orders),
            .constant(.integer(Int64(random.number(below: 4)))))
    }

    // MARK: Objects

    private mutating func object(of entity: NSEntityDescription) -> ExpressionTree {
        guard let known = objects[entity.name ?? ""], !known.isEmpty, !random.once(in: 5) else {
            return .constant(.null)
        }
        return .constant(.object(random.pick(known)))
    }

    /// About the object itself, or the one at the end of a to-one relationship.
    private mutating func aboutObject(_ place: Place) -> ComparisonTree {
        let (left, entity): (ExpressionTree, NSEntityDescription)
        if !random.once(in: 4), let (name, destination) = relationship(place.entity, toMany: false) {
            (left, entity) = (place.path([name]), destination)
        } else {
            (left, entity) = (place.path([]), place.entity)
        }
        if random.once(in: 3) {
            let list = (0..<random.number(below: 3)).map { _ in object(of: entity) }
            return ComparisonTree(left, .in, .collection(of: list))
        }
        return ComparisonTree(left, random.pick([.equalTo, .notEqualTo]), object(of: entity))
    }

    /// About the objects of a to-many relationship.
    private mutating func aboutObjects(_ place: Place) -> ComparisonTree {
        guard let (name, destination) = relationship(place.entity, toMany: true) else { return aboutObject(place) }
        let path = place.path([name])
        guard let known = objects[destination.name ?? ""], !known.isEmpty, !random.once(in: 3) else {
            return ComparisonTree(path, random.pick([.equalTo, .notEqualTo]), .constant(.null))
        }
        let object = ExpressionTree.constant(.object(random.pick(known)))
        switch random.number(below: 4) {
        case 0: return ComparisonTree(object, .in, path)
        case 1: return ComparisonTree(path, .contains, object)
        case 2:
            return ComparisonTree(
                path, random.pick([.equalTo, .notEqualTo]), object, modifier: random.pick([.any, .all]))
        default:
            let list = (0..<1 + random.number(below: 2)).map { _ in ExpressionTree.constant(.object(random.pick(known)))
            }
            return ComparisonTree(path, .in, .collection(of: list), modifier: random.pick([.any, .all]))
        }
    }
}
