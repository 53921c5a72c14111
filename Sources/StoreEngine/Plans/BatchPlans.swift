import CoreDataModel
import Foundation

/// Who makes a change, as the history notes it: the context's name and transaction author.
package struct ChangeOrigin: Sendable {
    package var contextName: String?
    package var author: String?

    package init(contextName: String? = nil, author: String? = nil) {
        self.contextName = contextName
        self.author = author
    }
}

/// What becomes of a new row whose unique values another row has already.
package enum BatchConflictRule: Sendable {
    /// The whole request fails.
    case fail
    /// The row that is there takes the new values. One of another entity, unless that is below the request's, takes none: the request fails.
    case replace
    /// The row that is there stays, the new one is left out.
    case keep
}

/// A batch insertion as a store sees it; the rows come one by one.
package struct BatchInsertPlan {
    package let entity: EntityLayout
    package var conflicts = BatchConflictRule.fail
    package var wantsIdentifiers = false
    package var origin = ChangeOrigin()
    /// Begins anew with the first row; `nil` where rows cannot be had twice.
    package var rewind: (() -> Void)?

    package init(entity: EntityLayout) { self.entity = entity }

    /// The row that each new one starts from.
    package var emptyRow: BatchRow { BatchRow(values: entity.defaultValues, isGiven: []) }
}

/// A row that a batch insertion writes.
package struct BatchRow {
    /// The values by slot.
    package var values: ContiguousArray<StoredValue>
    /// By slot, whether the value was given: a row that is there already keeps the others. Empty when all were.
    package var isGiven: ContiguousArray<Bool>

    package init(values: ContiguousArray<StoredValue>, isGiven: ContiguousArray<Bool>) {
        self.values = values
        self.isGiven = isGiven
    }
}

/// A batch update as a store sees it.
package struct BatchUpdatePlan {
    /// What a property becomes.
    package enum Change {
        case value(StoredValue)
        case expression(NSExpression)
    }

    /// Which rows are updated.
    package var rows: FetchPlan
    /// What becomes of which slots, ascending.
    package var changes: [(slot: Int, change: Change)] = []
    package var wantsIdentifiers = false
    package var origin = ChangeOrigin()

    package init(rows: FetchPlan) { self.rows = rows }
}

/// A batch deletion as a store sees it.
package struct BatchDeletePlan {
    /// Which rows are deleted.
    package var rows: FetchPlan
    /// The objects to delete, where the request names their IDs instead.
    package var identifiers: [NSManagedObjectID]?
    package var wantsIdentifiers = false
    package var origin = ChangeOrigin()

    package init(rows: FetchPlan) { self.rows = rows }
}

/// What a batch request did.
package struct BatchOutcome {
    /// How many rows it inserted, updated or deleted.
    package var count = 0
    /// Their IDs, where the plan wants them.
    package var identifiers: [NSManagedObjectID] = []

    package init() {}

    package static func + (left: BatchOutcome, right: BatchOutcome) -> BatchOutcome {
        var sum = left
        sum.count += right.count
        sum.identifiers += right.identifiers
        return sum
    }
}
