import CoreData

/// Which records, in which order.
struct RecordSelection: @unchecked Sendable {
    // @unchecked Sendable: predicates and sort descriptors do not change once they are made.
    var predicate: NSPredicate?
    var sortDescriptors: [NSSortDescriptor]?
    var limit: Int?
    var offset = 0
    var isDistinct = false
    /// Paths of relationships whose records are wanted as well.
    var prefetched: [String] = []

    /// All of them, in no particular order.
    static let all = RecordSelection()

    /// - SQL: `WHERE <uidKey> = ?`
    static func uid(_ uid: some UniqueIdentifier, key: String) -> RecordSelection {
        RecordSelection(predicate: NSPredicate(format: "%K == %@", argumentArray: [key, uid.attributeValue]))
    }

    /// - SQL: `WHERE <uidKey> IN (?, …)`
    static func uids(_ uids: some Sequence<some UniqueIdentifier>, key: String) -> RecordSelection {
        let values = uids.map(\.attributeValue)
        return RecordSelection(predicate: NSPredicate(format: "%K IN %@", argumentArray: [key, values]))
    }
}
