import CoreDataModel
import Foundation

/// The kind of a change to an object: `ZCHANGETYPE`.
package enum HistoryChangeKind: Int64, Sendable {
    case insert = 0
    case update = 1
    case delete = 2
}

/// A transaction of the persistent history, as stored.
package struct HistoryTransactionRow: Sendable {
    package let number: Int64
    /// Seconds since 2001.
    package let timestamp: Double
    package let author: String?
    package let bundleID: String
    package let contextName: String?
    package let processID: String

    package init(
        number: Int64, timestamp: Double, author: String?, bundleID: String, contextName: String?, processID: String
    ) {
        (self.number, self.timestamp, self.author, self.bundleID, self.contextName, self.processID) = (
            number, timestamp, author, bundleID, contextName, processID
        )
    }
}

/// A change of the persistent history, as stored.
package struct HistoryChangeRow: @unchecked Sendable {
    // @unchecked Sendable: immutable; see StoredValue.
    package let number: Int64
    package let transaction: Int64
    package let kind: HistoryChangeKind
    package let objectID: NSManagedObjectID
    /// The properties that an update changed; nil for other changes, and if the model does not determine them.
    package let changedNames: [String]?
    /// The values that a deletion preserved, by property; nil if the entity preserves none.
    package let tombstone: [String: StoredValue]?
    /// What an update changed, or a deletion deleted, as it was before, by property; nil where that was not kept.
    package let former: [String: KeptValue]?

    package init(
        number: Int64, transaction: Int64, kind: HistoryChangeKind, objectID: NSManagedObjectID,
        changedNames: [String]?, tombstone: [String: StoredValue]?, former: [String: KeptValue]? = nil
    ) {
        (self.number, self.transaction, self.kind, self.objectID, self.changedNames, self.tombstone) = (
            number, transaction, kind, objectID, changedNames, tombstone
        )
        self.former = former
    }
}

/// The position in the history where a request begins or ends.
package enum HistoryPosition: Sendable {
    case transaction(Int64)
    /// Seconds since 2001.
    case date(Double)
}
