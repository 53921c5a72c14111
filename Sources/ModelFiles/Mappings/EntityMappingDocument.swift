import Foundation

/// How the objects of a source entity become objects of a destination entity, as a value.
package struct EntityMappingDocument {
    package var name: String?
    package var type = NSEntityMappingType.undefinedEntityMappingType
    package var sourceName: String?
    package var destinationName: String?
    package var sourceVersionHash: Data?
    package var destinationVersionHash: Data?
    /// The class of the migration policy; nil for the default one.
    package var policyClassName: String?
    /// The expression for the source objects; nil for all of the entity.
    package var sourceExpression: ExpressionTree?
    package var attributes: [PropertyMappingDocument]?
    package var relationships: [PropertyMappingDocument]?
    package var userInfo: [AnyHashable: Any]?

    package init(name: String?) { self.name = name }
}

/// How a property of a destination object gets its value, as a value.
package struct PropertyMappingDocument {
    package var name: String?
    /// The expression for the value; nil leaves the property at its default.
    package var expression: ExpressionTree?
    package var userInfo: [AnyHashable: Any]?

    package init(name: String?, expression: ExpressionTree? = nil, userInfo: [AnyHashable: Any]? = nil) {
        self.name = name
        self.expression = expression
        self.userInfo = userInfo
    }
}

/// What a migration does with the objects of an entity. The raw values are those of Apple's mapping model files.
public enum NSEntityMappingType: UInt, Sendable {
    /// No type yet.
    case undefinedEntityMappingType = 0
    /// The migration policy does everything.
    case customEntityMappingType = 1
    /// The destination entity is new: there is nothing to migrate.
    case addEntityMappingType = 2
    /// The source entity was removed: its objects are not migrated.
    case removeEntityMappingType = 3
    /// The entity is the same in both models.
    case copyEntityMappingType = 4
    /// The entity changed: each source object becomes one of the destination entity.
    case transformEntityMappingType = 5
}
