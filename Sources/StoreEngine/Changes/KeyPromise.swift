import CoreDataModel

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
