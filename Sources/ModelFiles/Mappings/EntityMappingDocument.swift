import CompactCollections
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
