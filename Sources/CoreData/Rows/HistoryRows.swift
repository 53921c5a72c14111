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
}

/// Where in the history a request begins or ends.
package enum HistoryPosition: Sendable {
    case transaction(Int64)
    /// Seconds since 2001.
    case date(Double)
}
