import CoreDataModel
import Foundation

/// A store, and what it takes to open it with a program's model so that nothing is lost unasked: see ``ModelReconciliation``.
package protocol ReconcilableStore {
    var url: URL { get }
    var reconciliation: ModelReconciliation { get }
    /// What a coordinator needs to open the store.
    var model: NSManagedObjectModel { get }
    /// Whether the store must be migrated to be opened with the model.
    var isMigrationNeeded: Bool { get }

    /// What would be lost, with how many rows; empty where the store can be migrated.
    func losses() throws -> [CountedLoss]

    /// Values that are to be unique from now on and are not.
    ///
    /// - Parameter limit: how many examples to give of each constraint.
    /// - Returns: the values, by constraint; none when all rows are unique.
    /// - Throws: the errors of reading the store.
    func sharedValues(limit: Int) throws -> [SharedValues]

    /// Brings the store to the ``model``, and makes the indexes that it lacks. Only for a store that loses nothing by it.
    ///
    /// Entities keep their numbers, and what is left alone keeps its tables, so that other programs can go on with the store.
    ///
    /// - Parameter defersCleanup: whether removing what is not needed any more is left for later.
    /// - Throws: 134140 and 134190 when no mapping can be inferred, 134110 when the objects do not fit, 134111 when values that must be
    ///   unique are not, 134090 when somebody else changed the store meanwhile. The store is as it was then.
    func migrate(defersCleanup: Bool) throws
}

/// Something that would be lost, and of how many rows.
package struct CountedLoss: Equatable, Sendable {
    package let loss: ModelLoss
    package let rows: Int

    package init(loss: ModelLoss, rows: Int) { (self.loss, self.rows) = (loss, rows) }
}

/// Values that several rows share although they are to be unique.
package struct SharedValues: Equatable, Sendable {
    package let entity: String
    package let constraint: [String]
    /// The values as text, and how many rows have them; the first ones.
    package let examples: [(values: [String], rows: Int)]
    /// Whether there are more than the examples.
    package let hasMore: Bool

    package init(entity: String, constraint: [String], examples: [(values: [String], rows: Int)], hasMore: Bool) {
        (self.entity, self.constraint, self.examples, self.hasMore) = (entity, constraint, examples, hasMore)
    }

    package static func == (one: Self, other: Self) -> Bool {
        one.entity == other.entity && one.constraint == other.constraint && one.hasMore == other.hasMore
            && one.examples.map(\.values) == other.examples.map(\.values)
            && one.examples.map(\.rows) == other.examples.map(\.rows)
    }
}
