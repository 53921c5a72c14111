import CoreData

/// Rows from a context's managed objects, by public API; unsaved changes count. For use on the context's queue.
final class ObjectRows: StructRows {
    private let context: NSManagedObjectContext

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
