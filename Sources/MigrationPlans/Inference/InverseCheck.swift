import CompactCollections
import CoreDataModel
import Ordering

/// Two relationships that were independent of each other cannot become inverses: their pairs differ, and an object
/// would gain or lose what only one side says.
enum InverseCheck {
    /// - Parameters:
    ///   - destination: the version to migrate to.
    ///   - former: the former relationship of an entity's relationship; nil for a new one.
    /// - Returns: what cannot be inferred, by the entities' names.
    static func failures(
        in destination: NSManagedObjectModel,
        former: (NSEntityDescription, NSRelationshipDescription) -> NSRelationshipDescription?
    ) -> [InferenceFailure] {
        func formers(_ relationship: NSRelationshipDescription) -> [NSRelationshipDescription] {
            relationship.entity.selfAndDescendants.compactMap { former($0, relationship) }
        }
        func leads(_ side: [NSRelationshipDescription], to other: [NSRelationshipDescription]) -> Bool {
            let keys = Set(other.map(Key.init))
            return side.contains { $0.inverseRelationship.map { keys.contains(Key($0)) } ?? false }
        }
        var failures: [InferenceFailure] = []
        for entity in destination.entities.ordered(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            for property in entity.ownProperties.ordered(by: { $0.name < $1.name }) {
                guard let relationship = property as? NSRelationshipDescription, !relationship.isTransient,
                    let inverse = relationship.inverseRelationship, !inverse.isTransient
                else { continue }
                // Each pair of relationships is looked at once.
                let (key, other) = (Key(relationship), Key(inverse))
                guard (key.entity, key.name) < (other.entity, other.name) else { continue }
                let (own, back) = (formers(relationship), formers(inverse))
                guard !own.isEmpty, !back.isEmpty, !leads(own, to: back), !leads(back, to: own) else { continue }
                failures.append(
                    InferenceFailure(
                        entity: key.entity, property: key.name,
                        reason: "It was independent of “\(other.entity).\(other.name)”, and cannot become its inverse"))
            }
        }
        return failures
    }

    /// A relationship by the entity that declares it.
    private struct Key: Hashable {
        let entity: String
        let name: String

        init(_ relationship: NSRelationshipDescription) {
            (entity, name) = (relationship.entity.name ?? "", relationship.name)
        }
    }
}
