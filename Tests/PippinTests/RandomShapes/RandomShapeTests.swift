import Foundation
import TestSupport
import Testing

import PippinRecords
@testable import Pippin

/// `make test` tries some shapes, the same each time; `make fuzz` 10,000 (`PIPPIN_SHAPES`), from `PIPPIN_SHAPES_SEED`
/// on.
@Suite("Structs of any shape", .serialized)
struct RandomShapeTests {
    private static let count = Int(ProcessInfo.processInfo.environment["PIPPIN_SHAPES"] ?? "") ?? 30
    private static let firstSeed = Int(ProcessInfo.processInfo.environment["PIPPIN_SHAPES_SEED"] ?? "") ?? 1

    @Test("come back as they were saved, are found by filters as in memory, and survive a change of their shape")
    func anyShape() async throws {
        for seed in Self.firstSeed..<(Self.firstSeed + Self.count) {
            // By columns, as @CoreModel does it, and by coding, in turns.
            do {
                try await EntityDerivation.$usesColumns.withValue(seed.isMultiple(of: 2)) {
                    try await check(UInt64(seed))
                }
            } catch let error where "\(error)".contains("inf directly in JSON") {
                // What is kept as JSON cannot be infinite, and is refused.
            } catch let error where "\(error)".contains("zero character") {
                // So is a text with a zero character in PostgreSQL.
            } catch { Issue.record("seed \(seed): \(error)") }
        }
    }

    private struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    private func check(_ seed: UInt64) async throws {
        var maker = ShapeMaker(random: RandomNumbers(seed: seed))
        let folder = try TestFolder()
        let store = StoreLocation.file(folder.file("shapes.sqlite"))
        let childShape = maker.model(maker.random.below(4) + 1)
        Child.shape.withLock { $0 = childShape }
        let children = (0..<3).map { RandomModel<Child>(id: $0, values: childShape.values(&maker.random)) }
        let uids = Array(0..<5)
        var shape = maker.model(maker.random.below(5) + 1)
        shape.fields += maker.relationships(to: children, roots: uids)
        Root.shape.withLock { $0 = shape }
        let columns = try EntityDerivation.plan(of: RandomModel<Root>.self).record.columns
        guard (columns != nil) == EntityDerivation.usesColumns else { throw Difference(description: "columns") }
        var models = uids.map { RandomModel<Root>(id: $0, values: shape.values(&maker.random)) }
        do {
            let manager = PersistenceManager(models: RandomModel<Root>.self, RandomModel<Child>.self, store: store)
            try manager.loadAndWait()
            try await manager.save(children)
            try await manager.save(models)
            try await expect(manager, models, "round trip")
            try await filter(manager, models, shape)
            // Saved again, changed, and read through objects.
            models[0].values = shape.values(&maker.random)
            try await manager.save(models)
            try await expect(manager, models, "change")
            let inContext = try await manager.read(in: manager.newWorkerContext()) {
                try $0.fetch(RandomModel<Root>.self, sortedBy: Self.order)
            }
            guard inContext == models else { throw Difference(description: "context: \(inContext) for \(models)") }
        }
        // More properties, with values for what is stored already.
        for (key, index) in [("added0", 0), ("added1", 1), ("added2", 2)] {
            var field: RandomShape.Field
            switch index {
            case 0: field = RandomShape.Field(key: key, isOptional: true, kind: maker.random.pick(ShapeMaker.scalars))
            case 1: field = RandomShape.Field(key: key, isOptional: false, kind: Chosen(values: [[], [1]]))
            default:
                let nested = maker.nested(depth: 1)
                let value = RandomNested<Nesting1>(shape: nested, values: nested.values(&maker.random))
                field = RandomShape.Field(
                    key: key, isOptional: maker.random.chance(50),
                    kind: NestedKind<Nesting1>(shape: nested, form: .single),
                    defaultValue: value)
                for model in models.indices { models[model].values[key] = AnyHashable(value) }
            }
            shape.fields.append(field)
        }
        for model in models.indices { models[model].values["added1"] = AnyHashable([Int]()) }
        Root.shape.withLock { [shape] in $0 = shape }
        let manager = PersistenceManager(models: RandomModel<Root>.self, RandomModel<Child>.self, store: store)
        try manager.loadAndWait()
        try await expect(manager, models, "migration")
    }

    private static let order = Order<RandomModel<Root>>.ascending(\.id)

    private func expect(_ manager: PersistenceManager, _ models: [RandomModel<Root>], _ step: String) async throws {
        let found = try await manager.fetch(RandomModel<Root>.self, sortedBy: Self.order)
        guard found != models else { return }
        for (found, model) in zip(found, models) where found != model {
            for key in Set(found.values.keys).union(model.values.keys).sorted()
            where found.values[key] != model.values[key] {
                throw Difference(
                    description:
                        "\(step): '\(key)' is \(found.values[key] as Any) and was \(model.values[key] as Any)")
            }
        }
        throw Difference(description: "\(step): \(found.count) models for \(models.count)")
    }

    /// Compares each property with each of its values, and with nothing.
    private func filter(
        _ manager: PersistenceManager, _ models: [RandomModel<Root>], _ shape: RandomShape
    ) async throws {
        for field in shape.fields where field.kind.isComparable {
            let operands = Set(models.map { $0.values[field.key] }).union(field.isOptional ? [nil] : [])
            for operand in operands {
                for comparison in [FilterComparison.equal, .notEqual] {
                    let filter = Filter<RandomModel<Root>>(
                        term: .comparison(PropertyName(path: field.key), comparison, field.kind.operand(operand)))
                    let found: [Int]
                    do {
                        found = try await manager.fetch(RandomModel<Root>.self, where: filter, sortedBy: Self.order)
                            .map(
                                \.id)
                    } catch let error as PersistenceError where error.code == .notComparable {
                        // Sets and the like, which no store can compare, are refused rather than missed.
                        continue
                    }
                    let expected = models.filter { ($0.values[field.key] == operand) == (comparison == .equal) }.map(
                        \.id)
                    guard found == expected else {
                        throw Difference(
                            description:
                                "'\(field.key)' \(comparison.symbol) \(operand as Any) finds \(found), not \(expected)")
                    }
                }
            }
        }
    }
}
