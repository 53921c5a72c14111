/// The engine of stores that work with objects. It implements operations on many rows by operations on single objects.
final class ObjectStoreEngine: StoreEngine {
    // The store owns the engine.
    private unowned let store: any ObjectStore

    init(_ store: any ObjectStore) { self.store = store }

    func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row> { try store.fetchRows(plan) }
    func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID] { try store.fetchIdentifiers(plan) }
    func fetchCount(_ plan: FetchPlan) throws -> Int { try store.fetchCount(plan) }
    func fetchDictionaries(_ plan: FetchPlan) throws -> [[String: Any]] { try store.fetchDictionaries(plan) }

    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try ContiguousArray(identifiers.compactMap { try store.row(for: $0) })
    }

    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] { try identifiers.map { try store.destinations(of: relationship, for: $0) } }

    func makePermanentIdentifiers(
        for entities: [EntityLayout], isSavedLater: Bool
    ) throws -> [NSManagedObjectID] { try store.makePermanentIdentifiers(for: entities) }

    func save(_ changes: ChangeSet, with others: () throws -> Void) throws -> SaveResult {
        try others()
        return try store.add(changes)
    }
}
