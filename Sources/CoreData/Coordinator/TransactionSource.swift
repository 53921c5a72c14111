/// The source of a context that works in a transaction: everything that it reads is of one state of the stores.
final class TransactionSource: RowSource {
    private let source: any RowSource
    let transaction: OptimisticTransaction

    init(_ source: any RowSource, _ transaction: OptimisticTransaction) {
        self.source = source
        self.transaction = transaction
    }

    var generation: UInt32 { source.generation }

    func isCurrent(_ identifier: NSManagedObjectID, since stamp: UInt32) -> Bool {
        source.isCurrent(identifier, since: stamp)
    }

    func isScattered(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool {
        source.isScattered(plan, stores: stores)
    }

    func givesFaults(_ plan: FetchPlan) -> Bool { source.givesFaults(plan) }

    func fetchRows(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> ContiguousArray<Row> {
        try transaction.reading { try source.fetchRows(plan, stores: stores) }
    }

    func fetchIdentifiers(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [NSManagedObjectID] {
        try transaction.reading { try source.fetchIdentifiers(plan, stores: stores) }
    }

    func fetchCount(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> Int {
        try transaction.reading { try source.fetchCount(plan, stores: stores) }
    }

    func fetchDictionaries(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [[String: Any]] {
        try transaction.reading { try source.fetchDictionaries(plan, stores: stores) }
    }

    func row(for identifier: NSManagedObjectID) throws -> Row? {
        try transaction.reading { try source.row(for: identifier) }
    }

    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try transaction.reading { try source.rows(for: identifiers) }
    }

    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        try transaction.reading { try source.destinations(of: relationship, for: identifiers) }
    }

    /// Keys that are handed out change nothing that could have been read.
    func makePermanentIdentifiers(
        for objects: [NSManagedObject], assigned: [ObjectIdentifier: NSPersistentStore]
    ) throws -> [NSManagedObjectID] {
        try transaction.handingOut { try source.makePermanentIdentifiers(for: objects, assigned: assigned) }
    }
}
