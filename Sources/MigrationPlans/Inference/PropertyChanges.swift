import CompactCollections
import CoreDataModel

/// Which changes of an attribute can be inferred.
enum AttributeChange {
    /// The number types, each of which can become any other.
    private static let numbers: Set<NSAttributeType> = [
        .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
        .doubleAttributeType, .floatAttributeType, .booleanAttributeType,
    ]

    static func check(
        _ source: NSAttributeDescription, _ destination: NSAttributeDescription, entity: String
    ) throws(InferenceFailure) {
        let (first, second) = (source.attributeType, destination.attributeType)
        // A nested value that was stored as JSON gets columns of its own.
        if first == .binaryDataAttributeType, second == .compositeAttributeType,
            AttributeLayout(destination).tellsPresence
        {
            return
        }
        guard first == second || (numbers.contains(first) && numbers.contains(second)) else {
            throw InferenceFailure(
                entity: entity, property: destination.name,
                reason: "Source and destination attribute types are incompatible")
        }
    }
}

/// Which changes of a relationship can be inferred.
package enum RelationshipChange {
    /// Whether a relationship leads to another entity than before, which none of its former objects is of. Core Data
    /// infers that, too; the keys of the former objects mean nothing there.
    package static func startsAnew(
        _ source: NSRelationshipDescription, _ destination: NSRelationshipDescription, entityNames: [String: String]
    ) -> Bool {
        guard let target = source.destinationEntity, let newTarget = destination.destinationEntity else { return false }
        return !target.selfAndDescendants.contains { member in
            entityNames.contains { name, formerName in
                formerName == member.name
                    && newTarget.model?.entitiesByName[name]?.isKindOf(entity: newTarget) ?? false
            }
        }
    }

    /// - Parameters:
    ///   - source: the relationship in the source.
    ///   - destination: the relationship in the destination.
    ///   - entity: the name of the destination's entity.
    ///   - entityNames: the names of the entities in the source, by their names in the destination.
    /// - Throws: the reason, if the relationship cannot be migrated without a mapping model.
    static func check(
        _ source: NSRelationshipDescription, _ destination: NSRelationshipDescription, entity: String,
        entityNames: [String: String]
    ) throws(InferenceFailure) {
        if source.isToMany, !destination.isToMany {
            throw InferenceFailure(
                entity: entity, property: destination.name,
                reason: "A to-many relationship cannot become to-one: which of its objects to keep is not said")
        }
        guard let target = source.destinationEntity, let newTarget = destination.destinationEntity else { return }
        // Every object at the other end must still be of an entity that the relationship may lead to.
        for member in target.selfAndDescendants {
            guard let name = entityNames.first(where: { $0.value == member.name })?.key,
                let survivor = newTarget.model?.entitiesByName[name]
            else { continue }  // the entity is removed, its objects with it
            guard survivor.isKindOf(entity: newTarget) else {
                throw InferenceFailure(
                    entity: entity, property: destination.name,
                    reason:
                        "Source and destination relationships lead to different entities, “\(member.name ?? "")” and "
                        + "“\(newTarget.name ?? "")”")
            }
        }
    }
}
