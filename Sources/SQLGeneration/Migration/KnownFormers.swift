import CoreDataModel

/// The former relationships of each relationship, and the numbers of the entities to which former ones lead, found out
/// once for a pair of schemas.
final class KnownFormers {
    /// The entities to which a relationship led.
    struct Targets {
        /// The numbers of those that there still are.
        let kept: EntityNumbers
        let areAllKept: Bool
    }

    private var formers: [ObjectIdentifier: [FormerRelationship]] = [:]
    private var targets: [ObjectIdentifier: Targets] = [:]

    func formers(
        _ relationship: RelationshipLayout, _ find: () -> [FormerRelationship]
    ) -> [FormerRelationship] {
        if let known = formers[ObjectIdentifier(relationship)] { return known }
        let found = find()
        formers[ObjectIdentifier(relationship)] = found
        return found
    }

    func targets(_ entity: EntityLayout, _ find: () -> Targets) -> Targets {
        if let known = targets[ObjectIdentifier(entity)] { return known }
        let found = find()
        targets[ObjectIdentifier(entity)] = found
        return found
    }
}
