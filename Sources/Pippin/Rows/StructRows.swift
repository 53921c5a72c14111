import StoreSession

/// A single value of a model, or of one that it leads to.
struct AttributePath {
    let path: String
    let kind: AttributeKind
    /// The relationships on the way to it; nil for a value of the model itself.
    let relationships: String?
}

/// The source of the rows of models.
protocol StructRows: AnyObject {
    /// The slot of each field of an entity in its rows; -1 for a to-many relationship.
    func slots(of plan: EntityPlan) throws -> ContiguousArray<Int>

    /// The selected rows, in order.
    func rows(of plan: EntityPlan, _ selection: RecordSelection) throws -> ContiguousArray<Row>

    /// Hands out the selected rows, one at a time; `body` must not keep them.
    func forEachRow(
        of plan: EntityPlan, _ selection: RecordSelection, _ body: (any CurrentRow) throws -> Void
    ) throws

    /// Hands out values of the selected models, a few models at a time: the values of one model after those of another,
    /// in the order of the paths.
    func readTuples(
        of plan: EntityPlan, _ selection: RecordSelection, at paths: [AttributePath],
        _ body: (ContiguousArray<StoredValue>) throws -> Void
    ) throws

    /// The rows of objects; deleted ones are left out.
    func rows(of plan: EntityPlan, for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row>

    /// The destinations of a to-many relationship, for each of several objects.
    func destinations(
        of field: FieldPlan, of plan: EntityPlan, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]]
}

/// Reads the rows that many objects lead to, handing them out one by one.
protocol SetRows: StructRows {
    /// Whether this kind of reading is available.
    var isSetSource: Bool { get }

    /// Hands out the rows of objects, each with its place among them; deleted ones are left out.
    func forEachRow(
        of plan: EntityPlan, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws

    /// Hands out the rows at the end of a to-many relationship: those of one object one after the other, in their
    /// order.
    func forEachDestination(
        of field: FieldPlan, of plan: EntityPlan, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws
}
