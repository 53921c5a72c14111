import CompactCollections
import CoreDataModel
import Ordering

extension MappingInference {
    /// All reasons why a mapping cannot be inferred, by the destination's entities; empty if it can be. For tools that
    /// report them all at once.
    package static func failures(
        from source: NSManagedObjectModel, to destination: NSManagedObjectModel
    ) -> [InferenceFailure] {
        var failures: [InferenceFailure] = []
        func note(_ check: () throws(InferenceFailure) -> Void) {
            do { try check() } catch { failures.append(error) }
        }
        let names = ModelCorrespondence(from: source, to: destination)
        note { () throws(InferenceFailure) in try HierarchyCheck.check(names.entities, from: source, to: destination) }
        let entities = destination.entities.ordered { ($0.name ?? "") < ($1.name ?? "") }
        var compared: Set<[ObjectIdentifier]> = []
        func compare(_ properties: [NSPropertyDescription], of entity: NSEntityDescription) {
            guard let name = entity.name, let former = names.entities[name].flatMap({ source.entitiesByName[$0] })
            else { return }
            for property in properties {
                guard let old = names.properties[name]?[property.name].flatMap({ former.propertiesByName[$0] }),
                    compared.insert([ObjectIdentifier(old), ObjectIdentifier(property)]).inserted
                else { continue }
                note { () throws(InferenceFailure) in
                    if let old = old as? NSAttributeDescription, let attribute = property as? NSAttributeDescription {
                        try AttributeChange.check(old, attribute, entity: name)
                    } else if let old = old as? NSRelationshipDescription,
                        let relationship = property as? NSRelationshipDescription,
                        !RelationshipChange.startsAnew(old, relationship, successors: names.successors)
                    {
                        try RelationshipChange.check(old, relationship, entity: name, successors: names.successors)
                    }
                }
            }
        }
        // An inherited property is reported for the entity that declares it, or else for those that had another one.
        for entity in entities { compare(entity.ownProperties.ordered { $0.name < $1.name }, of: entity) }
        for entity in entities { compare(entity.storedAttributes + entity.storedRelationships, of: entity) }
        return failures
            + InverseCheck.failures(in: destination) { entity, relationship in
                guard let name = entity.name,
                    let former = names.entities[name].flatMap({ source.entitiesByName[$0] })?.relationshipsByName[
                        names.properties[name]?[relationship.name] ?? ""],
                    !RelationshipChange.startsAnew(former, relationship, successors: names.successors)
                else { return nil }
                return former
            }
    }
}
