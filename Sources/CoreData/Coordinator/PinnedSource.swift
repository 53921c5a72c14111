/// A coordinator's stores as they were when a query generation was pinned: the source of a pinned context.
///
/// Primary keys for new objects are handed out by the stores as they are now.
final class PinnedSource: RowSource {
    private let source: NSPersistentStoreCoordinator
    /// What is read: neither `current` nor expired.
    let token: NSQueryGenerationToken

    init(_ source: NSPersistentStoreCoordinator, _ token: NSQueryGenerationToken) {
        self.source = source
        self.token = token
    }

    /// That of the time of pinning: what is read now is known to be right only up to then.
    var generation: UInt32 { token.saveCount }

    /// What was read of a generation stays right.
    func isCurrent(_ identifier: NSManagedObjectID, since stamp: UInt32) -> Bool { true }

    func isScattered(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool {
        source.isScattered(plan, stores: stores)
    }

    func givesFaults(_ plan: FetchPlan) -> Bool { source.givesFaults(plan) }

    func fetchRows(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> ContiguousArray<Row> {
        try source.reading(token) { try source.fetchRows(plan, stores: stores) }
    }

    func fetchIdentifiers(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [NSManagedObjectID] {
        try source.reading(token) { try source.fetchIdentifiers(plan, stores: stores) }
    }

    func fetchCount(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> Int {
        try source.reading(token) { try source.fetchCount(plan, stores: stores) }
    }

    func fetchDictionaries(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [[String: Any]] {
        try source.reading(token) { try source.fetchDictionaries(plan, stores: stores) }
    }

    func row(for identifier: NSManagedObjectID) throws -> Row? {
        try source.reading(token) { try source.row(for: identifier) }
    }

    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try source.reading(token) { try source.rows(for: identifiers) }
    }

    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        try source.reading(token) { try source.destinations(of: relationship, for: identifiers) }
    }

    func makePermanentIdentifiers(
        for objects: [NSManagedObject], assigned: [ObjectIdentifier: NSPersistentStore]
    ) throws -> [NSManagedObjectID] { try source.makePermanentIdentifiers(for: objects, assigned: assigned) }
}
