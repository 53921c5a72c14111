package import StoreSession

/// The managed objects of a context: what is read has the context's unsaved changes, and what is changed are its
/// objects. For use on the context's queue.
///
/// A module with Core Data provides it: programs of structs do without.
package protocol ObjectSource: AnyObject {
    /// Whether there are unsaved changes.
    var hasChanges: Bool { get }
    /// Whether nobody has used the context yet.
    var isUntouched: Bool { get }
    /// Whether the stores have what it has, so that they can compute with it.
    var isStored: Bool { get }

    /// The objects that a plan selects, as rows, and those that some relationships lead to, which are read next.
    func rows(_ plan: FetchPlan, with relationships: [String]) throws -> ContiguousArray<Row>
    /// Values of the objects that a plan selects; a `MissingFile` for one that cannot be read.
    func values(_ plan: FetchPlan, at paths: [String], _ body: ([Any?]) throws -> Void) throws
    /// The number of objects that a plan selects.
    func count(_ plan: FetchPlan) throws -> Int
    /// What the stores compute of stored objects.
    func computed(_ plan: FetchPlan) throws -> [[String: Any]]
    /// Objects as rows; those that are gone are left out.
    func rows(for identifiers: [NSManagedObjectID], with relationships: [String]) throws -> ContiguousArray<Row>
    /// The members of a relationship of objects, in order if it is ordered.
    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]]
    /// A condition by which unsaved changes count, also those of objects that it reads beside the selected ones.
    func seeingChanges(_ predicate: NSPredicate, of entity: String) throws -> NSPredicate

    /// A new object, as a row.
    func insert(_ layout: EntityLayout) throws -> Row
    /// Changes objects. New ones were inserted before.
    func apply(_ changes: ChangeSet) throws
    /// Deletes objects by their delete rules.
    func delete(_ identifiers: [NSManagedObjectID]) throws

    /// Saves the changes.
    ///
    /// - Parameter new: objects that were inserted.
    /// - Returns: how many of these were left out for others with the same unique values.
    /// - Throws: ``PersistenceError``
    func save(_ new: [NSManagedObjectID]) throws -> Int
    /// Gives the context's queue back, which a block that writes has as its own.
    func giveBack()
}

/// A value that cannot be read, and why.
package struct MissingFile {
    package let reason: String
    package init(reason: String) { self.reason = reason }
}

/// Rows from a context's managed objects; unsaved changes count. For use on the context's queue.
final class ObjectRows: ChangeableRows {
    let objects: any ObjectSource
    private let model: StoreRows

    /// - Parameters:
    ///   - objects: the objects.
    ///   - model: knows the entities of models.
    init(_ objects: any ObjectSource, _ model: StoreRows) { (self.objects, self.model) = (objects, model) }

    func slots(of plan: EntityPlan) throws -> ContiguousArray<Int> { try model.slots(of: plan) }
    func layout(of plan: EntityPlan) throws -> EntityLayout { try model.layout(of: plan) }

    var isStored: Bool { objects.isStored }

    func rows(of plan: EntityPlan, _ selection: RecordSelection) throws -> ContiguousArray<Row> {
        try objects.rows(model.fetchPlan(plan, selection), with: plan.listNames)
    }

    func forEachRow(
        of plan: EntityPlan, _ selection: RecordSelection, _ body: (any CurrentRow) throws -> Void
    ) throws { try forEach(rows(of: plan, selection), body) }

    private func forEach(_ rows: ContiguousArray<Row>, _ body: (any CurrentRow) throws -> Void) throws {
        guard let first = rows.first else { return }
        let current = ReadRow(first)
        for row in rows {
            current.stand(on: row)
            try body(current)
        }
    }

    func readTuples(
        of plan: EntityPlan, _ selection: RecordSelection, at paths: [AttributePath],
        _ body: (ContiguousArray<StoredValue>) throws -> Void
    ) throws {
        try objects.values(model.fetchPlan(plan, selection), at: paths.map(\.path)) { values in
            var tuple: ContiguousArray<StoredValue> = []
            for (path, value) in zip(paths, values) {
                if let missing = value as? MissingFile {
                    throw PersistenceError.unreadable(entity: plan.name, key: path.path, reason: missing.reason)
                }
                tuple.append(StoredValue(value, path.kind) ?? .null)
            }
            try body(tuple)
        }
    }

    func rows(of plan: EntityPlan, for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try objects.rows(for: identifiers, with: plan.listNames)
    }

    func destinations(
        of field: FieldPlan, of plan: EntityPlan, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        guard let relationship = try layout(of: plan).relationship(named: field.name) else { return [] }
        return try objects.destinations(of: relationship, for: identifiers)
    }

    func count(of plan: EntityPlan, _ selection: RecordSelection) throws -> Int {
        try objects.count(model.fetchPlan(plan, selection))
    }

    func has(of plan: EntityPlan, _ selection: RecordSelection) throws -> Bool {
        var fetch = try model.fetchPlan(plan, selection)
        fetch.limit = 1
        return try objects.count(fetch) > 0
    }

    func computed(
        of plan: EntityPlan, _ predicate: NSPredicate?, _ complete: (inout FetchPlan) -> Void
    ) throws -> [[String: Any]] {
        var fetch = try model.fetchPlan(plan, RecordSelection(predicate: predicate))
        complete(&fetch)
        return try objects.computed(fetch)
    }

    // MARK: Changing

    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try objects.rows(for: identifiers, with: [])
    }

    func identifiers(of plan: EntityPlan, _ selection: RecordSelection) throws -> [NSManagedObjectID] {
        try rows(of: plan, selection).map(\.objectID)
    }

    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] { try objects.destinations(of: relationship, for: identifiers) }

    func isEmpty(_ plan: EntityPlan) throws -> Bool { try count(of: plan, .all) == 0 }

    func forEachRow(
        of plan: EntityPlan, where slot: Int, isAmong values: [StoredValue], _ body: (any CurrentRow) throws -> Void
    ) throws {
        guard let attribute = try layout(of: plan).slots[slot].attribute else { return }
        for portion in values.portions() {
            let wanted = portion.compactMap { $0.objectValue(for: attribute) }
            try forEachRow(of: plan, .keys(wanted, named: attribute.name), body)
        }
    }

    func newRow(_ layout: EntityLayout) throws -> Row? { try objects.insert(layout) }
    // A context follows delete rules and asks classes itself.
    var followsDeleteRules: Bool { false }
    func check(_ layout: EntityLayout) {}
}

extension EntityPlan {
    /// The names of the relationships to many, each of which a store would be asked for object by object.
    fileprivate var listNames: [String] { relationships.map { fields[$0] }.filter(\.isToMany).map(\.name) }
}

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

    /// How many models a selection has.
    func count(of plan: EntityPlan, _ selection: RecordSelection) throws -> Int

    /// Whether a selection has any model.
    func has(of plan: EntityPlan, _ selection: RecordSelection) throws -> Bool

    /// Whether the stores have the rows as they are here, and can compute with them.
    var isStored: Bool { get }

    /// What the store computes of the stored models that a predicate selects.
    ///
    /// - Parameters:
    ///   - plan: the models' entity.
    ///   - predicate: what the models meet; nil for all.
    ///   - complete: sets the columns, the groups and the order.
    /// - Returns: a dictionary of the columns for each group, or for all models.
    /// - Throws: what reading throws.
    func computed(
        of plan: EntityPlan, _ predicate: NSPredicate?, _ complete: (inout FetchPlan) -> Void
    ) throws -> [[String: Any]]
}

extension StructRows {
    var isStored: Bool { true }
}

/// Rows that are changed: those of the store, or the objects of a context.
protocol ChangeableRows: StructRows {
    func layout(of plan: EntityPlan) throws -> EntityLayout
    /// The rows with some IDs, of any entity; deleted ones are left out.
    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row>
    /// The IDs of the rows of a selection.
    func identifiers(of plan: EntityPlan, _ selection: RecordSelection) throws -> [NSManagedObjectID]
    /// The destinations of a to-many relationship, for each of several rows.
    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]]
    /// Whether an entity has no rows.
    func isEmpty(_ plan: EntityPlan) throws -> Bool
    /// The rows with one of some values.
    func forEachRow(
        of plan: EntityPlan, where slot: Int, isAmong values: [StoredValue], _ body: (any CurrentRow) throws -> Void
    ) throws

    /// A new row that has an ID already; nil where it gets one when it is saved.
    func newRow(_ layout: EntityLayout) throws -> Row?
    /// Whether those who change rows follow the delete rules.
    var followsDeleteRules: Bool { get }
    /// Checks that rows are all there is to an entity.
    ///
    /// - Throws: `NeedsObjects`.
    func check(_ layout: EntityLayout) throws
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

/// A selection of records, and their order.
package struct RecordSelection: @unchecked Sendable {
    // @unchecked Sendable: predicates and sort descriptors do not change once they are made.
    package var predicate: NSPredicate?
    package var sortDescriptors: [NSSortDescriptor]?
    package var limit: Int?
    /// How many are skipped. A negative number skips none.
    package var offset = 0 { didSet { if offset < 0 { offset = 0 } } }
    package var isDistinct = false
    /// Paths of relationships whose records are fetched as well.
    package var prefetched: [String] = []

    package init(
        predicate: NSPredicate? = nil, sortDescriptors: [NSSortDescriptor]? = nil, limit: Int? = nil
    ) {
        self.predicate = predicate
        self.sortDescriptors = sortDescriptors
        self.limit = limit
    }

    /// Leaves only what meets another condition as well.
    mutating func narrow(to condition: NSPredicate) {
        predicate =
            predicate.map { NSCompoundPredicate(andPredicateWithSubpredicates: [$0, condition]) } ?? condition
    }

    /// All of them, in no particular order.
    package static let all = RecordSelection()

    /// The record with a key.
    package static func key(_ key: Any, named name: String) -> RecordSelection {
        RecordSelection(predicate: NSPredicate(format: "%K == %@", argumentArray: [name, key]))
    }

    /// The records with one of some keys.
    package static func keys(_ keys: [Any], named name: String) -> RecordSelection {
        RecordSelection(predicate: NSPredicate(format: "%K IN %@", argumentArray: [name, keys]))
    }
}
