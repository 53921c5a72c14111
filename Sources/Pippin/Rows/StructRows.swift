import CoreData

/// Where the rows of models come from.
protocol StructRows: AnyObject {
    /// The slot of each field of an entity in its rows; -1 for a relationship to many.
    func slots(of plan: EntityPlan) throws -> ContiguousArray<Int>

    /// The rows that are selected, in order.
    func rows(of plan: EntityPlan, _ selection: RecordSelection) throws -> ContiguousArray<Row>

    /// Hands out the rows that are selected, one at a time; `body` must not keep them.
    func forEachRow(
        of plan: EntityPlan, _ selection: RecordSelection, _ body: (any CurrentRow) throws -> Void
    ) throws

    /// The rows of objects; those that are gone are left out.
    func rows(of plan: EntityPlan, for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row>

    /// The objects at the end of a relationship to many, for each of several objects.
    func destinations(
        of field: FieldPlan, of plan: EntityPlan, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]]
}

/// Rows that many objects lead to, one by one as they are read.
protocol SetRows: StructRows {
    /// Whether they can be asked for like this.
    var isSetSource: Bool { get }

    /// Hands out the rows of objects, each with its place among them; those that are gone are left out.
    func forEachRow(
        of plan: EntityPlan, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws

    /// Hands out the rows at the end of a relationship to many: those of one object one after the other, in their order.
    func forEachDestination(
        of field: FieldPlan, of plan: EntityPlan, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws
}

/// Rows of a store, as they are now or were at a moment.
protocol StateRows: StructRows, Sendable {
    #if !canImport(ObjectiveC)
        /// The rows of a state of the store.
        func reading(_ scope: ReadScope) -> any StateRows
        /// The statement that fetches the rows of a selection; nil for a store that runs none.
        func statement(of plan: EntityPlan, _ selection: RecordSelection) throws -> String?
    #endif
}
