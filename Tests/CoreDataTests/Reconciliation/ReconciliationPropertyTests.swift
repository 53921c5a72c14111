import Foundation
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine

@Suite("Names of random stores")
struct ReconciliationPropertyTests {
    /// Where the schema has the properties, as the simulated store writes them down.
    private func found(_ schema: SQLSchema) -> [String: String] {
        var found: [String: String] = [:]
        for mapping in schema.mappings.compactMap({ $0 }) {
            let entity = mapping.layout
            for (slot, column) in zip(entity.slots, mapping.columns).dropFirst(entity.superentity?.slots.count ?? 0) {
                guard let column else { continue }
                for leaf in column.flattened { found["\(entity.name).\(leaf.property)"] = leaf.name }
                _ = slot
            }
            for relationship in entity.relationships[(entity.superentity?.relationships.count ?? 0)...] {
                switch mapping.toManys[relationship.index] {
                case .joinTable(let join)?:
                    found["\(entity.name).\(relationship.name)"] =
                        "\(join.table)(\(join.sourceColumn), \(join.destinationColumn))"
                case .foreignKey(let key)? where !key.hasInverse:
                    found["\(entity.name).\(relationship.name)"] = key.column
                default: break
                }
            }
        }
        return found
    }

    /// The columns with places, and those with entities of destinations.
    private func dependents(_ schema: SQLSchema) -> (orders: [String: String], entities: [String: String]) {
        var (orders, entities): ([String: String], [String: String]) = ([:], [:])
        for mapping in schema.mappings.compactMap({ $0 }) {
            let entity = mapping.layout
            for relationship in entity.relationships[(entity.superentity?.relationships.count ?? 0)...] {
                let path = "\(entity.name).\(relationship.name)"
                switch mapping.toManys[relationship.index] {
                case .joinTable(let join)?: orders[path] = join.orderColumn
                case .foreignKey(let key)?: orders[path] = key.orderColumn
                case nil: entities[path] = mapping.column(named: relationship.name)?.entityColumn
                }
            }
        }
        return (orders, entities)
    }

    /// What was found elsewhere than it is, and what was neither found nor reported; and how much was found.
    private func check(_ store: SimulatedStore) throws -> (wrong: [String], found: Int) {
        let schema = SQLSchema(
            layout: try store.model.compiledLayout(), numbers: store.catalog.numbers, catalog: store.catalog)
        let (own, dependents) = (found(schema), dependents(schema))
        let wrong =
            differences(own, from: store.truth, schema)
            + differences(dependents.orders, from: store.orders, schema)
            + differences(dependents.entities, from: store.entityColumns, schema)
        return (wrong, own.count + dependents.orders.count + dependents.entities.count)
    }

    private func differences(
        _ found: [String: String], from truth: [String: String], _ schema: SQLSchema
    ) -> [String] {
        var wrong: [String] = []
        for (path, place) in truth.sorted(by: { $0.key < $1.key }) {
            if let other = found[path] {
                if other != place { wrong.append("\(path) is in \(place), and was found in \(other)") }
                continue
            }
            let parts = path.split(separator: ".").map(String.init)
            let layout = schema.layout.entityByName[parts[0]]
            // The table of an order column is that of the destinations.
            let roots = [layout, layout?.relationship(named: parts[1])?.destination].map { $0?.root.name }
            let isReported = schema.findings.contains {
                ($0.entity == parts[0] && $0.property == parts[1]) || ($0.property == nil && roots.contains($0.entity))
            }
            if !isReported { wrong.append("\(path) is in \(place), and was neither found nor reported") }
        }
        return wrong
    }

    @Test("Names by the rules are found, all of them", arguments: 0..<40)
    func rules(seed: UInt64) throws {
        let store = SimulatedStore(seed: seed, habits: [])
        let (wrong, found) = try check(store)
        #expect(wrong.isEmpty, "\(wrong)")
        #expect(found == store.truth.count + store.orders.count + store.entityColumns.count)
    }

    @Test(
        "Whatever else the names are, each is found where it is, or reported",
        arguments: SimulatedStore.Habit.allCases, 0..<30)
    func habits(_ habit: SimulatedStore.Habit, seed: UInt64) throws {
        let (wrong, _) = try check(SimulatedStore(seed: 1000 + seed, habits: [habit]))
        #expect(wrong.isEmpty, "\(wrong)")
    }

    @Test("With all habits at once, each name is found where it is, or reported", arguments: 0..<60)
    func all(seed: UInt64) throws {
        let (wrong, _) = try check(SimulatedStore(seed: 2000 + seed, habits: Set(SimulatedStore.Habit.allCases)))
        #expect(wrong.isEmpty, "\(wrong)")
    }

    @Test("Other numbers and letters cost nothing: everything is found", arguments: 0..<30)
    func complete(seed: UInt64) throws {
        let store = SimulatedStore(seed: 3000 + seed, habits: [.renumbered, .otherLetters, .otherDependents])
        let (wrong, found) = try check(store)
        #expect(wrong.isEmpty, "\(wrong)")
        #expect(found == store.truth.count + store.orders.count + store.entityColumns.count)
    }
}
