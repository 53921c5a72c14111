/// A parent context as the source of its children, which see its objects including unsaved changes.
///
/// Each question is asked on the parent's queue, while the child waits.
final class ParentSource: RowSource {
    let parent: NSManagedObjectContext

    init(_ parent: NSManagedObjectContext) { self.parent = parent }

    var generation: UInt32 { parent.source?.generation ?? 0 }

    /// An object that the parent has registered may have changed there; for all others the stores know.
    func isCurrent(_ identity: ObjectIdentity, since stamp: UInt32) -> Bool {
        // An object of the parent's that has not taken its permanent ID yet is not found by it.
        guard !parent.table.contains(identity), parent.linkToParent?.hasPromotions != true, let source = parent.source
        else {
            return false
        }
        return source.isCurrent(identity, since: stamp)
    }

    func isScattered(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool { false }

    func evaluatesInMemory(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool { false }

    func givesFaults(_ plan: FetchPlan) -> Bool { false }

    /// A child's first read pins its parent, as the parent's own does.
    private func reading<Result>(_ body: @escaping (NSManagedObjectContext) throws -> Result) throws -> Result {
        try parent.onQueue { parent in
            try parent.pinIfNeeded()
            return try body(parent)
        }
    }

    func fetchRows(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> ContiguousArray<Row> {
        try reading { try $0.rowsForChild($0.planWithCurrentIdentifiers(plan), stores) }
    }

    func fetchIdentifiers(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [NSManagedObjectID] {
        try reading { try $0.fetchIdentifiers($0.planWithCurrentIdentifiers(plan), stores) }
    }

    func fetchCount(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> Int {
        try reading { try $0.fetchCount($0.planWithCurrentIdentifiers(plan), stores) }
    }

    func fetchDictionaries(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [[String: Any]] {
        try reading { try $0.source?.fetchDictionaries($0.planWithCurrentIdentifiers(plan), stores: stores) ?? [] }
    }

    func row(for identifier: NSManagedObjectID) throws -> Row? {
        try reading { try $0.rowsForChild([identifier]).first }
    }

    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        guard !identifiers.isEmpty else { return [] }
        return try reading { try $0.rowsForChild(identifiers) }
    }

    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        try reading { try $0.destinationsForChild(relationship, identifiers) }
    }

    func makePermanentIdentifiers(
        for objects: [NSManagedObject], assigned: [ObjectIdentifier: NSPersistentStore]
    ) throws -> [NSManagedObjectID] {
        try parent.onQueue { parent in
            guard let source = parent.source else { throw NSManagedObjectContext.noSource("give permanent IDs") }
            return try source.makePermanentIdentifiers(for: objects, assigned: assigned)
        }
    }
}
