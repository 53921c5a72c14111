import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine

/// Compares a migrated store with what it was, by plain SQL and by what the mapping says.
struct MigrationOracle {
    let plan: MappingPlan
    let before: (url: URL, schema: SQLSchema)
    let after: (url: URL, schema: SQLSchema)

    init(from source: NSManagedObjectModel, at old: URL, to destination: NSManagedObjectModel, at new: URL) throws {
        plan = try MappingInference.plan(from: source, to: destination)
        before = (old, try Self.schema(source, old))
        after = (new, try Self.schema(destination, new))
    }

    private static func schema(_ model: NSManagedObjectModel, _ url: URL) throws -> SQLSchema {
        let catalog = try StoreFile.open(url, mode: .readOnly).catalog()
        return SQLSchema(layout: try model.compiledLayout(), numbers: catalog.numbers, catalog: catalog)
    }

    /// What is wrong, a line each; empty when every row and relationship is as the mapping says.
    func differences() throws -> [String] {
        var found: [String] = []
        for mapping in after.schema.mappings.compactMap({ $0 }) {
            guard let entity = plan.entity(destination: mapping.layout.name) else { continue }
            let former = entity.source.flatMap { before.schema.layout.entityByName[$0] }
                .flatMap { before.schema.mapping(of: $0) }
            let keys = try plainSQL(
                "SELECT Z_PK FROM \(mapping.table) WHERE Z_ENT = \(mapping.number) ORDER BY 1", in: after.url)
            let formerKeys = try former.map {
                try plainSQL("SELECT Z_PK FROM \($0.table) WHERE Z_ENT = \($0.number) ORDER BY 1", in: before.url)
            }
            if keys != formerKeys ?? [] {
                found.append("\(mapping.layout.name): keys \(keys), not \(formerKeys ?? [])")
            }
            guard let former else { continue }
            for attribute in entity.attributes { found += try compareValues(attribute, mapping, former) }
            for relationship in entity.relationships { found += try comparePairs(relationship, mapping, former) }
        }
        return found
    }

    func defaultValue(_ slot: SlotLayout, _ column: SlotColumn, _ mapping: EntityMapping) throws -> SQLFragment? {
        try SchemaPair(plan: plan, from: before.schema, to: after.schema, SQLiteColumns())
            .defaultValue(slot, column, mapping)
    }

    private func compareValues(
        _ attribute: PropertyPlan, _ mapping: EntityMapping, _ former: EntityMapping
    ) throws -> [String] {
        guard let column = mapping.column(named: attribute.name), !column.isDerived,
            let slot = mapping.layout.slotIndex(forName: attribute.name)
        else { return [] }
        let description = mapping.layout.slots[slot]
        let fallback = try defaultValue(description, column, mapping)?.sqlite.text ?? "NULL"
        let values = try plainSQL(
            "SELECT \(column.name) + 0, \(column.name) FROM \(mapping.table) WHERE Z_ENT = \(mapping.number) ORDER BY Z_PK",
            in: after.url)
        let expected: [String]
        if let source = attribute.source.flatMap({ former.column(named: $0)?.name }) {
            let value = description.isOptional ? source : "IFNULL(\(source), \(fallback))"
            let isNumber = column.storage == .double
            expected = try plainSQL(
                "SELECT \(value) + \(isNumber ? "0.0" : "0"), \(isNumber ? "\(value) + 0.0" : value) FROM \(former.table) WHERE "
                    + "Z_ENT = \(former.number) ORDER BY Z_PK", in: before.url)
        } else {
            expected = try plainSQL(
                "SELECT \(fallback) + 0, \(fallback) FROM \(former.table) WHERE Z_ENT = \(former.number)",
                in: before.url)
        }
        return values == expected ? [] : ["\(mapping.layout.name).\(attribute.name): \(values), not \(expected)"]
    }

    private func comparePairs(
        _ relationship: PropertyPlan, _ mapping: EntityMapping, _ former: EntityMapping
    ) throws -> [String] {
        guard let now = mapping.layout.relationship(named: relationship.name) else { return [] }
        let pairs = try pairs(now, of: mapping, in: after)
        var expected: [String] = []
        if let source = relationship.source.flatMap({ former.layout.relationship(named: $0) }) {
            expected = try self.pairs(source, of: former, in: before)
        }
        return pairs == expected ? [] : ["\(mapping.layout.name).\(relationship.name): \(pairs), not \(expected)"]
    }

    /// The keys that a relationship connects, in order.
    private func pairs(
        _ relationship: RelationshipLayout, of mapping: EntityMapping, in store: (url: URL, schema: SQLSchema)
    ) throws -> [String] {
        guard let pairs = StoredPairs(relationship, in: store.schema, tableName: { $0 }) else { return [] }
        let key = pairs.sourceKey.sqlite.text
        return try plainSQL(
            "SELECT \(key), \(pairs.destinationKey.sqlite.text) \(pairs.rows.sqlite.text) AND \(key) IN (SELECT Z_PK FROM "
                + "\(mapping.table) WHERE Z_ENT = \(mapping.number)) ORDER BY 1, 2", in: store.url)
    }

    /// The tables, indexes, triggers and entity numbers of a store, to compare with those of a new one.
    static func structure(of url: URL) throws -> [String] {
        try plainSQL(
            "SELECT 'column', m.name, c.name, c.type FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' "
                + "UNION ALL SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type <> 'table' AND sql NOT NULL "
                + "UNION ALL SELECT 'entity', Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY 1, 2, 3", in: url)
    }
}
