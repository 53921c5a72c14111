import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine

/// Compares a store that was migrated object by object with what it was, by plain SQL: keys are new there, so that
/// objects are told by their values.
struct ObjectOracle {
    let plan: MappingPlan
    let before: (url: URL, schema: SQLSchema)
    let after: (url: URL, schema: SQLSchema)

    private let oracle: MigrationOracle

    init(_ oracle: MigrationOracle) {
        (plan, before, after) = (oracle.plan, oracle.before, oracle.after)
        self.oracle = oracle
    }

    /// What is wrong, a line each; empty when every object and relationship is as the mapping says.
    func differences() throws -> [String] {
        var found: [String] = []
        for entity in plan.entities {
            guard let destination = entity.destination,
                let now = after.schema.layout.entityByName[destination].flatMap({ after.schema.mapping(of: $0) })
            else { continue }
            let former = entity.source.flatMap { before.schema.layout.entityByName[$0] }
                .flatMap { before.schema.mapping(of: $0) }
            let objects = try signatures(of: now, in: after, plan: entity, isSource: false)
            let expected = try former.map { try signatures(of: $0, in: before, plan: entity, isSource: true) } ?? [:]
            if objects.values.sorted() != expected.values.sorted() {
                found.append("\(destination): \(objects.values.sorted()), not \(expected.values.sorted())")
            }
            guard let former else { continue }
            for relationship in entity.relationships {
                guard let name = relationship.source, let old = former.layout.relationship(named: name),
                    let new = now.layout.relationship(named: relationship.name)
                else { continue }
                // What had no order gets any.
                let isOrdered = old.isOrdered && new.isOrdered
                let pairs = try self.pairs(new, of: now, in: after, isSource: false, isOrdered: isOrdered)
                let wanted = try self.pairs(old, of: former, in: before, isSource: true, isOrdered: isOrdered)
                if pairs != wanted { found.append("\(destination).\(new.name): \(pairs), not \(wanted)") }
            }
        }
        return found
    }

    private typealias Store = (url: URL, schema: SQLSchema)

    /// A former column, with the default in place of what is missing where a value has to be.
    private func filled(_ column: String, _ attribute: PropertyPlan, _ plan: EntityMappingPlan) throws -> String {
        guard let layout = after.schema.layout.entityByName[plan.destination ?? ""],
            let mapping = after.schema.mapping(of: layout), let slot = layout.slotIndex(forName: attribute.name),
            !layout.slots[slot].isOptional, let destination = mapping.columns[slot],
            let value = try oracle.defaultValue(layout.slots[slot], destination, mapping)?.sqlite.text
        else { return column }
        return "IFNULL(\(column), \(value))"
    }

    /// The values of the objects of an entity, by key: of the attributes that both versions have.
    private func signatures(
        of mapping: EntityMapping, in store: Store, plan: EntityMappingPlan, isSource: Bool
    ) throws -> [String: String] {
        let columns = try plan.attributes.filter { $0.source != nil }.compactMap { attribute -> String? in
            guard let column = mapping.column(named: isSource ? attribute.source ?? "" : attribute.name),
                !column.isDerived, !column.isComposite
            else { return nil }
            // Values in files are told by their presence: the files have new names.
            if case .data(true) = column.storage { return "\(column.name) IS NULL" }
            let value = try isSource ? filled(column.name, attribute, plan) : column.name
            // Numbers may have another type now.
            return [.integer, .double, .float].contains(column.storage) ? "CAST(\(value) AS REAL)" : value
        }
        var result: [String: String] = [:]
        let list = (["Z_PK"] + columns).joined(separator: ", ")
        for row in try plainSQL(
            "SELECT \(list) FROM \(mapping.table) WHERE Z_ENT = \(mapping.number)", in: store.url)
        {
            let parts = row.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
            result[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
        }
        return result
    }

    /// The objects that a relationship connects, by their values; in order where it has one.
    private func pairs(
        _ relationship: RelationshipLayout, of mapping: EntityMapping, in store: Store, isSource: Bool, isOrdered: Bool
    ) throws -> [String] {
        guard let pairs = StoredPairs(relationship, in: store.schema, tableName: { $0 }) else { return [] }
        let (key, destination) = (pairs.sourceKey.sqlite.text, pairs.destinationKey.sqlite.text)
        let order = isOrdered ? pairs.order?.sqlite.text ?? destination : destination
        let rows = try plainSQL(
            "SELECT \(key), \(destination) \(pairs.rows.sqlite.text) AND \(key) IN (SELECT Z_PK FROM "
                + "\(mapping.table) WHERE Z_ENT = \(mapping.number)) ORDER BY 1, \(order)", in: store.url)
        let sources = try objects(mapping.layout, in: store, isSource: isSource)
        let destinations = try objects(relationship.destination, in: store, isSource: isSource)
        var lists: [String: [String]] = [:]
        for row in rows {
            let keys = row.split(separator: "|").map(String.init)
            lists[keys[0], default: []].append(destinations[keys[1]] ?? "nothing")
        }
        return lists.map { key, list in
            "\(sources[key] ?? "nothing") -> \((isOrdered ? list : list.sorted()).joined(separator: "; "))"
        }.sorted()
    }

    private func objects(_ layout: EntityLayout, in store: Store, isSource: Bool) throws -> [String: String] {
        var result: [String: String] = [:]
        for member in layout.selfAndSubentities {
            guard let mapping = store.schema.mapping(of: member),
                let entity = isSource ? plan.entity(source: member.name) : plan.entity(destination: member.name)
            else { continue }
            result.merge(try signatures(of: mapping, in: store, plan: entity, isSource: isSource)) { first, _ in first }
        }
        return result
    }
}
