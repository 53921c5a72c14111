import Foundation
import TestSupport

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine

/// A random model, and the tables that a system with naming habits of its own makes for it: which column is which
/// property's is known, whatever the names are. Written without a look at the code that it checks.
struct SimulatedStore {
    /// What is unusual about the names.
    enum Habit: CaseIterable {
        /// Nothing: names are as Core Data's.
        case none
        /// The entities have other numbers than by name.
        case renumbered
        /// Numbers that tell equal names apart begin later, or are given in another order to columns of different
        /// types.
        case otherSuffixes
        /// Long names are cut.
        case truncated
        /// Capitals of letters with marks have none, or are composed otherwise.
        case otherLetters
        /// Numbers in the names of join tables, and of owners, are others.
        case otherJoins
        /// Columns that accompany those of relationships have other numbers: order columns those of the relationships'
        /// own columns, as earlier versions of Pippin made them; columns of entities, and order columns in join tables,
        /// those of their own names.
        case otherDependents
        /// A few columns and join tables are not there.
        case dropped
    }

    let model: NSManagedObjectModel
    private(set) var catalog: StoreCatalog
    /// The columns, by `Entity.property` or `Entity.composite.element`; join tables as `table(source, destination)`.
    private(set) var truth: [String: String] = [:]
    /// The columns with the places in ordered relationships, by `Entity.property`.
    private(set) var orders: [String: String] = [:]
    /// The columns with the entities of to-one relationships' destinations, by `Entity.property`.
    private(set) var entityColumns: [String: String] = [:]

    private var random: SplitMix
    private let habits: Set<Habit>
    private let numbers: [String: Int]

    init(seed: UInt64, habits: Set<Habit>) {
        var random = SplitMix(state: seed)
        let made = SimulatedModel(&random)
        model = made.model
        var numbers: [String: Int] = [:]
        for (index, name) in made.numbered.enumerated() { numbers[name] = index + 1 }
        if habits.contains(.renumbered) {
            let places = Array(1...made.numbered.count).shuffled(using: &random)
            for (name, place) in zip(made.numbered, places) { numbers[name] = place + (place > 2 ? 5 : 0) }
        }
        self.habits = habits
        self.numbers = numbers
        self.random = random
        catalog = StoreCatalog(numbers: numbers, tables: [:])
        for root in made.roots { add(root, made) }
        addJoins(made)
        if habits.contains(.dropped) { drop() }
    }

    private func number(_ entity: String) -> Int { numbers[entity] ?? 0 }

    private static func inverse(of property: SimulatedModel.Property) -> String {
        (property.description as? NSRelationshipDescription)?.inverseName ?? ""
    }

    // MARK: Names

    private func capitals(_ name: String) -> String {
        guard habits.contains(.otherLetters) else { return name.uppercased() }
        return name.uppercased().decomposedStringWithCanonicalMapping
    }

    private func cut(_ name: String) -> String { habits.contains(.truncated) ? String(name.prefix(20)) : name }

    // MARK: Tables of entities

    private struct Wanted {
        var key: String
        var base: String
        var type: String
        /// The relationship that has the order: `Entity.property`.
        var order: String?
        var hasEntity: Int?
    }

    private mutating func add(_ root: SimulatedModel.Entity, _ made: SimulatedModel) {
        var wanted: [Wanted] = []
        for entity in made.members(of: root) {
            for property in entity.properties.sorted(by: { $0.name < $1.name }) {
                switch property.kind {
                case .attribute(let type):
                    wanted.append(Wanted(key: "\(entity.name).\(property.name)", base: property.name, type: type))
                case .composite(let elements):
                    for (name, type) in elements {
                        wanted.append(
                            Wanted(key: "\(entity.name).\(property.name).\(name)", base: name, type: type))
                    }
                case .toOne(let destination, let isInverseOrdered):
                    wanted.append(
                        Wanted(
                            key: "\(entity.name).\(property.name)", base: property.name, type: "INTEGER",
                            order: isInverseOrdered ? "\(destination).\(Self.inverse(of: property))" : nil,
                            hasEntity: made.members(of: made.entity(destination)).count > 1 ? number(destination) : nil)
                    )
                case .toMany: break
                }
            }
            for owner in made.entities.sorted(by: { number($0.name) < number($1.name) }) {
                for property in owner.properties.sorted(by: { $0.name < $1.name }) {
                    guard case .toMany(let destination, nil, let isOrdered) = property.kind, destination == entity.name
                    else { continue }
                    let other = habits.contains(.otherJoins) ? 40 : 0
                    wanted.append(
                        Wanted(
                            key: "\(owner.name).\(property.name)",
                            base: "\(number(owner.name) + other)\(property.name)",
                            type: "INTEGER", order: isOrdered ? "\(owner.name).\(property.name)" : nil))
                }
            }
        }
        var columns = [("Z_PK", "INTEGER"), ("Z_ENT", "INTEGER"), ("Z_OPT", "INTEGER")]
        let ordered = wanted.filter { $0.order != nil }.map { column in
            Wanted(key: column.order ?? "", base: "_FOK_\(column.base)", type: "INTEGER")
        }
        let ownOrders = Dictionary(zip(ordered.map(\.key), names(ordered))) { first, _ in first }
        var entityNames: Set<String> = []
        for (column, name) in zip(wanted, names(wanted)) {
            columns.append((name, column.type))
            truth[column.key] = name
            if let number = column.hasEntity {
                var entity = "Z\(number)_\(name.dropFirst())"
                if habits.contains(.otherDependents) {
                    let base = "Z\(number)_\(cut(capitals(column.base)))"
                    entity = base
                    var suffix = 0
                    while !entityNames.insert(entity).inserted {
                        suffix += 1
                        entity = base + String(suffix)
                    }
                }
                entityColumns[column.key] = entity
                columns.append((entity, "INTEGER"))
            }
            if let path = column.order {
                let order = habits.contains(.otherDependents) ? "Z_FOK_\(name.dropFirst())" : ownOrders[path] ?? ""
                orders[path] = order
                columns.append((order, "INTEGER"))
            }
        }
        columns.append(("ZSTRANGER", "VARCHAR"))
        let table = "Z" + cut(capitals(root.name))
        catalog.tables[table] = columns.map { .init(name: $0.0, declaredType: $0.1) }
    }

    /// Names that differ, with numbers where they would not.
    private mutating func names(_ wanted: [Wanted]) -> [String] {
        let bases = wanted.map { "Z" + cut(capitals($0.base)) }
        var taken: Set<String> = []
        var result = bases
        let families = Dictionary(grouping: wanted.indices) { bases[$0] }
        for index in wanted.indices where result[index] == bases[index] {
            var family = families[bases[index]] ?? []
            guard family.first == index else { continue }
            var suffix = 0
            if habits.contains(.otherSuffixes) {
                if Set(family.map { wanted[$0].type }).count == family.count { family.shuffle(using: &random) }
                suffix = Int.random(in: 0...2, using: &random)
            }
            for member in family {
                var name = suffix == 0 ? bases[member] : bases[member] + String(suffix)
                while !taken.insert(name).inserted {
                    suffix += 1
                    name = bases[member] + String(suffix)
                }
                result[member] = name
                suffix += 1
            }
        }
        return result
    }

    // MARK: Join tables

    private mutating func addJoins(_ made: SimulatedModel) {
        // Columns with an entity's own keys, numbered by the entity that they are the keys of.
        var columns: [String: String] = [:]
        var bases: [String: String] = [:]
        var taken: Set<String> = []
        for entity in made.entities.sorted(by: { number($0.name) < number($1.name) }) {
            for property in entity.properties.sorted(by: { $0.name < $1.name }) {
                guard case .toMany(_, let inverse?, _) = property.kind, made.isJoined(entity, property) else {
                    continue
                }
                let base = "Z_\(number(entity.name))\(cut(capitals(inverse)))"
                var (name, suffix) = (base, 0)
                if habits.contains(.otherJoins) {
                    suffix = Int.random(in: 0...2, using: &random)
                    if suffix > 0 { name = base + String(suffix) }
                }
                while !taken.insert(name).inserted {
                    suffix += 1
                    name = base + String(suffix)
                }
                columns["\(entity.name).\(property.name)"] = name
                bases["\(entity.name).\(property.name)"] = base
            }
        }
        for (first, second) in made.joins {
            let source = columns["\(first.0).\(first.1)"] ?? ""
            let destination = columns["\(second.0).\(second.1)"] ?? ""
            var table = "Z_\(number(first.0))\(cut(capitals(first.1)))"
            while catalog.tables[table] != nil { table += "1" }
            var names = [source, destination]
            let places = habits.contains(.otherDependents) ? bases : columns
            for (end, other) in [(second, first), (first, second)] where made.isOrdered(end) {
                let order = "Z_FOK_\((places["\(other.0).\(other.1)"] ?? "").dropFirst(2))"
                orders["\(end.0).\(end.1)"] = order
                names.append(order)
            }
            catalog.tables[table] = names.map { .init(name: $0, declaredType: "INTEGER") }
            truth["\(first.0).\(first.1)"] = "\(table)(\(source), \(destination))"
            truth["\(second.0).\(second.1)"] = "\(table)(\(destination), \(source))"
        }
    }

    // MARK: Losses

    private mutating func drop() {
        for table in catalog.tables.keys.sorted() where Int.random(in: 0..<3, using: &random) == 0 {
            let columns = catalog.tables[table] ?? []
            guard let place = columns.indices.dropFirst(3).randomElement(using: &random) else { continue }
            catalog.tables[table]?.remove(at: place)
        }
    }
}
