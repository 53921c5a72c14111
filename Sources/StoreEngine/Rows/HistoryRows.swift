import CoreDataModel
import Foundation

/// What happened to an object: `ZCHANGETYPE`.
package enum HistoryChangeKind: Int64, Sendable {
    case insert = 0
    case update = 1
    case delete = 2
}

/// A transaction of the persistent history as a store has it.
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

/// A change of the persistent history as a store has it.
package struct HistoryChangeRow: @unchecked Sendable {
    // @unchecked Sendable: immutable; see StoredValue.
    package let number: Int64
    package let transaction: Int64
    package let kind: HistoryChangeKind
    package let objectID: NSManagedObjectID
    /// Which properties an update changed; nil for others, and where the model does not tell.
    package let changedNames: [String]?
    /// What a deletion kept, by property; nil where the entity keeps nothing.
    package let tombstone: [String: StoredValue]?

    package init(
        number: Int64, transaction: Int64, kind: HistoryChangeKind, objectID: NSManagedObjectID,
        changedNames: [String]?, tombstone: [String: StoredValue]?
    ) {
        (self.number, self.transaction, self.kind, self.objectID, self.changedNames, self.tombstone) = (
            number, transaction, kind, objectID, changedNames, tombstone
        )
    }
}

/// Where in the history a request begins or ends.
package enum HistoryPosition: Sendable {
    case transaction(Int64)
    /// Seconds since 2001.
    case date(Double)
}
