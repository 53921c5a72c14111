/// A coordinator that tells the stores of developers which context asks.
final class AskingSource: RowSource, @unchecked Sendable {
    // @unchecked Sendable: both are immutable, and the context is only passed on to stores, which are asked on its queue.
    private let context: NSManagedObjectContext
    private let coordinator: NSPersistentStoreCoordinator

    init(_ context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator) {
        self.context = context
        self.coordinator = coordinator
    }

    var generation: UInt32 { coordinator.generation }

    func isCurrent(_ identifier: NSManagedObjectID, since stamp: UInt32) -> Bool {
        coordinator.isCurrent(identifier, since: stamp)
    }

    func isScattered(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool {
        coordinator.isScattered(plan, stores: stores)
    }

    func givesFaults(_ plan: FetchPlan) -> Bool { coordinator.givesFaults(plan) }

    func fetchRows(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> ContiguousArray<Row> {
        try coordinator.asking(for: context) { try coordinator.fetchRows(plan, stores: stores) }
    }

    func fetchIdentifiers(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [NSManagedObjectID] {
        try coordinator.asking(for: context) { try coordinator.fetchIdentifiers(plan, stores: stores) }
    }

    func fetchCount(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> Int {
        try coordinator.asking(for: context) { try coordinator.fetchCount(plan, stores: stores) }
    }

    func fetchDictionaries(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [[String: Any]] {
        try coordinator.asking(for: context) { try coordinator.fetchDictionaries(plan, stores: stores) }
    }

    func row(for identifier: NSManagedObjectID) throws -> Row? {
        try coordinator.asking(for: context) { try coordinator.row(for: identifier) }
    }

    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try coordinator.asking(for: context) { try coordinator.rows(for: identifiers) }
    }

    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        try coordinator.asking(for: context) { try coordinator.destinations(of: relationship, for: identifiers) }
    }

    func makePermanentIdentifiers(
        for objects: [NSManagedObject], assigned: [ObjectIdentifier: NSPersistentStore]
    ) throws -> [NSManagedObjectID] {
        try coordinator.makePermanentIdentifiers(for: objects, assigned: assigned)
    }
}
