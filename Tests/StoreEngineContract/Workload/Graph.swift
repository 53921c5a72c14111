import CoreDataModel
import StoreEngine

/// All objects of a store by number, as values: what engines are compared by, and what a program would work on.
struct Graph {
    struct Object {
        let entity: EntityLayout
        var version: Int64
        /// The values by slot. An object at the end of a to-one relationship is its number, as an integer.
        var values: ContiguousArray<StoredValue>
        /// The destinations by the relationship's index, none for to-one relationships.
        var toManys: [[Int]]

        func toOne(_ relationship: RelationshipLayout) -> Int? {
            if case .integer(let number) = values[relationship.slot] { return Int(number) }
            return nil
        }

        /// Whether all but the version is the same.
        func hasSameContent(as other: Object) -> Bool {
            entity === other.entity && values == other.values && toManys == other.toManys
        }
    }

    var objects: [Int: Object] = [:]

    /// The objects of an entity and those below it, in order.
    func numbers(of entity: EntityLayout) -> [Int] {
        objects.filter { $0.value.entity.isKind(of: entity) }.keys.sorted()
    }

    func contains(_ number: Int, of entity: EntityLayout) -> Bool {
        objects[number]?.entity.isKind(of: entity) ?? false
    }
}

extension EntityLayout {
    /// The attribute that every entity of a contract's model has, by which objects are named.
    static let numberName = "number"
    var numberSlot: Int { slotIndex(forName: Self.numberName) ?? 0 }
}

/// A graph that a program changes: inverses and delete rules are followed as a context does it. Pure.
struct GraphEditor {
    let former: Graph
    private(set) var graph: Graph
    private(set) var deleted: Set<Int> = []

    init(_ graph: Graph) { (former, self.graph) = (graph, graph) }

    mutating func insert(_ number: Int, _ entity: EntityLayout) {
        guard graph.objects[number] == nil else { return }
        var values = entity.defaultValues
        values[entity.numberSlot] = .integer(Int64(number))
        graph.objects[number] = Graph.Object(
            entity: entity, version: 0, values: values, toManys: entity.relationships.map { _ in [] })
    }

    mutating func set(_ number: Int, slot: Int, _ value: StoredValue) {
        graph.objects[number]?.values[slot] = value
    }

    mutating func setToOne(_ number: Int, _ relationship: RelationshipLayout, _ destination: Int?) {
        guard let object = graph.objects[number], object.toOne(relationship) != destination else { return }
        if let destination, !graph.contains(destination, of: relationship.destination) { return }
        if let old = object.toOne(relationship), let inverse = relationship.inverse {
            disconnect(old, inverse, from: number)
        }
        graph.objects[number]?.values[relationship.slot] = destination.map { .integer(Int64($0)) } ?? .null
        if let destination, let inverse = relationship.inverse {
            connect(destination, inverse, to: number, inverse: relationship)
        }
    }

    mutating func setToMany(_ number: Int, _ relationship: RelationshipLayout, _ destinations: [Int]) {
        guard let object = graph.objects[number] else { return }
        var list: [Int] = []
        for destination in destinations
        where !list.contains(destination) && graph.contains(destination, of: relationship.destination) {
            list.append(destination)
        }
        let old = object.toManys[relationship.index]
        for destination in old where !list.contains(destination) {
            if let inverse = relationship.inverse { disconnect(destination, inverse, from: number) }
        }
        for destination in list where !old.contains(destination) {
            if let inverse = relationship.inverse {
                connect(destination, inverse, to: number, inverse: relationship)
            } else {
                // Without an inverse, too, an object has one owner: it leaves the former one.
                for other in graph.objects.keys where graph.objects[other]?.has(relationship) == true {
                    graph.objects[other]?.toManys[relationship.index].removeAll { $0 == destination }
                }
            }
        }
        graph.objects[number]?.toManys[relationship.index] = list
    }

    /// Makes an end of a relationship forget an object.
    private mutating func disconnect(_ number: Int, _ relationship: RelationshipLayout, from other: Int) {
        guard let object = graph.objects[number] else { return }
        if relationship.isToMany {
            graph.objects[number]?.toManys[relationship.index].removeAll { $0 == other }
        } else if object.toOne(relationship) == other {
            graph.objects[number]?.values[relationship.slot] = .null
        }
    }

    private mutating func connect(
        _ number: Int, _ relationship: RelationshipLayout, to other: Int, inverse: RelationshipLayout
    ) {
        guard let object = graph.objects[number] else { return }
        if relationship.isToMany {
            if !object.toManys[relationship.index].contains(other) {
                graph.objects[number]?.toManys[relationship.index].append(other)
            }
            return
        }
        if let former = object.toOne(relationship), former != other { disconnect(former, inverse, from: number) }
        graph.objects[number]?.values[relationship.slot] = .integer(Int64(other))
    }

    /// Deletes an object as its delete rules say, or nothing where one of them forbids it.
    mutating func delete(_ number: Int) {
        var next = self
        var rest = [number]
        while let doomed = rest.popLast() {
            guard let object = next.graph.objects[doomed], next.deleted.insert(doomed).inserted else { continue }
            for relationship in object.entity.relationships {
                let destinations = object.related(relationship).filter { !next.deleted.contains($0) }
                switch relationship.deleteRule {
                case .cascadeDeleteRule: rest += destinations
                case .nullifyDeleteRule:
                    guard let inverse = relationship.inverse else { continue }
                    for destination in destinations { next.disconnect(destination, inverse, from: doomed) }
                case .denyDeleteRule, .noActionDeleteRule: continue
                }
            }
        }
        let isDenied = next.deleted.contains { number in
            guard let object = next.graph.objects[number] else { return false }
            return object.entity.relationships.contains { relationship in
                relationship.deleteRule == .denyDeleteRule
                    && object.related(relationship).contains {
                        next.graph.objects[$0] != nil && !next.deleted.contains($0)
                    }
            }
        }
        if !isDenied { self = next }
    }
}

extension Graph.Object {
    func has(_ relationship: RelationshipLayout) -> Bool {
        entity.relationships.indices.contains(relationship.index)
            && entity.relationships[relationship.index] === relationship
    }

    func related(_ relationship: RelationshipLayout) -> [Int] {
        relationship.isToMany ? toManys[relationship.index] : toOne(relationship).map { [$0] } ?? []
    }
}
