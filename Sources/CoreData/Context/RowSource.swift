/// Where the objects of a context come from: the stores behind a coordinator, or the objects of a parent context.
///
/// Safe to ask on the queue of any context that has it as its source.
protocol RowSource: AnyObject, Sendable {
    /// Grows with every save that reaches the stores.
    var generation: UInt32 { get }

    /// Whether what was read of an object at a generation is still what the source has, as far as it knows.
    func isCurrent(_ place: ObjectPlace, since stamp: UInt32) -> Bool

    /// Whether the results of a plan come from several stores: neither in order together, nor cut to the limit.
    func isScattered(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool

    /// Whether a store leaves a plan's predicate and order to those who have the objects.
    func leavesToAsker(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool

    /// Whether the objects that a plan finds shall come without their values, which are asked for one by one.
    func givesFaults(_ plan: FetchPlan) -> Bool

    /// The rows that a plan finds.
    func fetchRows(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> ContiguousArray<Row>

    /// Whether rows are read one by one, and each may become an object before the next is read.
    var handsOutRows: Bool { get }

    /// Hands out the rows that a plan finds, one by one.
    func readRows(_ plan: FetchPlan, stores: [NSPersistentStore]?, _ body: (consuming PlacedRow) -> Void) throws

    /// The IDs of the rows that a plan finds.
    func fetchIdentifiers(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [NSManagedObjectID]

    /// How many rows a plan finds.
    func fetchCount(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> Int

    /// The dictionaries that a plan finds.
    func fetchDictionaries(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [[String: Any]]

    /// The row of an object, `nil` when it is gone.
    func row(for identifier: NSManagedObjectID) throws -> Row?

    /// The rows of objects; those that are gone are left out.
    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row>

    /// The destinations of a to-many relationship for many objects, in order where it has one.
    ///
    /// - Returns: a list for each of the objects.
    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]]

    /// Hands out the rows at the end of a to-many relationship, for many objects, those of one object in order where it has one.
    ///
    /// - Parameters:
    ///   - relationship: the relationship.
    ///   - identifiers: the objects, each once.
    ///   - body: gets the place of an object among them, and a row that it leads to.
    /// - Returns: whether the source hands them out; nothing is read otherwise.
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
