import StoreSession

/// A selection of records, and their order.
package struct RecordSelection: @unchecked Sendable {
    // @unchecked Sendable: predicates and sort descriptors do not change once they are made.
    package var predicate: NSPredicate?
    package var sortDescriptors: [NSSortDescriptor]?
    package var limit: Int?
    /// How many are skipped. A negative number skips none.
    package var offset = 0 { didSet { if offset < 0 { offset = 0 } } }
    package var isDistinct = false
    /// Paths of relationships whose records are fetched as well.
    package var prefetched: [String] = []

    package init(
        predicate: NSPredicate? = nil, sortDescriptors: [NSSortDescriptor]? = nil, limit: Int? = nil
    ) {
        self.predicate = predicate
        self.sortDescriptors = sortDescriptors
        self.limit = limit
    }

    /// Leaves only what meets another condition as well.
    mutating func narrow(to condition: NSPredicate) {
        predicate =
            predicate.map { NSCompoundPredicate(andPredicateWithSubpredicates: [$0, condition]) } ?? condition
    }

    /// All of them, in no particular order.
    package static let all = RecordSelection()

    /// The record with a key.
    package static func key(_ key: Any, named name: String) -> RecordSelection {
        RecordSelection(predicate: NSPredicate(format: "%K == %@", argumentArray: [name, key]))
    }

    /// The records with one of some keys.
    package static func keys(_ keys: [Any], named name: String) -> RecordSelection {
        RecordSelection(predicate: NSPredicate(format: "%K IN %@", argumentArray: [name, keys]))
    }
}
