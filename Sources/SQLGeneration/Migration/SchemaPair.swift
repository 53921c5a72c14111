import CoreDataModel
import MigrationPlans

/// A store's schema before and after a migration, and the mapping of its entities.
package struct SchemaPair {
    package let plan: MappingPlan
    package let source: SQLSchema
    package let destination: SQLSchema
    /// The store's entities before the migration, in the order of their numbers.
    package let sourceMappings: [EntityMapping]
    /// The store's entities after the migration.
    package let destinationMappings: [EntityMapping]
    // Each table asks for its own.
    private let sourcesByTable: [String: [EntityMapping]]
    private let destinationsByTable: [String: [EntityMapping]]
    /// The database-specific SQL for values.
    let columns: any ColumnMoving
    /// What was found out about the pair. Every entity that inherits a relationship asks for the same.
    let known = KnownFormers()

    /// - Parameters:
    ///   - plan: the mapping of each entity.
    ///   - source: the store's schema.
    ///   - destination: the schema after the migration.
    ///   - columns: the database-specific SQL for values.
    package init(plan: MappingPlan, from source: SQLSchema, to destination: SQLSchema, _ columns: any ColumnMoving) {
        (self.plan, self.source, self.destination, self.columns) = (plan, source, destination, columns)
        sourceMappings = source.mappings.compactMap { $0 }
        destinationMappings = destination.mappings.compactMap { $0 }
        sourcesByTable = Dictionary(grouping: sourceMappings, by: \.table)
        destinationsByTable = Dictionary(grouping: destinationMappings, by: \.table)
    }

    /// The entities in a table before the migration, in the order of their numbers.
    package func sourceMappings(in table: String) -> [EntityMapping] { sourcesByTable[table] ?? [] }
    /// The entities in a table after the migration.
    package func destinationMappings(in table: String) -> [EntityMapping] { destinationsByTable[table] ?? [] }

    /// The plan for an entity of the destination.
    package func plan(for mapping: EntityMapping) -> EntityMappingPlan? {
        plan.entity(destination: mapping.layout.name)
    }

    /// The former entity of a destination's entity; `nil` for one that is new in this store.
    package func former(_ mapping: EntityMapping) -> EntityMapping? {
        guard let name = plan(for: mapping)?.source, let layout = source.layout.entityByName[name] else { return nil }
        return source.mapping(of: layout)
    }

    /// The new entity of a source's entity; `nil` for a removed one.
    package func successor(_ layout: EntityLayout) -> EntityMapping? {
        guard let name = plan.entity(source: layout.name)?.destination,
            let successor = destination.layout.entityByName[name]
        else { return nil }
        return destination.mapping(of: successor)
    }
}

extension SchemaPair {
    /// Whether rows of a table that stays have keys in a column that only other entities of the table still have: a
    /// relationship moved down a hierarchy. They would still be found by its inverse.
    package func leavesKeys(in table: String) -> Bool {
        let members = destinationMappings(in: table)
        let keys = Set(members.flatMap(\.keyColumns))
        return members.contains { mapping in
            guard let former = former(mapping), former.table == table else { return false }
            return former.keyColumns.contains { keys.contains($0) && !mapping.keyColumns.contains($0) }
        }
    }
}

extension EntityMapping {
    /// The columns of the to-one relationships.
    fileprivate var keyColumns: [String] {
        zip(layout.slots, columns).compactMap { slot, column in slot.relationship == nil ? nil : column?.name }
    }
}

extension SchemaPair {
    /// The condition on a key that its object still exists; nil if all do.
    package func survives(_ key: SQLFragment, formerly entity: EntityLayout, now: EntityLayout) -> SQLFragment? {
        mapping(losing: entity, to: now).map { PairMoveSQL.exists(key, $0) }
    }

    /// The entity that objects became, if some of them are removed; nil if all still exist.
    package func mapping(losing entity: EntityLayout, to now: EntityLayout) -> EntityMapping? {
        let stay = entity.selfAndSubentities.allSatisfy { member in
            guard source.mapping(of: member) != nil else { return true }
            return successor(member).map { $0.layout.isKind(of: now) } ?? false
        }
        return stay ? nil : destination.mapping(of: now)
    }
}

extension SchemaPair {
    /// What became of the entities to which a former relationship led.
    func targets(_ relationship: RelationshipLayout) -> KnownFormers.Targets {
        known.targets(relationship.destination) {
            let targets = relationship.destination.selfAndSubentities.compactMap { source.mapping(of: $0) }
            let kept = EntityNumbers(
                targets.compactMap { target in
                    successor(target.layout).map { .init(old: target.number, new: $0.number) }
                })
            return KnownFormers.Targets(kept: kept, areAllKept: kept.pairs.count == targets.count)
        }
    }
}

/// The database-specific SQL for values of rows that are migrated to a new model.
package protocol ColumnMoving: Sendable {
    /// A literal value.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - column: the column for the value.
    ///   - attribute: the value's attribute.
    ///   - mapping: the entity.
    ///   - schema: the tables.
    /// - Returns: the value, in SQL.
    /// - Throws: an `NSError` for a value that cannot be stored.
    func literal(
        _ value: StoredValue, _ column: SlotColumn, _ attribute: AttributeLayout?, _ mapping: EntityMapping,
        _ schema: SQLSchema
    ) throws -> SQLFragment

    /// The value for an attribute that was in another column.
    ///
    /// - Parameters:
    ///   - column: the former column.
    ///   - source: the attribute in the source.
    ///   - destination: the column that it is to be in.
    ///   - attribute: the attribute in the destination.
    ///   - fallback: the value for rows without one; nil for none.
    /// - Returns: the value.
    func moved(
        _ column: SlotColumn, _ source: AttributeLayout, to destination: SlotColumn, _ attribute: AttributeLayout,
        fallback: SQLFragment?
    ) -> MovedValue

    /// A value from the JSON in a column.
    func nested(_ column: String, _ path: [String], _ element: AttributeLayout) -> SQLFragment

    /// Whether the JSON in a column has anything at a path.
    func nestedIsPresent(_ column: String, _ path: [String]) -> SQLFragment
}
