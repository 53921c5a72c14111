import CoreDataModel
import Foundation
import StoreEngine

/// An engine at work: knows its IDs by the numbers of steps, and what it holds.
final class Session {
    private let maker: any EngineUnderTest
    private let model: NSManagedObjectModel
    let layout: ModelLayout
    private(set) var engine: any StoreEngine
    private(set) var graph = Graph()
    /// Whether `graph` may not be what the engine holds now.
    var isChanged = false
    /// IDs by number, and numbers by ID, those of objects that are gone included.
    private var identifiers: [Int: NSManagedObjectID] = [:]
    private var numbers: [NSManagedObjectID: Int] = [:]

    init(_ maker: any EngineUnderTest, _ model: NSManagedObjectModel) throws {
        self.maker = maker
        self.model = model
        layout = try model.compiledLayout()
        engine = try maker.makeEngine(for: model)
    }

    deinit { maker.discard(engine) }

    func reopen() throws { engine = try maker.reopen(engine, for: model) }

    func identifier(_ number: Int) -> NSManagedObjectID? { identifiers[number] }

    /// The number of an object. It is negative for an ID that was never heard of, or whose entity is not that of the
    /// object.
    func number(_ identifier: NSManagedObjectID) -> Int {
        guard let number = numbers[identifier] else { return -1 - Int(identifier.key) }
        guard let known = identifiers[number], known.layout !== identifier.layout else { return number }
        return -1_000_000 - number
    }

    /// Learns the IDs of new objects.
    func assign(_ new: [(number: Int, entity: EntityLayout)]) throws {
        let made = try engine.makePermanentIdentifiers(for: new.map(\.entity), isSavedLater: false)
        guard made.count == new.count, Set(made).count == made.count else {
            throw Contradiction("\(new.count) IDs were wanted, and came as \(made)")
        }
        for (object, identifier) in zip(new, made) {
            // What was handed out in a transaction that was taken back may be handed out again.
            let isTaken = numbers[identifier].map { graph.objects[$0] != nil } ?? false
            guard identifier.layout === object.entity, !isTaken else {
                throw Contradiction("the ID \(identifier) was handed out for a new \(object.entity.name)")
            }
            know(identifier, as: object.number)
        }
    }

    private func know(_ identifier: NSManagedObjectID, as number: Int) {
        if let former = numbers[identifier], former != number, identifiers[former] == identifier {
            identifiers[former] = nil
        }
        identifiers[number] = identifier
        numbers[identifier] = number
    }

    // MARK: State

    /// Reads all that the engine holds.
    func read() throws {
        var rows: [Row] = []
        for root in layout.entities where root.superentity == nil {
            for row in try engine.fetchRows(FetchPlan(entity: root)) {
                guard case .integer(let number) = row.values[row.objectID.layout.numberSlot] else {
                    throw Contradiction("\(row.objectID) has no number")
                }
                know(row.objectID, as: Int(number))
                rows.append(row)
            }
        }
        var read = Graph()
        for row in rows {
            let entity = row.objectID.layout
            guard read.objects.updateValue(object(row), forKey: number(row.objectID)) == nil else {
                throw Contradiction("there are two objects \(entity.name) \(number(row.objectID))")
            }
        }
        for entity in layout.entities {
            let sources = rows.map(\.objectID).filter { $0.layout === entity }
            for relationship in entity.toManys where !sources.isEmpty {
                let lists = try engine.destinations(of: relationship, for: sources)
                try checkDestinations(of: relationship, sources, are: lists)
                for (source, list) in zip(sources, lists) {
                    let destinations = list.map(number)
                    // Where there is no order, none is compared.
                    read.objects[number(source)]?.toManys[relationship.index] =
                        relationship.isOrdered ? destinations : destinations.sorted()
                }
            }
        }
        try checkRowsByIdentifier(rows)
        graph = read
        isChanged = false
    }

    /// What is handed out one by one is what comes in lists.
    private func checkDestinations(
        of relationship: RelationshipLayout, _ sources: [NSManagedObjectID], are lists: [[NSManagedObjectID]]
    ) throws {
        var found: [[NSManagedObjectID]] = Array(repeating: [], count: sources.count)
        try engine.forEachDestination(of: relationship, for: sources) { place, row in
            found[place].append(row.objectID)
        }
        let same = zip(found, lists).allSatisfy { relationship.isOrdered ? $0 == $1 : Set($0) == Set($1) }
        guard same, zip(found, lists).allSatisfy({ $0.count == $1.count }) else {
            throw Contradiction("\(relationship.name) leads to \(lists), and hands out \(found)")
        }
    }

    /// What is handed out by identifier, and by the value of an attribute, is what was fetched.
    private func checkRowsByIdentifier(_ rows: [Row]) throws {
        let identifiers = rows.map(\.objectID)
        var found: [Int: Row] = [:]
        try engine.forEachRow(for: identifiers) { place, row in found[place] = try row.whole() }
        for (place, row) in rows.enumerated() {
            guard let other = found[place], other.objectID == row.objectID, other.version == row.version,
                plain(other) == plain(row)
            else { throw Contradiction("\(row.objectID) is handed out as \(found[place].map(plain) ?? [])") }
        }
        for entity in layout.entities where entity.superentity == nil {
            let numbers = rows.filter { $0.objectID.layout.root === entity }.map {
                $0.values[$0.objectID.layout.numberSlot]
            }
            var named: [NSManagedObjectID] = []
            try engine.forEachRow(of: entity, where: entity.numberSlot, isAmong: numbers) { named.append($0.objectID) }
            guard Set(named) == Set(identifiers.filter { $0.layout.root === entity }), named.count == numbers.count
            else { throw Contradiction("\(numbers.count) \(entity.name) are asked for by number, and \(named) come") }
            // One value may take a way of its own.
            guard let last = numbers.last else { continue }
            named = []
            try engine.forEachRow(of: entity, where: entity.numberSlot, isAmong: [last]) { named.append($0.objectID) }
            guard named.count == 1, let row = rows.first(where: { $0.objectID == named[0] }),
                row.values[entity.numberSlot] == last
            else { throw Contradiction("one \(entity.name) is asked for by number, and \(named) come") }
        }
    }

    /// Reads all that the engine holds, unless that has just been done.
    func readChanges() throws { if isChanged { try read() } }

    /// Looks for pairs of many-to-many relationships that lead to nothing, where the engine can tell.
    func checkPairs() throws {
        guard let inspection = engine.inspection else { return }
        for entity in layout.entities {
            for relationship in entity.toManys where relationship.isManyToMany {
                let found = try inspection.danglingReferences(of: relationship, from: entity)
                if !found.isEmpty {
                    throw Contradiction("\(entity.name).\(relationship.name) leads to nothing: \(found)")
                }
            }
        }
    }

    /// An object without its to-many relationships.
    private func object(_ row: Row) -> Graph.Object {
        Graph.Object(
            entity: row.objectID.layout, version: row.version, values: plain(row),
            toManys: row.objectID.layout.relationships.map { _ in [] })
    }

    /// The values of a row, numbers for objects.
    func plain(_ row: Row) -> ContiguousArray<StoredValue> {
        var values = row.values
        for relationship in row.objectID.layout.toOnes {
            guard case .identifier(let destination) = values[relationship.slot] else { continue }
            values[relationship.slot] = .integer(Int64(number(destination)))
        }
        return values
    }

    // MARK: Requests

    func entity(_ name: String) throws -> EntityLayout {
        guard let entity = layout.entityByName[name] else { throw Contradiction("there is no entity \(name)") }
        return entity
    }

    func plan(_ step: FetchStep) throws -> FetchPlan {
        var plan = FetchPlan(entity: try entity(step.entity))
        plan.includesSubentities = step.includesSubentities
        plan.predicate = try step.condition.map(predicate)
        plan.sortDescriptors = step.order.map { order in
            guard let selector = order.selector else {
                return NSSortDescriptor(key: order.key, ascending: order.ascending)
            }
            return NSSortDescriptor(key: order.key, ascending: order.ascending, selector: Selector(selector))
        }
        (plan.limit, plan.offset) = (step.limit, step.offset)
        return plan
    }

    func predicate(_ condition: Condition) throws -> NSPredicate {
        try NSPredicate(
            parsing: condition.format,
            arguments: condition.arguments.map { argument -> Any? in
                switch argument {
                case .object(let number): identifiers[number].map(ArgumentObject.init)
                case .entity(let name): layout.entityByName[name]?.description
                }
            })
    }
}
