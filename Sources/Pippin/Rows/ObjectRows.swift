import CoreData
import StoreSession

/// Rows from a context's managed objects, by public API; unsaved changes count. For use on the context's queue.
final class ObjectRows: StructRows {
    let context: NSManagedObjectContext

    /// The objects of the latest rows, which the context forgets otherwise, with the lists that were fetched for them.
    private var latest: [NSManagedObject] = []

    init(_ context: NSManagedObjectContext) { self.context = context }

    func slots(of plan: EntityPlan) throws -> ContiguousArray<Int> {
        ContiguousArray(plan.fields.indices.map { plan.fields[$0].isToMany ? -1 : $0 })
    }

    func rows(of plan: EntityPlan, _ selection: RecordSelection) throws -> ContiguousArray<Row> {
        latest = try objects(of: plan, selection, prefetching: plan.listNames)
        return try ContiguousArray(latest.map { try row($0, plan) })
    }

    /// The selected objects, in order.
    private func objects(
        of plan: EntityPlan, _ selection: RecordSelection, prefetching relationships: [String]?
    ) throws -> [NSManagedObject] {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: plan.name)
        request.predicate = selection.predicate
        request.returnsObjectsAsFaults = false
        request.relationshipKeyPathsForPrefetching = relationships
        let order = selection.sortDescriptors ?? []
        // The store knows nothing of unsaved changes of the models by whose values others are sorted.
        let isSortedHere =
            context.hasChanges && order.contains { term in plan.fields.contains { $0.leads(along: term.key ?? "") } }
        if !isSortedHere {
            request.sortDescriptors = order
            request.fetchLimit = selection.limit ?? 0
            request.fetchOffset = selection.offset
        }
        var objects = try context.fetch(request).compactMap { $0 as? NSManagedObject }
        if isSortedHere {
            objects.sort { Self.precedes($0, $1, order) }
            objects = Array(objects.dropFirst(selection.offset).prefix(selection.limit ?? .max))
        }
        return objects
    }

    func readTuples(
        of plan: EntityPlan, _ selection: RecordSelection, at paths: [AttributePath],
        _ body: (ContiguousArray<StoredValue>) throws -> Void
    ) throws {
        for object in try objects(of: plan, selection, prefetching: paths.compactMap(\.relationships)) {
            try body(
                ContiguousArray(
                    try paths.map { path in
                        if path.kind == .data, let reason = object.missingFile(of: path.path) {
                            throw PersistenceError.unreadable(entity: plan.name, key: path.path, reason: reason)
                        }
                        return StoredValue(object.value(forKeyPath: path.path), path.kind) ?? .null
                    }))
        }
    }

    private static func precedes(_ first: NSManagedObject, _ second: NSManagedObject, _ order: [NSSortDescriptor])
        -> Bool
    {
        for descriptor in order {
            switch descriptor.compare(first, to: second) {
            case .orderedAscending: return true
            case .orderedDescending: return false
            case .orderedSame: continue
            }
        }
        return false
    }

    func forEachRow(
        of plan: EntityPlan, _ selection: RecordSelection, _ body: (any CurrentRow) throws -> Void
    ) throws {
        let rows = try rows(of: plan, selection)
        guard let first = rows.first else { return }
        let current = ReadRow(first)
        for row in rows {
            current.stand(on: row)
            try body(current)
        }
    }

    func rows(of plan: EntityPlan, for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try load(identifiers.filter { context.registeredObject(for: $0)?.isFault ?? true }, plan)
        return try ContiguousArray(
            identifiers.compactMap { identifier -> Row? in
                do { return try row(context.existingObject(with: identifier), plan) } catch let error as NSError
                    where error.code == NSManagedObjectReferentialIntegrityError
                {
                    // The object was deleted in the meantime.
                    return nil
                }
            })
    }

    /// Fetches objects that have no values yet, at once; an object that is gone is left out.
    private func load(_ identifiers: [NSManagedObjectID], _ plan: EntityPlan) throws {
        guard identifiers.count > 1 else { return }
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: plan.name)
        request.returnsObjectsAsFaults = false
        request.relationshipKeyPathsForPrefetching = plan.listNames
        for portion in identifiers.portions() {
            request.predicate = NSPredicate(format: "SELF IN %@", argumentArray: [Array(portion)])
            latest += try context.fetch(request).compactMap { $0 as? NSManagedObject }
        }
    }

    func destinations(
        of field: FieldPlan, of plan: EntityPlan, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        identifiers.map { context.object(with: $0).members(of: field.name).map(\.objectID) }
    }

    func count(of plan: EntityPlan, _ selection: RecordSelection) throws -> Int {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: plan.name)
        request.predicate = selection.predicate
        return try context.count(for: request)
    }

    func has(of plan: EntityPlan, _ selection: RecordSelection) throws -> Bool {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: plan.name)
        request.predicate = selection.predicate
        request.fetchLimit = 1
        request.resultType = .managedObjectIDResultType
        return try !context.fetch(request).isEmpty
    }

    func computed(
        of plan: EntityPlan, _ predicate: NSPredicate?, _ complete: (inout FetchPlan) -> Void
    ) throws -> [[String: Any]] { try context.computed(of: plan.name, predicate, complete) }

    /// An object as a row.
    func row(_ object: NSManagedObject, _ plan: EntityPlan) throws -> Row {
        var values = ContiguousArray<StoredValue>()
        values.reserveCapacity(plan.fields.count)
        for field in plan.fields {
            let value: StoredValue?
            switch field.kind {
            case .attribute(let kind): value = StoredValue(object.value(forKey: field.name), kind)
            case .json: value = StoredValue(object.value(forKey: field.name), .data)
            case .composite:
                value =
                    (object.value(forKey: field.name) as? [String: Any]).map { .object(CompositeValue($0)) } ?? .null
            case .toOne:
                value = (object.value(forKey: field.name) as? NSManagedObject).map { .identifier($0.objectID) } ?? .null
            case .toMany: value = .null
            }
            if field.kind.isData, value?.isNull ?? false, let reason = object.missingFile(of: field.name) {
                throw PersistenceError.unreadable(entity: plan.name, key: field.name, reason: reason)
            }
            guard let value else {
                throw PersistenceError.unreadable(entity: plan.name, key: field.name, reason: "it is of another type.")
            }
            values.append(value)
        }
        return Row(objectID: object.objectID, version: 0, values: values)
    }
}

extension NSManagedObject {
    /// The objects of a to-many relationship, in order if it is ordered.
    func members(of relationship: String) -> [NSManagedObject] {
        switch value(forKey: relationship) {
        case let ordered as NSOrderedSet: ordered.array.compactMap { $0 as? NSManagedObject }
        case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
        default: []
        }
    }
}

extension NSManagedObject {
    /// Why an attribute's value that is kept in a file beside the store cannot be read; nil if it can.
    func missingFile(of key: String) -> String? {
        missingExternalData[key].map {
            "its value is kept in the file “\($0.path)”, which cannot be read. Put the file back."
        }
    }
}

extension FieldKind {
    /// Whether values are bytes in the store, possibly in a file beside it.
    fileprivate var isData: Bool {
        switch self {
        case .attribute(.data), .json: true
        default: false
        }
    }
}

extension FieldPlan {
    /// Whether a key path goes through this field to another model.
    fileprivate func leads(along path: String) -> Bool {
        if case .toOne = kind { path.hasPrefix(name + ".") } else { false }
    }
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
