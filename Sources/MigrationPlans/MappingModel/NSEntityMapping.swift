import CompactCollections
import CoreDataModel
import Foundation

/// How the objects of a source entity become objects of a destination entity.
open class NSEntityMapping: NSObject {
    // Set up before a migration, and only read while one runs, on its thread.

    /// The name, unique within the mapping model: expressions find the mapping by it.
    ///
    /// By default, the names of both entities with an arrow between them.
    open var name: String! {
        get {
            if storedName == nil, sourceEntityName == nil, destinationEntityName == nil { return nil }
            return storedName ?? "\(sourceEntityName ?? "")->\(destinationEntityName ?? "")"
        }
        set { storedName = newValue }
    }
    private var storedName: String?

    /// The operation on the objects.
    open var mappingType: NSEntityMappingType = .undefinedEntityMappingType

    /// The entity whose objects are migrated; `nil` for an added entity.
    open var sourceEntityName: String?

    /// The version hash that the source entity had when the mapping was made.
    open var sourceEntityVersionHash: Data?

    /// The entity that the objects become; `nil` for a removed entity.
    open var destinationEntityName: String?

    /// The version hash that the destination entity had when the mapping was made.
    open var destinationEntityVersionHash: Data?

    /// How the attributes get their values, in the order in which they are set.
    open var attributeMappings: [NSPropertyMapping]?

    /// How the relationships get their objects, in the order in which they are set.
    open var relationshipMappings: [NSPropertyMapping]?

    /// The expression for the source objects; `nil` for all objects of the source entity.
    open var sourceExpression: NSExpression?

    /// The name of the class, with its module, of the `NSEntityMigrationPolicy` that does the work; `nil` for the
    /// default one.
    open var entityMigrationPolicyClassName: String?

    /// Your own information about the mapping.
    open var userInfo: [AnyHashable: Any]?

    /// Whether the other object maps the same entities in the same way.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but an equal mapping.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSEntityMapping else { return false }
        if other === self { return true }
        return name == other.name && mappingType == other.mappingType && sourceEntityName == other.sourceEntityName
            && sourceEntityVersionHash == other.sourceEntityVersionHash
            && destinationEntityName == other.destinationEntityName
            && destinationEntityVersionHash == other.destinationEntityVersionHash
            && attributeMappings == other.attributeMappings && relationshipMappings == other.relationshipMappings
            && sourceExpression == other.sourceExpression
            && entityMigrationPolicyClassName == other.entityMigrationPolicyClassName
            && NSDictionary(dictionary: userInfo ?? [:]) == NSDictionary(dictionary: other.userInfo ?? [:])
    }

    /// A hash of the name.
    open override var hash: Int { name.hashValue }
}
