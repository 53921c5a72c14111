import CoreDataModel

/// A row that is handed out for an object, without an ID, which most objects never need.
package struct PlacedRow {
    package let identity: ObjectIdentity
    /// The version, which increases with every update: `Z_OPT`.
    package let version: Int64
    /// The values by slot; `.null` in the slots of transient attributes.
    package let values: ContiguousArray<StoredValue>

    @inlinable
    package init(identity: ObjectIdentity, version: Int64, values: ContiguousArray<StoredValue>) {
        self.identity = identity
        self.version = version
        self.values = values
    }

    package init(_ row: Row) {
        self.init(identity: ObjectIdentity(row.objectID), version: row.version, values: row.values)
    }
}
