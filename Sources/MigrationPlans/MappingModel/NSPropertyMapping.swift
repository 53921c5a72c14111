import CompactCollections
import CoreDataModel
import Foundation

/// How a property of a destination object gets its value.
open class NSPropertyMapping: NSObject {
    // Set up before a migration, and only read while one runs, on its thread.

    /// The name of the property in the destination entity.
    open var name: String?

    /// The expression for the value; `nil` leaves the property's default.
    ///
    /// The expression may use the variables `$source`, `$destination`, `$manager`, `$entityMapping`, `$propertyMapping`
    /// and `$entityPolicy`, and call methods of their objects: `FUNCTION($manager,
    /// "destinationInstancesForEntityMappingNamed:sourceInstances:", "BookToBook", $source.books)`.
    open var valueExpression: NSExpression? { didSet { keepsDefault = false } }

    /// Whether the property keeps its default if the expression has no value, as lightweight migration does in SQL.
    package var keepsDefault = false

    /// Your own information about the mapping.
    open var userInfo: [AnyHashable: Any]?

    /// Whether the other object maps a property of the same name in the same way.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but an equal mapping.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPropertyMapping else { return false }
        if other === self { return true }
        return name == other.name && valueExpression == other.valueExpression && keepsDefault == other.keepsDefault
            && NSDictionary(dictionary: userInfo ?? [:]) == NSDictionary(dictionary: other.userInfo ?? [:])
    }

    /// A hash of the name.
    open override var hash: Int { name.hashValue }
}
