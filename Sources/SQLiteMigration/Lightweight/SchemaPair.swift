import CoreDataModel
import MigrationPlans
import SQLGeneration
import SQLiteEngine

/// A store's schema before and after a migration, and which entity becomes which.
struct SchemaPair {
    let plan: MappingPlan
    let source: SQLSchema
    let destination: SQLSchema
    let structure: StoreStructure

    /// The entities that the store holds before, in the order of their numbers.
    var sourceMappings: [EntityMapping] { source.mappings.compactMap { $0 } }
    /// The entities that the store holds afterwards.
    var destinationMappings: [EntityMapping] { destination.mappings.compactMap { $0 } }

    /// The plan for an entity of the destination.
    func plan(for mapping: EntityMapping) -> EntityMappingPlan? { plan.entity(destination: mapping.layout.name) }

    /// What an entity of the destination was; `nil` for one that is new in this store.
    func former(_ mapping: EntityMapping) -> EntityMapping? {
        guard let name = plan(for: mapping)?.source, let layout = source.layout.entityByName[name] else { return nil }
        return source.mapping(of: layout)
    }

    /// What an entity of the source becomes; `nil` for one that is removed.
    func successor(_ layout: EntityLayout) -> EntityMapping? {
        guard let name = plan.entity(source: layout.name)?.destination,
            let successor = destination.layout.entityByName[name]
        else { return nil }
        return destination.mapping(of: successor)
    }

    /// What a relationship of the destination was, by the entity that declares it or one that inherits it.
    func former(_ relationship: RelationshipLayout) -> RelationshipLayout? {
        for member in relationship.source.selfAndSubentities {
            guard let mapping = destination.mapping(of: member), let former = former(mapping),
                let name = plan(for: mapping)?.source(of: relationship.name)
            else { continue }
            return former.layout.relationship(named: name)
        }
        return nil
    }
}

/// The SQL for a list of entity numbers: `Z_ENT = 3`, `Z_ENT IN (3, 4)`.
func entityCondition(_ numbers: [Int], column: String = "Z_ENT") -> String {
    if numbers.count == 1 { return "\(column) = \(numbers[0])" }
    return "\(column) IN (\(numbers.map(String.init).joined(separator: ", ")))"
}

/// The SQL that turns old entity numbers into new ones; the column itself where all stay the same.
func renumbered(_ column: String, _ numbers: [(old: Int, new: Int)]) -> String {
    guard numbers.contains(where: { $0.old != $0.new }) else { return column }
    let cases = numbers.map { "WHEN \($0.old) THEN \($0.new)" }.joined(separator: " ")
    return "CASE \(column) \(cases) END"
}
