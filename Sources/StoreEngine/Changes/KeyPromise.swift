import CoreDataModel

/// Primary keys that a change set uses before the store has counted them: the save itself does, in its transaction, and is refused where
/// they are not the next ones any more.
package struct KeyPromise: Sendable {
    /// The root entity, which counts for its subentities.
    package let root: EntityLayout
    /// The last key that was taken when the promise was made.
    package let before: Int64
    /// The last key of the promise.
    package let last: Int64

    package init(root: EntityLayout, before: Int64, last: Int64) {
        (self.root, self.before, self.last) = (root, before, last)
    }
}

/// Refuses a save whose promised keys somebody else took. Nothing of it was written; it is tried again with other keys.
package struct KeysTaken: Error {
    package init() {}
}

/// IDs for new rows, and what the save has to keep for them.
package struct PromisedIdentifiers {
    package var identifiers: [NSManagedObjectID]
    package var promises: [KeyPromise]

    package init(_ identifiers: [NSManagedObjectID], _ promises: [KeyPromise] = []) {
        (self.identifiers, self.promises) = (identifiers, promises)
    }
}
