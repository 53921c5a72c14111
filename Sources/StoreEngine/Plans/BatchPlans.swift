import CoreDataModel
import Foundation

/// The author of a change for the history: the context's name and transaction author.
package struct ChangeOrigin: Sendable {
    package var contextName: String?
    package var author: String?

    package init(contextName: String? = nil, author: String? = nil) {
        self.contextName = contextName
        self.author = author
    }
}

/// The treatment of a new row whose unique values another row already has.
package enum BatchConflictRule: Sendable {
    /// The whole request fails.
    case fail
    /// The existing row takes the new values. If it is of an entity that is neither the request's nor one of its
    /// subentities, the request fails.
    case replace
    /// The existing row stays, and the new one is left out.
    case keep
}

/// A batch insertion in the form for a store; the rows are passed one by one.
package struct BatchInsertPlan {
    package let entity: EntityLayout
    package var conflicts = BatchConflictRule.fail
    package var wantsIdentifiers = false
    package var origin = ChangeOrigin()
    /// Restarts with the first row; `nil` if the rows cannot be produced twice.
    package var rewind: (() -> Void)?

    package init(entity: EntityLayout) { self.entity = entity }

    /// The initial content of each new row.
    package var emptyRow: BatchRow { BatchRow(values: entity.defaultValues, isGiven: []) }
}

/// A row that a batch insertion writes.
package struct BatchRow {
    /// The values by slot.
    package var values: ContiguousArray<StoredValue>
    /// By slot, whether the value was given: an existing row keeps its other values. Empty if all were given.
    package var isGiven: ContiguousArray<Bool>

    package init(values: ContiguousArray<StoredValue>, isGiven: ContiguousArray<Bool>) {
        self.values = values
        self.isGiven = isGiven
    }
}

/// A batch update in the form for a store.
package struct BatchUpdatePlan {
    /// The new value of a property.
    package enum Change {
        case value(StoredValue)
        case expression(NSExpression)
    }

    /// The rows to update.
    package var rows: FetchPlan
    /// The changes by slot, ascending.
    package var changes: [(slot: Int, change: Change)] = []
    package var wantsIdentifiers = false
    package var origin = ChangeOrigin()

    package init(rows: FetchPlan) { self.rows = rows }
}

/// A batch deletion in the form for a store.
package struct BatchDeletePlan {
    /// The rows to delete.
    package var rows: FetchPlan
    /// The objects to delete, if the request specifies IDs.
    package var identifiers: [NSManagedObjectID]?
    package var wantsIdentifiers = false
    package var origin = ChangeOrigin()

    package init(rows: FetchPlan) { self.rows = rows }
}

/// The result of a batch request.
package struct BatchOutcome {
    /// The number of rows inserted, updated or deleted.
    package var count = 0
    /// Their IDs, if the plan requests them.
    package var identifiers: [NSManagedObjectID] = []

    package init() {}

    package static func + (left: BatchOutcome, right: BatchOutcome) -> BatchOutcome {
        var sum = left
        sum.count += right.count
        sum.identifiers += right.identifiers
        return sum
    }
}
