/// A store that a developer may write. It works with managed objects, whereas the built-in stores work with rows.
///
/// The coordinator only calls it under its lock.
protocol ObjectStore: NSPersistentStore {
    /// The context on whose behalf the store is being asked.
    var askingContext: NSManagedObjectContext? { get set }

    /// Whether fetches return objects without values, which the store is asked for one by one.
    var givesFaults: Bool { get }

    // MARK: Rows

    /// The rows that a plan finds, in order.
    func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row>

    /// The IDs of the rows that a plan finds, in order.
    func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID]

    /// How many rows a plan finds.
    func fetchCount(_ plan: FetchPlan) throws -> Int

    /// The dictionaries that a plan finds, in order.
    func fetchDictionaries(_ plan: FetchPlan) throws -> [[String: Any]]

    /// The row of an object; `nil` if it is gone.
    func row(for identifier: NSManagedObjectID) throws -> Row?

    /// The destinations of a to-many relationship, in order if it is ordered.
    func destinations(
        of relationship: RelationshipLayout, for identifier: NSManagedObjectID
    ) throws -> [NSManagedObjectID]

    /// IDs for rows that come from another store.
    func makePermanentIdentifiers(for entities: [EntityLayout]) throws -> [NSManagedObjectID]

    /// Adds rows that come from another store.
    func add(_ changes: ChangeSet) throws -> SaveResult

    // MARK: Objects

    /// Permanent IDs for new objects, in order.
    func makePermanentIdentifiers(for objects: [NSManagedObject]) throws -> [NSManagedObjectID]

    /// Writes a context's changes, all of them or none.
    ///
    /// - Throws: `SaveRefusal` for conflicts, and the errors of the developer's methods.
    func save(_ objects: SavedObjects, _ changes: ChangeSet) throws -> SaveResult
}

/// The objects of one store that a context saves.
struct SavedObjects {
    var inserted: [NSManagedObject] = []
    var updated: [NSManagedObject] = []
    var deleted: [NSManagedObject] = []
}

extension ObjectStore {
    func makePermanentIdentifiers(for entities: [EntityLayout]) throws -> [NSManagedObjectID] {
        throw StoreError.unsupported("inserting rows", storeType: type, url: url)
    }

    func add(_ changes: ChangeSet) throws -> SaveResult {
        throw StoreError.unsupported("saving rows", storeType: type, url: url)
    }
}

extension NSPersistentStore {
    /// The store as one that works with managed objects: a developer's class, or one written like it.
    var objectStore: (any ObjectStore)? { self as? any ObjectStore }
}
