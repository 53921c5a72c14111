import Foundation
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import SQLiteMigration

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

    /// What was found elsewhere than it is, and what was neither found nor reported; and how much was found.
    private func check(_ store: SimulatedStore) throws -> (wrong: [String], found: Int) {
        let schema = SQLSchema(
            layout: try store.model.compiledLayout(), numbers: store.catalog.numbers, catalog: store.catalog)
        let found = found(schema)
        var wrong: [String] = []
        for (path, place) in store.truth.sorted(by: { $0.key < $1.key }) {
            if let other = found[path] {
                if other != place { wrong.append("\(path) is in \(place), and was found in \(other)") }
                continue
            }
            let parts = path.split(separator: ".").map(String.init)
            let layout = schema.layout.entityByName[parts[0]]
            let isReported = schema.findings.contains {
                ($0.entity == parts[0] && $0.property == parts[1])
                    || ($0.property == nil && $0.entity == layout?.root.name)
            }
            if !isReported { wrong.append("\(path) is in \(place), and was neither found nor reported") }
        }
        return (wrong, found.count)
    }

    @Test("Names by the rules are found, all of them", arguments: 0..<40)
    func rules(seed: UInt64) throws {
        let store = SimulatedStore(seed: seed, habits: [])
        let (wrong, found) = try check(store)
        #expect(wrong.isEmpty, "\(wrong)")
        #expect(found == store.truth.count)
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

    @Test("Other numbers, letters and join tables cost nothing: everything is found", arguments: 0..<30)
    func complete(seed: UInt64) throws {
        let store = SimulatedStore(seed: 3000 + seed, habits: [.renumbered, .otherLetters])
        let (wrong, found) = try check(store)
        #expect(wrong.isEmpty, "\(wrong)")
        #expect(found == store.truth.count)
    }
}
