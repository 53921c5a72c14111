/// The problem with objects that do not fit the new model.
package struct MigrationViolation: Equatable, Sendable {
    package var entity: String
    package var property: String?
    package var isRelationship = false
    package var reason: String

    package init(entity: String, property: String? = nil, isRelationship: Bool = false, reason: String) {
        (self.entity, self.property, self.isRelationship, self.reason) = (entity, property, isRelationship, reason)
    }

    package static let missingAttribute = "Validation error missing attribute values on mandatory destination attribute"
    package static let missingRelationship =
        "Validation error missing objects of a mandatory destination relationship"
    /// Several objects of a relationship that keeps one.
    package static let severalOwners =
        "Several objects lead to the same one, and the destination relationship keeps one of them only"
    package static let notInConfiguration = "The store has objects of an entity that its configuration no longer has"
    package static let replacedEntity = "The store has objects of an entity whose name another one takes"
    package static let abstractEntity = "The store has objects of an entity that is abstract in the destination model"
    package static let outOfRange = "A value does not fit the type of the destination attribute"
}
