import CoreDataModel
import Foundation

/// How a property of a destination object gets its value.
open class NSPropertyMapping: NSObject {
    // Set up before a migration, and only read while one runs, on its thread.

    /// The name of the property in the destination entity.
    open var name: String?

    /// What the value is computed from; `nil` leaves the property to its default.
    ///
    /// The expression may use the variables `$source`, `$destination`, `$manager`, `$entityMapping`, `$propertyMapping`
    /// and `$entityPolicy`, and call methods of what they stand for:
    /// `FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "BookToBook", $source.books)`.
    open var valueExpression: NSExpression? { didSet { keepsDefault = false } }

    /// Whether the property keeps its default where the expression gives no value, as lightweight migration does it in SQL.
    package var keepsDefault = false

    /// Facts of the developer's own about the mapping.
    open var userInfo: [AnyHashable: Any]?
}
