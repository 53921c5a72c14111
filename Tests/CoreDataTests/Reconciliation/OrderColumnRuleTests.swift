import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

/// A hierarchy whose entities are related to one owner in every way, and the columns that Core Data makes for it: each
/// kind of column is numbered by its own name, in the order of the entities' numbers and of the properties' names.
/// Written without a look at the code that it checks.
private struct Hierarchy: CustomStringConvertible {
    /// How an entity is related to the owner by a property.
    enum Kind: CaseIterable {
        case none
        /// A to-one relationship whose inverse has no order.
        case unordered
        /// A to-one relationship whose inverse has an order.
        case ordered
        case toOneWithoutInverse
        case manyToMany
        case manyToManyWithOrder
    }

    /// An entity of the hierarchy.
    struct Entity {
        let name: String
        var parent: String?
        var kinds: [(property: String, kind: Kind)] = []
        /// The relationships without inverse by which owners have objects of the entity.
        var owned: [(property: String, isOrdered: Bool)] = []
    }

    /// The columns of a table: what belongs to a relationship, by `Entity.property`.
    struct Columns: Equatable {
        var keys: [String: String] = [:]
        /// The order columns, by the relationship that has the order: `Owner.property`.
        var orders: [String: String] = [:]

        var all: Set<String> { Set(keys.values).union(orders.values) }
    }

    /// In the order of their numbers, the root first.
    let entities: [Entity]

    var description: String {
        entities.map { entity in
            let owned = entity.owned.map { "\($0.property)\($0.isOrdered ? " ordered" : "")" }
            let kinds = entity.kinds.filter { $0.kind != .none }.map { "\($0.property) \($0.kind)" }
            return "\(entity.name)(\((kinds + owned).joined(separator: ", ")))"
        }.joined(separator: " ")
    }

    /// The owner's entity comes after those of the hierarchy.
    private var ownerNumber: Int { entities.count + 1 }

    private static func inverse(_ entity: Entity, _ property: String) -> String { "\(property)sOf\(entity.name)" }

    // MARK: The model

    var model: NSManagedObjectModel {
        let owner = makeEntity("Owner")
        var descriptions: [String: NSEntityDescription] = [:]
        for entity in entities {
            let description = makeEntity(entity.name)
            for (property, kind) in entity.kinds {
                let inverse = Self.inverse(entity, property)
                switch kind {
                case .none: continue
                case .toOneWithoutInverse:
                    description.properties.append(makeToOne(property, "Owner", inverse: nil))
                    continue
                case .unordered, .ordered:
                    description.properties.append(makeToOne(property, "Owner", inverse: inverse))
                case .manyToMany, .manyToManyWithOrder:
                    description.properties.append(makeToMany(property, "Owner", inverse: inverse))
                }
                let isOrdered = kind == .ordered || kind == .manyToManyWithOrder
                owner.properties.append(makeToMany(inverse, entity.name, inverse: property, ordered: isOrdered))
            }
            for (property, isOrdered) in entity.owned {
                owner.properties.append(makeToMany(property, entity.name, inverse: nil, ordered: isOrdered))
            }
            descriptions[entity.name] = description
        }
        for entity in entities {
            guard let parent = entity.parent, let child = descriptions[entity.name] else { continue }
            descriptions[parent]?.subentities.append(child)
        }
        let model = NSManagedObjectModel()
        model.entities = entities.compactMap { descriptions[$0.name] } + [owner]
        return model
    }

    // MARK: The rule

    /// The columns that Core Data makes, or that earlier versions of Pippin made, which gave an order column the number
    /// of the relationship's own column.
    func columns(ofEarlierPippin isEarlier: Bool = false) -> Columns {
        var columns = Columns()
        var taken: Set<String> = []
        func number(_ base: String) -> String {
            var name = base
            var digit = 0
            while taken.contains(name) {
                digit += 1
                name = base + String(digit)
            }
            taken.insert(name)
            return name
        }
        func add(_ path: String, _ base: String, order: String?) {
            let key = number("Z" + base)
            columns.keys[path] = key
            guard let order else { return }
            columns.orders[order] = isEarlier ? "Z_FOK_" + key.dropFirst() : number("Z_FOK_" + base)
        }
        for entity in entities {
            for (property, kind) in entity.kinds.sorted(by: { $0.property < $1.property }) {
                guard [.unordered, .ordered, .toOneWithoutInverse].contains(kind) else { continue }
                add(
                    "\(entity.name).\(property)", property.uppercased(),
                    order: kind == .ordered ? "Owner.\(Self.inverse(entity, property))" : nil)
            }
            for (property, isOrdered) in entity.owned.sorted(by: { $0.property < $1.property }) {
                let path = "Owner.\(property)"
                add(path, "\(ownerNumber)\(property.uppercased())", order: isOrdered ? path : nil)
            }
        }
        return columns
    }
}

extension Hierarchy {
    private static let names = ["A", "B", "C", "D"]

    /// A root without relationships, and entities below it that are each related by `owner` in one way.
    init(_ kinds: [Kind]) {
        entities =
            [Entity(name: "Base")]
            + zip(Self.names, kinds).map { Entity(name: $0, parent: "Base", kinds: [("owner", $1)]) }
    }

    /// One to five entities, one below any other, with names that differ in a number or in capitals.
    init(seed: UInt64) {
        var random = SplitMix(state: seed)
        var entities = [Entity(name: "Base")]
        for name in Self.names.prefix(Int.random(in: 0...4, using: &random)) {
            entities.append(Entity(name: name, parent: entities.randomElement(using: &random)?.name))
        }
        func lineage(_ name: String) -> Set<String> {
            let parent = entities.first { $0.name == name }?.parent
            return parent.map { lineage($0).union([name]) } ?? [name]
        }
        // Core Data numbers each entity directly before those below it.
        func numbered(_ parent: String?) -> [Entity] {
            entities.filter { $0.parent == parent }.flatMap { [$0] + numbered($0.name) }
        }
        var ordered = numbered(nil)
        for index in ordered.indices {
            let name = ordered[index].name
            for property in ["Owner", "chief", "owner", "owner1"] where Bool.random(using: &random) {
                // An entity has each name once, with those above it and below it.
                let isTaken = ordered.contains { other in
                    (lineage(other.name).contains(name) || lineage(name).contains(other.name))
                        && other.kinds.contains { $0.property == property }
                }
                guard !isTaken, let kind = Kind.allCases.randomElement(using: &random) else { continue }
                ordered[index].kinds.append((property, kind))
            }
        }
        for property in ["Part", "part", "part1"] where Bool.random(using: &random) {
            let index = Int.random(in: ordered.indices, using: &random)
            ordered[index].owned.append((property, Bool.random(using: &random)))
        }
        self.entities = ordered
    }

    /// Every mix of kinds in hierarchies of two to four entities, and random ones of up to five.
    static var all: [Hierarchy] {
        var mixes: [[Kind]] = [[]]
        var found: [Hierarchy] = []
        for _ in 1...3 {
            mixes = mixes.flatMap { mix in Kind.allCases.map { mix + [$0] } }
            found += mixes.map { Hierarchy($0) }
        }
        return found + (0..<300).map { Hierarchy(seed: UInt64($0)) }
    }
}

@Suite("Order columns of every hierarchy")
struct OrderColumnRuleTests {
    /// The columns of a schema's relationships to and from the owner.
    private func columns(_ schema: SQLSchema) -> Hierarchy.Columns {
        var columns = Hierarchy.Columns()
        for mapping in schema.mappings.compactMap({ $0 }) {
            let entity = mapping.layout
            for relationship in entity.relationships[(entity.superentity?.relationships.count ?? 0)...] {
                let path = "\(entity.name).\(relationship.name)"
                if relationship.isToMany {
                    guard case .foreignKey(let key)? = mapping.toManys[relationship.index] else { continue }
                    if !key.hasInverse { columns.keys[path] = key.column }
                    columns.orders[path] = key.orderColumn
                } else {
                    columns.keys[path] = mapping.columns[relationship.slot]?.name
                }
            }
        }
        return columns
    }

    /// The schema of a store that has these columns, in any order, and those of the model's join tables.
    private func schema(
        _ layout: ModelLayout, _ columns: Set<String>, unused: Set<String> = []
    ) -> SQLSchema {
        let rule = SQLSchema(layout: layout)
        let fixed = ["Z_PK", "Z_ENT", "Z_OPT"]
        var tables = ["ZOWNER": fixed, "ZBASE": fixed + columns.sorted()].mapValues { names in
            names.map { TableDefinition.Column(name: $0, declaredType: "INTEGER") }
        }
        for join in rule.joinTables { tables[join.table.name] = join.table.columns }
        return SQLSchema(
            layout: layout, numbers: rule.entityNumbers,
            catalog: StoreCatalog(numbers: rule.entityNumbers, tables: tables, unused: ["ZBASE": unused]))
    }

    @Test("Order columns are numbered by their own names, whatever the numbers of the keys are")
    func rule() throws {
        for hierarchy in Hierarchy.all {
            let schema = SQLSchema(layout: try hierarchy.model.compiledLayout())
            let expected = hierarchy.columns()
            #expect(columns(schema) == expected, "\(hierarchy)")
            let table = try #require(schema.tables.first { $0.name == "ZBASE" })
            #expect(Set(table.columns.map(\.name)) == expected.all.union(["Z_PK", "Z_ENT", "Z_OPT"]), "\(hierarchy)")
        }
    }

    @Test(
        "Each order column is found in a store of Core Data's, and in one of an earlier version of Pippin",
        arguments: [false, true])
    func reconciliation(ofEarlierPippin isEarlier: Bool) throws {
        for hierarchy in Hierarchy.all {
            let expected = hierarchy.columns(ofEarlierPippin: isEarlier)
            let schema = schema(try hierarchy.model.compiledLayout(), expected.all)
            #expect(columns(schema) == expected, "\(hierarchy)")
            #expect(schema.findings.isEmpty, "\(hierarchy)")
        }
    }

    @Test(
        "Where an order column is missing, no relationship gets that of another: its own is found, or it is reported",
        arguments: [false, true])
    func missing(ofEarlierPippin isEarlier: Bool) throws {
        for hierarchy in Hierarchy.all {
            let expected = hierarchy.columns(ofEarlierPippin: isEarlier)
            for missing in expected.orders.values {
                let schema = schema(try hierarchy.model.compiledLayout(), expected.all.subtracting([missing]))
                let found = columns(schema)
                #expect(found.keys.merging(expected.keys) { own, _ in own } == expected.keys, "\(hierarchy)")
                for (path, column) in expected.orders {
                    let isReported = schema.findings.contains { $0.subject == path }
                    #expect(
                        isReported ? found.orders[path] == nil : found.orders[path] == column,
                        "\(path) of \(hierarchy) without \(missing)")
                }
                #expect(schema.findings.contains { expected.orders[$0.subject] == missing }, "\(hierarchy)")
            }
        }
    }

    @Test(
        "Beside columns that a migration has left, those that are used are found",
        arguments: [false, true])
    func left(byEarlierPippin isEarlier: Bool) throws {
        for hierarchy in Hierarchy.all {
            let expected = hierarchy.columns(ofEarlierPippin: isEarlier)
            let other = hierarchy.columns(ofEarlierPippin: !isEarlier)
            let left = other.all.subtracting(expected.all)
            let schema = schema(
                try hierarchy.model.compiledLayout(), expected.all.union(left), unused: left)
            #expect(columns(schema) == expected, "\(hierarchy)")
        }
    }
}
