import PredicateFormat

/// The changed objects of a context by the values of their attributes, for fetches that look for a single value.
///
/// A fetch has to find unsaved objects, too. Without an index, a program that looks for each object before it makes it
/// would make the context scan all objects made so far, each time. The index finds a superset of the matches; the
/// caller evaluates the predicate.
///
/// Belongs to a context, on whose queue it is used.
struct PendingIndex {
    /// Each object once, in the order of its first change.
    private var objects: ContiguousArray<NSManagedObject> = []
    private var places: [ObjectIdentifier: Int] = [:]
    private var entities: [Entity] = []
    private var groups: [Group] = []

    /// The largest number of indexed attributes, since each adds a cost to every change.
    private static let limit = 8

    /// An entity of changed objects.
    private struct Entity {
        let layout: EntityLayout
        /// The number of its objects that the stores may have.
        var stored = 0
    }

    /// The objects of one entity by the value of one attribute.
    private struct Group {
        let layout: EntityLayout
        let attribute: AttributeLayout
        let slot: Int
        /// The indexes of the objects with a value. An object may have another value by now, and may occur twice.
        var byValue: [Value: [Int]] = [:]
        /// The indexes of objects whose values are of a kind that is not looked up.
        var others: [Int] = []
        /// The last known value of each object.
        var known: [Int: Value] = [:]

        mutating func note(_ object: NSManagedObject, at place: Int) {
            guard let value = Value(indexing: object, slot, attribute) else {
                if others.last != place { others.append(place) }
                return
            }
            guard known[place] != value else { return }
            known[place] = value
            byValue[value, default: []].append(place)
        }
    }

    /// Adds an object that has changed, for the first time or again.
    mutating func note(_ object: NSManagedObject) {
        let place: Int
        if let known = places[ObjectIdentifier(object)] {
            place = known
        } else {
            place = objects.count
            objects.append(object)
            places[ObjectIdentifier(object)] = place
            let entity = entities.firstIndex { $0.layout === object.layout } ?? entities.count
            if entity == entities.count { entities.append(Entity(layout: object.layout)) }
            if !object.state.contains(.inserted) { entities[entity].stored += 1 }
        }
        for index in groups.indices where groups[index].layout === object.layout {
            groups[index].note(object, at: place)
        }
    }

    /// The largest number of changed objects of some entities that stores may have.
    ///
    /// - Parameter isKind: whether an entity is one of them.
    /// - Returns: the number; nil if none of their objects has changed.
    func storedCount(where isKind: (EntityLayout) -> Bool) -> Int? {
        let found = entities.filter { isKind($0.layout) }
        return found.isEmpty ? nil : found.reduce(0) { $0 + $1.stored }
    }

    /// The objects that a predicate may select, in the order of their first changes.
    ///
    /// - Parameters:
    ///   - equalities: the equalities that the predicate requires.
    ///   - isKind: whether an entity is one of the requested ones.
    /// - Returns: a superset of the selected objects; nil if no equality can be used.
    mutating func candidates(
        _ equalities: [Equality], where isKind: (EntityLayout) -> Bool
    ) -> ContiguousArray<NSManagedObject>? {
        let wanted = entities.filter { isKind($0.layout) }.map(\.layout)
        for equality in equalities {
            guard let groups = groups(of: equality, wanted) else { continue }
            var found: Set<Int> = []
            for index in groups {
                for value in equality.values {
                    for place in self.groups[index].byValue[value] ?? [] { found.insert(place) }
                }
                found.formUnion(self.groups[index].others)
            }
            return ContiguousArray(found.sorted().map { objects[$0] })
        }
        return nil
    }

    /// The indexes of an attribute's groups, which are made if necessary; nil if an entity cannot have one.
    private mutating func groups(of equality: Equality, _ wanted: [EntityLayout]) -> [Int]? {
        var found: [Int] = []
        for layout in wanted {
            guard let slot = layout.slotIndex(forName: equality.key), let attribute = layout.slots[slot].attribute,
                !layout.slots[slot].isTransient, equality.suits(attribute)
            else { return nil }
            if let known = groups.firstIndex(where: { $0.layout === layout && $0.slot == slot }) {
                found.append(known)
                continue
            }
            guard groups.count < Self.limit else { return nil }
            var group = Group(layout: layout, attribute: attribute, slot: slot)
            for place in objects.indices where objects[place].layout === layout {
                group.note(objects[place], at: place)
            }
            found.append(groups.count)
            groups.append(group)
        }
        return found
    }
}

extension PendingIndex {
    /// A requirement of a predicate: that an attribute has one of some values.
    struct Equality: Equatable {
        let key: String
        let values: [Value]

        /// With more values than this, they are not looked up one by one.
        private static let limit = 1000

        /// The equalities of a predicate that must all hold. Pure.
        static func all(in tree: PredicateTree) -> [Equality] {
            switch tree {
            case .and(let parts): return parts.flatMap(all)
            case .comparison(let comparison): return Equality(comparison).map { [$0] } ?? []
            case .constant, .or, .not: return []
            }
        }

        init(key: String, values: [Value]) {
            self.key = key
            self.values = values
        }

        private init?(_ comparison: ComparisonTree) {
            guard comparison.modifier == .direct, comparison.options.isEmpty else { return nil }
            switch (comparison.left, comparison.comparison, comparison.right) {
            case (.keyPath(let keys), .equalTo, .constant(let value)),
                (.constant(let value), .equalTo, .keyPath(let keys)):
                guard keys.count == 1 else { return nil }
                self.init(key: keys[0], values: [value])
            case (.keyPath(let keys), .in, .constant(.collection(let values))):
                guard keys.count == 1, values.count <= Self.limit else { return nil }
                self.init(key: keys[0], values: values)
            default: return nil
            }
        }

        /// Whether an attribute's values equal these exactly if they are identical.
        func suits(_ attribute: AttributeLayout) -> Bool {
            switch attribute.type {
            case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType:
                values.allSatisfy {
                    if case .integer = $0 { true } else { $0.isNull }
                }
            case .stringAttributeType:
                values.allSatisfy {
                    if case .string = $0 { true } else { $0.isNull }
                }
            case .UUIDAttributeType:
                values.allSatisfy {
                    if case .uuid = $0 { true } else { $0.isNull }
                }
            default: false
            }
        }
    }
}

extension Value {
    /// The value of an attribute, to be looked up by equality; nil for a fault, and for a value of another kind.
    fileprivate init?(indexing object: NSManagedObject, _ slot: Int, _ attribute: AttributeLayout) {
        guard slot < object.values.count else { return nil }
        switch object.values[slot] {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .string(let string): self = .string(string)
        case .uuid(let uuid): self = .uuid(uuid)
        case .double, .date, .data, .identifier, .object: return nil
        }
    }
}

/// Unsaved objects by their values that must be unique, scanned once for all violations of a save.
///
/// By value, since new objects have their temporary IDs back while a violation names those of the attempt.
struct UniqueValueIndex {
    private let objects: ContiguousArray<NSManagedObject>
    private var groups: [Constraint: [Values: [NSManagedObject]]] = [:]

    init(_ objects: ContiguousArray<NSManagedObject>) { self.objects = objects }

    /// The unsaved objects with the values of a violation, in the order of their changes.
    mutating func objects(of violation: ConstraintViolation) -> [NSManagedObject] {
        let constraint = Constraint(entity: ObjectIdentifier(violation.entity), names: violation.constraint)
        if groups[constraint] == nil { groups[constraint] = group(violation.entity, violation.constraint) }
        return groups[constraint]?[Values(violation.values)] ?? []
    }

    private func group(_ entity: EntityLayout, _ names: [String]) -> [Values: [NSManagedObject]] {
        let slots = names.compactMap { entity.slotIndex(forName: $0) }
        var group: [Values: [NSManagedObject]] = [:]
        for object in objects where !object.isDeleted && !object.isFault && object.layout.isKind(of: entity) {
            group[Values(slots.map { object.values[$0] }), default: []].append(object)
        }
        return group
    }

    private struct Constraint: Hashable {
        let entity: ObjectIdentifier
        let names: [String]
    }

    private struct Values: Hashable {
        let values: [StoredValue]

        init(_ values: [StoredValue]) { self.values = values }

        func hash(into hasher: inout Hasher) {
            for value in values {
                switch value {
                case .integer(let number): hasher.combine(number)
                case .double(let number), .date(let number): hasher.combine(number.isNaN ? 0 : number)
                case .string(let string): hasher.combine(string)
                case .data(let data): hasher.combine(data)
                case .uuid(let uuid): hasher.combine(uuid)
                case .identifier(let identifier): hasher.combine(identifier)
                // Hashing decimal numbers does not terminate on Linux.
                case .null, .object: hasher.combine(0)
                }
            }
        }
    }
}
