import Foundation

/// The values of one object in an incremental store.
open class NSIncrementalStoreNode: NSObject {
    /// The ID of the object.
    open private(set) var objectID: NSManagedObjectID
    /// The version of the values; a store increases it with every update of the object.
    open private(set) var version: UInt64
    private var values: [String: Any]

    /// Creates a node.
    ///
    /// - Parameters:
    ///   - objectID: an ID of the node's store.
    ///   - values: the attributes by name, and the to-one relationships, each as the ID of its destination or `NSNull`.
    ///     The store is asked for properties that are left out.
    ///   - version: the version of the values.
    public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
        self.objectID = objectID
        self.values = values
        self.version = version
        super.init()
    }

    /// Takes the values of a new version; properties that are left out keep their values.
    ///
    /// - Parameters:
    ///   - values: values by property name, in the form that the initializer takes.
    ///   - version: the version of the values.
    open func update(withValues values: [String: Any], version: UInt64) {
        self.values.merge(values) { $1 }
        self.version = version
    }

    /// The value of a property; `nil` if the node has none.
    ///
    /// - Parameter prop: an attribute or a to-one relationship.
    /// - Returns: the value; for a to-one relationship an ID.
    open func value(for prop: NSPropertyDescription) -> Any? { values[prop.name] }
}
