import CompactCollections
import CoreDataModel
import Foundation

/// A store compared with a program's model, and the way to open it so that nothing is lost without permission: see
/// ``ModelReconciliation``.
package protocol ReconcilableStore {
    var url: URL { get }
    var reconciliation: ModelReconciliation { get }
    /// The model with which a coordinator can open the store.
    var model: NSManagedObjectModel { get }
    /// Whether the store must be migrated to be opened with the model.
    var isMigrationNeeded: Bool { get }

    /// The data that would be lost, with the numbers of rows; empty if the store can be migrated.
    func losses() throws -> [CountedLoss]

    /// Existing values that violate new uniqueness constraints.
    ///
    /// - Parameter limit: the number of examples for each constraint.
    /// - Returns: the values, by constraint; empty if all are unique.
    /// - Throws: the errors of reading the store.
    func sharedValues(limit: Int) throws -> [SharedValues]

    /// Objects that several others have in a relationship by which one alone is to have them.
    ///
    /// - Parameter limit: the number of examples for each relationship.
    /// - Returns: the objects, by relationship; empty if each is in one only.
    /// - Throws: the errors of reading the store.
    func sharedMembers(limit: Int) throws -> [SharedMembers]

    /// Migrates the store to the ``model``, and makes missing indexes. It is only for a store that loses nothing by it.
    ///
    /// Entities keep their numbers, and entities that are left alone keep their tables, so that other programs can
    /// continue to use the store.
    ///
    /// - Parameter defersCleanup: whether removing what is no longer needed is deferred.
    /// - Throws: 134140 and 134190 if no mapping can be inferred, 134110 if the objects do not fit, 134111 if values
    ///   that must be unique are not, 134090 if somebody else changed the store meanwhile. The store is then unchanged.
    func migrate(defersCleanup: Bool) throws
}

/// Data that would be lost, with the number of rows.
package struct CountedLoss: Equatable, Sendable {
    package let loss: ModelLoss
    package let rows: Int

    package init(loss: ModelLoss, rows: Int) { (self.loss, self.rows) = (loss, rows) }
}

/// Values that several rows share although they must be unique.
package struct SharedValues: Equatable, Sendable {
    package let entity: String
    package let constraint: [String]
    /// The first values as text, with the numbers of rows that have them.
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

/// Objects that several others have in a relationship by which one alone is to have them.
package struct SharedMembers: Sendable {
    /// The entity of those that have them.
    package let entity: String
    package let relationship: String
    /// The entity of the objects.
    package let destination: String
    /// The first objects, each with how many others have it.
    package let examples: [(identifier: String, owners: Int)]
    /// Whether there are more than the examples.
    package let hasMore: Bool

    package init(
        entity: String, relationship: String, destination: String, examples: [(identifier: String, owners: Int)],
        hasMore: Bool
    ) {
        (self.entity, self.relationship, self.destination) = (entity, relationship, destination)
        (self.examples, self.hasMore) = (examples, hasMore)
    }
}
