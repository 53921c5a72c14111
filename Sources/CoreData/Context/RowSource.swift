/// The source of a context's objects: the stores behind a coordinator, or the objects of a parent context.
///
/// It can be asked on the queue of any context whose source it is.
protocol RowSource: AnyObject, Sendable {
    /// Increases with every save that reaches the stores.
    var generation: UInt32 { get }

    /// Whether the values of an object that were read at a generation are still the source's, as far as it knows.
    func isCurrent(_ identity: ObjectIdentity, since stamp: UInt32) -> Bool

    /// Whether the results of a plan come from several stores, and are therefore neither ordered as a whole nor cut to
    /// the limit.
    func isScattered(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool

    /// Whether a store leaves a plan's predicate and order to the caller.
    func evaluatesInMemory(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool

    /// Whether the objects that a plan finds come without values, which are asked for one by one.
    func givesFaults(_ plan: FetchPlan) -> Bool

    /// The rows that a plan finds.
    func fetchRows(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> ContiguousArray<Row>

    /// Whether rows are read one by one, so that each may become an object before the next is read.
    var handsOutRows: Bool { get }

    /// Hands out the rows that a plan finds, one by one.
    func readRows(_ plan: FetchPlan, stores: [NSPersistentStore]?, _ body: (consuming PlacedRow) -> Void) throws

    /// The IDs of the rows that a plan finds.
    func fetchIdentifiers(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [NSManagedObjectID]

    /// How many rows a plan finds.
    func fetchCount(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> Int

    /// The dictionaries that a plan finds.
    func fetchDictionaries(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [[String: Any]]

    /// The row of an object; `nil` if it is gone.
    func row(for identifier: NSManagedObjectID) throws -> Row?

    /// The rows of objects; deleted ones are left out.
    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row>

    /// The destinations of a to-many relationship for many objects, in order if it is ordered.
    ///
    /// - Returns: a list for each of the objects.
    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]]

    /// Hands out the rows at the end of a to-many relationship for many objects; those of one object are in order if
    /// the relationship is ordered.
    ///
    /// - Parameters:
    ///   - relationship: the relationship.
    ///   - identifiers: the objects, each once.
    ///   - body: receives the index of an object among them, and the row of one of its destinations.
    /// - Returns: whether the source supports this; otherwise nothing is read.
    /// - Throws: the errors of the stores.
    func readDestinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: consuming PlacedRow) -> Void
    ) throws -> Bool

    /// Permanent IDs for new objects, in order.
    func makePermanentIdentifiers(
        for objects: [NSManagedObject], assigned: [ObjectIdentifier: NSPersistentStore]
    ) throws -> [NSManagedObjectID]
}

extension RowSource {
    var handsOutRows: Bool { false }

    func readDestinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: consuming PlacedRow) -> Void
    ) throws -> Bool { false }

    func readRows(_ plan: FetchPlan, stores: [NSPersistentStore]?, _ body: (consuming PlacedRow) -> Void) throws {
        for row in try fetchRows(plan, stores: stores) { body(PlacedRow(row)) }
    }

    /// The destinations of a to-many relationship of one object.
    func destinations(
        of relationship: RelationshipLayout, for identifier: NSManagedObjectID
    ) throws -> [NSManagedObjectID] { try destinations(of: relationship, for: [identifier]).first ?? [] }
}
