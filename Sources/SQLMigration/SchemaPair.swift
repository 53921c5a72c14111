import CoreDataModel
import MigrationPlans
import SQLGeneration

/// A store's schema before and after a migration, and which entity becomes which.
package struct SchemaPair {
    package let plan: MappingPlan
    package let source: SQLSchema
    package let destination: SQLSchema
    /// How the database has values.
    let columns: any ColumnMoving

    /// - Parameters:
    ///   - plan: what becomes of each entity.
    ///   - source: the schema that the store has.
    ///   - destination: the schema that it shall have.
    ///   - columns: how the database has values.
    package init(plan: MappingPlan, from source: SQLSchema, to destination: SQLSchema, _ columns: any ColumnMoving) {
        (self.plan, self.source, self.destination, self.columns) = (plan, source, destination, columns)
    }

    /// The entities that the store holds before, in the order of their numbers.
    package var sourceMappings: [EntityMapping] { source.mappings.compactMap { $0 } }
    /// The entities that the store holds afterwards.
    package var destinationMappings: [EntityMapping] { destination.mappings.compactMap { $0 } }

    /// The plan for an entity of the destination.
    package func plan(for mapping: EntityMapping) -> EntityMappingPlan? {
        plan.entity(destination: mapping.layout.name)
    }

    /// What an entity of the destination was; `nil` for one that is new in this store.
    package func former(_ mapping: EntityMapping) -> EntityMapping? {
        guard let name = plan(for: mapping)?.source, let layout = source.layout.entityByName[name] else { return nil }
        return source.mapping(of: layout)
    }

    /// What an entity of the source becomes; `nil` for one that is removed.
    package func successor(_ layout: EntityLayout) -> EntityMapping? {
        guard let name = plan.entity(source: layout.name)?.destination,
            let successor = destination.layout.entityByName[name]
        else { return nil }
        return destination.mapping(of: successor)
    }

    /// What a relationship of the destination was, by the entity that declares it or one that inherits it.
    package func former(_ relationship: RelationshipLayout) -> RelationshipLayout? {
        for member in relationship.source.selfAndSubentities {
            guard let mapping = destination.mapping(of: member), let former = former(mapping),
                let name = plan(for: mapping)?.source(of: relationship.name)
            else { continue }
            return former.layout.relationship(named: name)
        }
        return nil
    }
}

extension SchemaPair {
    /// What must hold of a key so that it is one of an object that is still there; nil where all are.
    package func survives(_ key: SQLFragment, formerly entity: EntityLayout, now: EntityLayout) -> SQLFragment? {
        mapping(losing: entity, to: now).map { PairMoveSQL.exists(key, $0) }
    }

    /// The entity that objects became, where some of them are gone; nil where all are still there.
    package func mapping(losing entity: EntityLayout, to now: EntityLayout) -> EntityMapping? {
        let stay = entity.selfAndSubentities.allSatisfy { member in
            guard source.mapping(of: member) != nil else { return true }
            return successor(member).map { $0.layout.isKind(of: now) } ?? false
        }
        return stay ? nil : destination.mapping(of: now)
    }
}
