/// A store that a developer may write: it works with managed objects, where our own stores work with rows.
///
/// The coordinator calls it under its lock only.
protocol ObjectStore: NSPersistentStore {
    /// The context on whose behalf the store is asked, while it is.
    var askingContext: NSManagedObjectContext? { get set }

    /// Whether fetches find objects without their values, which the store is asked for one by one.
    var givesFaults: Bool { get }

    /// Permanent IDs for new objects, in order.
    func makePermanentIdentifiers(for objects: [NSManagedObject]) throws -> [NSManagedObjectID]

    /// Writes what a context saves, or nothing.
    ///
    /// - Throws: `SaveRefusal` for conflicts, and whatever the developer's methods throw.
    func save(_ objects: SavedObjects, _ changes: ChangeSet) throws -> SaveResult
}

/// The objects of one store that a context saves.
struct SavedObjects {
    var inserted: [NSManagedObject] = []
    var updated: [NSManagedObject] = []
    var deleted: [NSManagedObject] = []
}
