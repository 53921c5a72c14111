import CoreDataModel
import Foundation

/// The changes that a save asks a store to make, in one transaction.
package struct ChangeSet {
    package var inserted: [RowChange] = []
    package var updated: [RowChange] = []
    package var deleted: [RowDeletion] = []
    /// The promised keys of new objects; none if the store has reserved the keys.
    package var promises: [KeyPromise] = []
    /// The context's name and transaction author, for the history.
    package var contextName: String?
    package var author: String?
    /// Notes to write beside the rows, by their names; nil for those to delete: see `NotingEngine`.
    package var notes: [String: Data?] = [:]

    package init() {}

    package var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}

/// A new or changed object. Its ID and all IDs in it are permanent.
package struct RowChange {
    package let objectID: NSManagedObjectID
    /// The version on which the change is based, 0 for a new object. The store refuses an update if its row has another
    /// version, and writes the next one.
    package let version: Int64
    /// All values by slot.
    package let values: ContiguousArray<StoredValue>
    /// The slots that changed, ascending; all persistent ones for a new object.
    package let changedSlots: [Int]
    /// The to-many relationships that changed.
    package let toManyChanges: [ToManyChange]

    package init(
        objectID: NSManagedObjectID, version: Int64, values: ContiguousArray<StoredValue>, changedSlots: [Int],
        toManyChanges: [ToManyChange]
    ) {
        self.objectID = objectID
        self.version = version
        self.values = values
        self.changedSlots = changedSlots
        self.toManyChanges = toManyChanges
    }
}

/// A change of a to-many relationship, seen from one end.
///
/// In one-to-many relationships the destinations' rows contain the foreign key and are in the change set themselves:
/// the store needs this only for the order. In many-to-many relationships, both ends report the same pairs; the store
/// writes each once, and does half of the work if the change set says which end has all pairs.
package struct ToManyChange {
    package let relationship: RelationshipLayout
    package let added: [NSManagedObjectID]
    package let removed: [NSManagedObjectID]
    /// All destinations in order, for an ordered relationship. Without it, or without a change of the relationship,
    /// added members have no place yet: they come before the others, ordered by key.
    package let order: [NSManagedObjectID]?
    /// The end whose changes contain all added and removed pairs.
    package let pairs: Pairs

    /// An end of a many-to-many relationship.
    package enum Pairs {
        /// Either end may lack pairs that only the other end has.
        case eitherEnd
        /// This end has all pairs, so the other end's need not be checked.
        case thisEnd
        case otherEnd
    }

    package init(
        relationship: RelationshipLayout, added: [NSManagedObjectID], removed: [NSManagedObjectID],
        order: [NSManagedObjectID]?, pairs: Pairs = .eitherEnd
    ) {
        self.pairs = pairs
        self.relationship = relationship
        self.added = added
        self.removed = removed
        self.order = order
    }
}

/// An object to delete, and the version on which the deletion is based.
package struct RowDeletion {
    package let objectID: NSManagedObjectID
    package let version: Int64

    package init(objectID: NSManagedObjectID, version: Int64) {
        self.objectID = objectID
        self.version = version
    }
}

/// The result of a successful save.
package struct SaveResult {
    /// The values that the store computed or changed itself (derived attributes), by object, including objects that
    /// were not in the change set.
    package var computed: [(objectID: NSManagedObjectID, slot: Int, value: StoredValue)] = []

    package init() {}
}

/// The reason why a store refused a save. Nothing of the change set was written.
package enum SaveRefusal: Error {
    /// Others have changed or deleted rows since they were read: the store's present rows, `nil` for a deleted
    /// one.
    case optimisticLocking([(objectID: NSManagedObjectID, current: Row?)])
    /// Rows of the change set share the values of a uniqueness constraint, with each other or with a row of the store.
    case constraints([ConstraintViolation])
}

/// Objects that share values which must be unique.
package struct ConstraintViolation {
    package let entity: EntityLayout
    package let constraint: [String]
    package let values: [StoredValue]
    /// The objects of the change set.
    package let conflicting: [NSManagedObjectID]
    /// The row of the store with these values, unless the change set changes or deletes it.
    package let stored: Row?

    package init(
        entity: EntityLayout, constraint: [String], values: [StoredValue], conflicting: [NSManagedObjectID],
        stored: Row?
    ) {
        self.entity = entity
        self.constraint = constraint
        self.values = values
        self.conflicting = conflicting
        self.stored = stored
    }
}

/// Primary keys that a change set uses before the store has reserved them. The save reserves them in its transaction,
/// and is refused if they are no longer the next ones.
package struct KeyPromise: Sendable {
    /// The root entity, which counts for its subentities.
    package let root: EntityLayout
    /// The last key in use when the promise was made.
    package let before: Int64
    /// The last key of the promise.
    package let last: Int64

    package init(root: EntityLayout, before: Int64, last: Int64) {
        (self.root, self.before, self.last) = (root, before, last)
    }
}

/// Thrown if others took the promised keys of a save. Nothing was written; the save is repeated with other keys.
package struct KeysTaken: Error {
    package init() {}
}

/// IDs for new rows, and the promises that the save must fulfil for them.
package struct PromisedIdentifiers {
    package var identifiers: [NSManagedObjectID]
    package var promises: [KeyPromise]

    package init(_ identifiers: [NSManagedObjectID], _ promises: [KeyPromise] = []) {
        (self.identifiers, self.promises) = (identifiers, promises)
    }
}
