import CoreDataModel

/// Which changes of an attribute can be inferred.
enum AttributeChange {
    /// Whether a type is one of those that can each become any other.
    private static func isNumber(_ type: NSAttributeType) -> Bool { type.isNumber || type == .booleanAttributeType }

    /// - Parameters:
    ///   - source: the attribute in the source.
    ///   - destination: the attribute in the destination.
    ///   - entity: the name of the destination's entity.
    ///   - path: the place of an element in the entity, such as `address.street`; nil for an attribute.
    /// - Throws: the reason, if the values cannot be migrated without a mapping model.
    static func check(
        _ source: NSAttributeDescription, _ destination: NSAttributeDescription, entity: String, path: String? = nil
    ) throws(InferenceFailure) {
        let path = path ?? destination.name
        let (first, second) = (source.attributeType, destination.attributeType)
        // A nested value that was stored as JSON gets columns of its own.
        if first == .binaryDataAttributeType, second == .compositeAttributeType,
            AttributeLayout(destination).tellsPresence
        {
            return
        }
        if let former = source as? NSCompositeAttributeDescription,
            let present = destination as? NSCompositeAttributeDescription
        {
            let names = RenamingMatch.attributeSources(
                of: present.elements.map(\.renameable), in: former.elements.map(\.renameable))
            for element in present.elements {
                guard let old = former.elements.first(where: { $0.name == names[element.name] }) else { continue }
                try check(old, element, entity: entity, path: "\(path).\(element.name)")
            }
            return
        }
        guard first == second || (isNumber(first) && isNumber(second)) else {
            throw InferenceFailure(
                entity: entity, property: path,
                reason: "Source and destination attribute types are incompatible")
        }
    }
}

/// Which changes of a relationship can be inferred.
package enum RelationshipChange {
    /// Whether a relationship leads to another entity than before, which none of its former objects is of. Core Data
    /// infers that, too; the keys of the former objects mean nothing there.
    ///
    /// - Parameters:
    ///   - source: the relationship in the source.
    ///   - destination: the relationship in the destination.
    ///   - successors: the names of the entities in the destination, by their names in the source.
    /// - Returns: `false` for one whose objects remain.
    package static func startsAnew(
        _ source: NSRelationshipDescription, _ destination: NSRelationshipDescription, successors: [String: String]
    ) -> Bool {
        guard let target = source.destinationEntity, let newTarget = destination.destinationEntity else { return false }
        let entities = newTarget.model?.entitiesByName ?? [:]
        return !target.selfAndDescendants.contains { member in
            successors[member.name ?? ""].flatMap { entities[$0] }?.isKindOf(entity: newTarget) ?? false
        }
    }

    /// - Parameters:
    ///   - source: the relationship in the source.
    ///   - destination: the relationship in the destination.
    ///   - entity: the name of the destination's entity.
    ///   - successors: the names of the entities in the destination, by their names in the source.
    /// - Throws: the reason, if the relationship cannot be migrated without a mapping model.
    static func check(
        _ source: NSRelationshipDescription, _ destination: NSRelationshipDescription, entity: String,
        successors: [String: String]
    ) throws(InferenceFailure) {
        if source.isToMany, !destination.isToMany {
            throw InferenceFailure(
                entity: entity, property: destination.name,
                reason: "A to-many relationship cannot become to-one: which of its objects to keep is not said")
        }
        guard let target = source.destinationEntity, let newTarget = destination.destinationEntity else { return }
        let entities = newTarget.model?.entitiesByName ?? [:]
        // Every object at the other end must still be of an entity that the relationship may lead to.
        for member in target.selfAndDescendants {
            guard let survivor = successors[member.name ?? ""].flatMap({ entities[$0] }) else { continue }
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

/// The relationships that have been compared, so that an inherited one is compared once, and not for each subentity.
struct ComparedRelationships {
    private struct Pair: Hashable {
        let source: ObjectIdentifier
        let destination: ObjectIdentifier
    }

    private let successors: [String: String]
    /// Whether the relationship starts anew; the others can be migrated.
    private var known: [Pair: Bool] = [:]

    /// - Parameter successors: the names of the entities in the destination, by their names in the source.
    init(successors: [String: String]) { self.successors = successors }

    /// Whether the objects of a relationship are taken along; otherwise it starts anew.
    ///
    /// - Throws: the reason, if the relationship cannot be migrated without a mapping model.
    mutating func isTakenAlong(
        _ source: NSRelationshipDescription, _ destination: NSRelationshipDescription, entity: String
    ) throws(InferenceFailure) -> Bool {
        let pair = Pair(source: ObjectIdentifier(source), destination: ObjectIdentifier(destination))
        if let startsAnew = known[pair] { return !startsAnew }
        let startsAnew = RelationshipChange.startsAnew(source, destination, successors: successors)
        if !startsAnew {
            try RelationshipChange.check(source, destination, entity: entity, successors: successors)
        }
        known[pair] = startsAnew
        return !startsAnew
    }
}
