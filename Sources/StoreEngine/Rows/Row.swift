import CoreDataModel

/// The values of one object in its store.
package struct Row: @unchecked Sendable {
    // @unchecked Sendable: see StoredValue.
    package let objectID: NSManagedObjectID
    /// The version, which increases with every update: `Z_OPT`.
    package var version: Int64
    /// The values by slot; `.null` in the slots of transient attributes.
    package var values: ContiguousArray<StoredValue>

    package init(objectID: NSManagedObjectID, version: Int64, values: ContiguousArray<StoredValue>) {
        self.objectID = objectID
        self.version = version
        self.values = values
    }

    /// About how many bytes the values take.
    package var byteCount: Int {
        values.reduce(0) { sum, value in
            switch value {
            case .string(let text): sum + text.utf8.count
            case .data(let data): sum + data.count
            default: sum + 8
            }
        }
    }
}
