import CoreDataModel

/// A row that is handed out for an object, without an ID, which most objects never need.
package struct PlacedRow {
    package let place: ObjectPlace
    /// The version, which increases with every update: `Z_OPT`.
    package let version: Int64
    /// The values by slot; `.null` in the slots of transient attributes.
    package let values: ContiguousArray<StoredValue>

    @inlinable
    package init(place: ObjectPlace, version: Int64, values: ContiguousArray<StoredValue>) {
        self.place = place
        self.version = version
        self.values = values
    }

    package init(_ row: Row) {
        self.init(place: ObjectPlace(row.objectID), version: row.version, values: row.values)
    }
}
