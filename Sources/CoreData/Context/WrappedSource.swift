/// A source that asks another source, each time in a certain state.
protocol WrappedSource: RowSource {
    /// The other source.
    var source: any RowSource { get }

    /// Asks the source in that state.
    func reading<Result>(_ body: () throws -> Result) throws -> Result
}

extension WrappedSource {
    var generation: UInt32 { source.generation }

    func isCurrent(_ identity: ObjectIdentity, since stamp: UInt32) -> Bool {
        source.isCurrent(identity, since: stamp)
    }

    func isScattered(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool {
        source.isScattered(plan, stores: stores)
    }

    func evaluatesInMemory(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool {
        source.evaluatesInMemory(plan, stores: stores)
    }

    func givesFaults(_ plan: FetchPlan) -> Bool { source.givesFaults(plan) }

    func fetchRows(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> ContiguousArray<Row> {
        try reading { try source.fetchRows(plan, stores: stores) }
    }

    func fetchIdentifiers(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [NSManagedObjectID] {
        try reading { try source.fetchIdentifiers(plan, stores: stores) }
    }

    func fetchCount(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> Int {
        try reading { try source.fetchCount(plan, stores: stores) }
    }

    func fetchDictionaries(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [[String: Any]] {
        try reading { try source.fetchDictionaries(plan, stores: stores) }
    }

    func row(for identifier: NSManagedObjectID) throws -> Row? { try reading { try source.row(for: identifier) } }

    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try reading { try source.rows(for: identifiers) }
    }

    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        try reading { try source.destinations(of: relationship, for: identifiers) }
    }

    func readDestinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: consuming PlacedRow) -> Void
    ) throws -> Bool {
        try reading { try source.readDestinations(of: relationship, for: identifiers, body) }
    }

    func makePermanentIdentifiers(
        for objects: [NSManagedObject], assigned: [ObjectIdentifier: NSPersistentStore]
    ) throws -> [NSManagedObjectID] { try source.makePermanentIdentifiers(for: objects, assigned: assigned) }
}
