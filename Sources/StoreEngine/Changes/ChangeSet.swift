import CoreDataModel

/// What a save asks a store to do, in one transaction.
package struct ChangeSet {
    package var inserted: [RowChange] = []
    package var updated: [RowChange] = []
    package var deleted: [RowDeletion] = []
    /// What the keys of new objects were promised by; none where the store has counted them.
    package var promises: [KeyPromise] = []
    /// The context's name and transaction author, for the history.
    package var contextName: String?
    package var author: String?

    package init() {}

    package var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}

/// A new or changed object. Its ID and all IDs in it are permanent.
package struct RowChange {
    package let objectID: NSManagedObjectID
    /// The version that the change builds on, 0 for a new object. The store refuses an update when its row has
    /// another version, and writes the next one.
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
/// For one-to-many relationships the destinations' rows carry the foreign key and are in the change set themselves:
/// the store needs this only for the order. For many-to-many relationships, both ends report the same pairs; the
/// store writes each once, and does half of the work where the change set names the end.
package struct ToManyChange {
    package let relationship: RelationshipLayout
    package let added: [NSManagedObjectID]
    package let removed: [NSManagedObjectID]
    /// All destinations in order, for an ordered relationship. Where it is not said, or there is no change of the relationship at all,
    /// what comes to it has no place yet: it comes before the others, by its key.
    package let order: [NSManagedObjectID]?
    /// Which end's changes have all pairs that come and go.
    package let pairs: Pairs

    /// An end of a relationship between many and many.
    package enum Pairs {
        /// Either may lack some, where only the other end has them.
        case eitherEnd
        /// This one: what the other end has as well need not be looked at.
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

/// An object to delete, and the version that the deletion builds on.
package struct RowDeletion {
    package let objectID: NSManagedObjectID
    package let version: Int64

    package init(objectID: NSManagedObjectID, version: Int64) {
        self.objectID = objectID
        self.version = version
    }
}

/// What a store says of a save that worked.
package struct SaveResult {
    /// The values that the store computed or changed by itself (derived attributes), by object; also of objects that
    /// were not in the change set.
    package var computed: [(objectID: NSManagedObjectID, slot: Int, value: StoredValue)] = []

    package init() {}
}

/// Why a store refused a save. Nothing of the change set was written.
package enum SaveRefusal: Error {
    /// Rows were changed or deleted by somebody else since they were read: what the store has now, `nil` for a row
    /// that is gone.
    case optimisticLocking([(objectID: NSManagedObjectID, current: Row?)])
    /// Rows of the change set share the values of a uniqueness constraint, with one another or with a row of the
    /// store.
    case constraints([ConstraintViolation])
}

/// Objects that share values which must be unique.
package struct ConstraintViolation {
    package let entity: EntityLayout
    package let constraint: [String]
    package let values: [StoredValue]
    /// The objects of the change set.
    package let conflicting: [NSManagedObjectID]
    /// The row of the store that has the values already, unless the change set changes or deletes it.
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
