import Foundation

/// The values of one object as an incremental store has them.
open class NSIncrementalStoreNode: NSObject {
    /// The ID of the object.
    open private(set) var objectID: NSManagedObjectID
    /// The version of the values; a store raises it with every update of the object.
    open private(set) var version: UInt64
    private var values: [String: Any]

    /// Creates a node.
    ///
    /// - Parameters:
    ///   - objectID: an ID of the node's store.
    ///   - values: the attributes by name, and the to-one relationships, each as the ID of its destination or `NSNull`;
    ///     the store is asked for those that are left out.
    ///   - version: the version of the values.
    public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
        self.objectID = objectID
        self.values = values
        self.version = version
        super.init()
    }

    /// Takes new values of a new version; values that are left out stay.
    ///
    /// - Parameters:
    ///   - values: values by the names of the properties, as the initializer takes them.
    ///   - version: the version of the values.
    open func update(withValues values: [String: Any], version: UInt64) {
        self.values.merge(values) { $1 }
        self.version = version
    }

    /// The value of a property, `nil` when the node has none.
    ///
    /// - Parameter prop: an attribute or a to-one relationship.
    /// - Returns: the value; for a to-one relationship an ID.
    open func value(for prop: NSPropertyDescription) -> Any? { values[prop.name] }
}
