import CompactCollections
import CoreDataModel
import Foundation
import Ordering

/// Infers a mapping between two versions of a model, by Core Data's documented rules for lightweight migration. Pure.
package enum MappingInference {
    /// - Parameters:
    ///   - source: the version of the store.
    ///   - destination: the version to migrate to.
    ///   - dropped: the names in the source whose values the destination does not take, even if it has the same names.
    /// - Returns: the mapping of each entity and property of the destination.
    /// - Throws: an `NSError`, code 134190, that names the destination's entity and property which cannot be inferred.
    package static func plan(
        from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        dropping dropped: DroppedNames = DroppedNames()
    ) throws -> MappingPlan {
        do { return try inferred(from: source, to: destination, dropping: dropped) } catch { throw error.nsError }
    }

    package static func inferred(
        from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        dropping dropped: DroppedNames = DroppedNames()
    ) throws(InferenceFailure) -> MappingPlan {
        let names = RenamingMatch.sources(
            of: destination.entities.map(\.renameable),
            in: source.entities.map(\.renameable).filter { !dropped.entities.contains($0.name) })
        try HierarchyCheck.check(names, from: source, to: destination)
        var relationships = ComparedRelationships(successors: RenamingMatch.successors(names))
        var kept: [EntityMappingPlan] = []
        var added: [EntityMappingPlan] = []
        for entity in destination.entities.ordered(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            guard let name = entity.name else { continue }
            if let sourceName = names[name], let former = source.entitiesByName[sourceName] {
                kept.append(try plan(for: entity, from: former, comparing: &relationships, dropping: dropped))
            } else {
                added.append(plan(adding: entity))
            }
        }
        let plans = Dictionary(kept.map { ($0.destination, $0) }, uniquingKeysWith: { first, _ in first })
        let failures = InverseCheck.failures(in: destination) { entity, relationship in
            guard let plan = plans[entity.name], let former = plan.source.flatMap({ source.entitiesByName[$0] }) else {
                return nil
            }
            return plan.source(of: relationship.name).flatMap { former.relationshipsByName[$0] }
        }
        if let failure = failures.first { throw failure }
        let surviving = Set(names.values)
        let removed = source.entities.compactMap(\.name).filter { !surviving.contains($0) }.sorted()
        return MappingPlan(
            entities: kept + added + removed.map { EntityMappingPlan(kind: .remove, source: $0, destination: nil) })
    }

    private static func plan(adding entity: NSEntityDescription) -> EntityMappingPlan {
        EntityMappingPlan(
            kind: .add, source: nil, destination: entity.name,
            attributes: entity.storedAttributes.map { PropertyPlan(name: $0.name, source: nil) },
            relationships: entity.storedRelationships.map { PropertyPlan(name: $0.name, source: nil) })
    }

    private static func plan(
        for entity: NSEntityDescription, from source: NSEntityDescription,
        comparing compared: inout ComparedRelationships, dropping dropped: DroppedNames
    ) throws(InferenceFailure) -> EntityMappingPlan {
        let attributes = source.storedAttributes.filter { !dropped.contains($0.name, of: source.name) }
        let attributeNames = RenamingMatch.attributeSources(
            of: entity.storedAttributes.map(\.renameable), in: attributes.map(\.renameable))
        let formerAttributes = named(attributes)
        var attributePlans: [PropertyPlan] = []
        for attribute in entity.storedAttributes {
            let former = attributeNames[attribute.name].flatMap { formerAttributes[$0] }
            if let former { try AttributeChange.check(former, attribute, entity: entity.name ?? "") }
            attributePlans.append(PropertyPlan(name: attribute.name, source: former?.name))
        }
        let relationships = source.storedRelationships.filter { !dropped.contains($0.name, of: source.name) }
        let relationshipNames = RenamingMatch.sources(
            of: entity.storedRelationships.map(\.renameable), in: relationships.map(\.renameable))
        let formerRelationships = named(relationships)
        var relationshipPlans: [PropertyPlan] = []
        for relationship in entity.storedRelationships {
            var former = relationshipNames[relationship.name].flatMap { formerRelationships[$0] }
            if let known = former, try !compared.isTakenAlong(known, relationship, entity: entity.name ?? "") {
                former = nil
            }
            relationshipPlans.append(PropertyPlan(name: relationship.name, source: former?.name))
        }
        return EntityMappingPlan(
            kind: isSame(source, entity) ? .copy : .transform, source: source.name, destination: entity.name,
            attributes: attributePlans, relationships: relationshipPlans)
    }

    private static func named<Property: NSPropertyDescription>(_ properties: [Property]) -> [String: Property] {
        Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether the version hashes agree, comparing Apple's with Apple's or ours with ours, but never one of each.
    private static func isSame(_ source: NSEntityDescription, _ destination: NSEntityDescription) -> Bool {
        guard source.name == destination.name else { return false }
        if let first = source.recordedVersionHash, let second = destination.recordedVersionHash {
            return first == second
        }
        return source.ownVersionHash == destination.ownVersionHash
    }
}

extension NSEntityDescription {
    var renameable: Renameable { Renameable(name ?? "", renamingIdentifier) }

    /// The attributes that a store has, including inherited ones, by name.
    var storedAttributes: [NSAttributeDescription] {
        attributesByName.values.filter { !$0.isTransient }.ordered { $0.name < $1.name }
    }

    /// The relationships that a store has, including inherited ones, by name.
    var storedRelationships: [NSRelationshipDescription] {
        relationshipsByName.values.filter { !$0.isTransient }.ordered { $0.name < $1.name }
    }
}

extension NSPropertyDescription {
    package var renameable: Renameable { Renameable(name, renamingIdentifier) }
}
