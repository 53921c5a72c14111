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
        for entity in destination.entities.ordered(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            guard let name = entity.name, let former = names.entities[name].flatMap({ source.entitiesByName[$0] })
            else {
                continue
            }
            // An inherited property is reported for the entity that declares it.
            for property in entity.ownProperties.ordered(by: { $0.name < $1.name }) {
                guard let formerName = names.properties[name]?[property.name] else { continue }
                if let attribute = property as? NSAttributeDescription,
                    let old = former.attributesByName[formerName]
                {
                    note { () throws(InferenceFailure) in try AttributeChange.check(old, attribute, entity: name) }
                } else if let relationship = property as? NSRelationshipDescription,
                    let old = former.relationshipsByName[formerName]
                {
                    note { () throws(InferenceFailure) in
                        try RelationshipChange.check(old, relationship, entity: name, successors: names.successors)
                    }
                }
            }
        }
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
