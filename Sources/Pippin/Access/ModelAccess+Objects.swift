import CoreData

// What a block does with models without encoding them: deletions, and changes of those that a filter selects.
extension ModelAccess {
    /// Changes models.
    ///
    /// - Parameters:
    ///   - selection: selects the models.
    ///   - plan: the models' entity.
    ///   - changes: what is set.
    /// - Returns: how many are selected.
    /// - Throws: ``PersistenceError``
    func update(_ selection: RecordSelection, of plan: EntityPlan, _ changes: PreparedChanges) throws -> Int {
        try onContext { context in
            let objects = try plan.objects(selection, in: context)
            try changes.apply(to: objects, in: context)
            return objects.count
        }
    }

    /// Deletes models, and what they own.
    ///
    /// - Parameters:
    ///   - selection: selects the models.
    ///   - plan: the models' entity.
    /// - Returns: how many are selected.
    /// - Throws: ``PersistenceError``
    func delete(_ selection: RecordSelection, of plan: EntityPlan) throws -> Int {
        let rows = try PersistenceError.explaining(.readFailed) {
            try deleteRows(of: plan, after: true) { rows, _ in try rows.identifiers(of: plan, selection) }
        }
        if let rows { return rows }
        return try onContext { context in
            let objects = try plan.objects(selection, in: context)
            for object in objects { context.delete(object) }
            return objects.count
        }
    }

    /// Deletes models, and what they own.
    ///
    /// - Parameters:
    ///   - keys: the models' identifiers; those that are not stored are skipped.
    ///   - plan: the models' entity.
    /// - Returns: how many are stored.
    /// - Throws: ``PersistenceError``
    func delete(keys: [Any], of plan: EntityPlan) throws -> Int {
        let rows = try PersistenceError.explaining(.readFailed) {
            try deleteRows(of: plan, after: false) { try Self.identifiers(keys, of: plan, $1, in: $0) }
        }
        if let rows { return rows }
        return try onContext { context in
            let objects = try plan.objects(keys: keys, in: context).values
            for object in objects { context.delete(object) }
            return objects.count
        }
    }

    /// The IDs of the rows with some identifiers; nil for dates that a server rounds.
    private static func identifiers(
        _ keys: [Any], of plan: EntityPlan, _ layout: EntityLayout, in rows: StoreRows
    ) throws -> [NSManagedObjectID]? {
        guard let kind = plan.record.attributeKinds[plan.uidField], let store = rows.session.onlyStore,
            !(kind == .date && rows.session.roundsDates)
        else { return nil }
        var found: [NSManagedObjectID] = []
        let values = keys.compactMap { StoredValue($0, kind) }
        guard values.count == keys.count else { return nil }
        try rows.forEachRow(of: plan, where: try rows.slots(of: plan)[plan.uidField], isAmong: values) { row in
            found.append(NSManagedObjectID(layout: layout, store: store.identity, key: row.key))
        }
        return found
    }
}

extension PersistenceManager {
    /// Saves the objects of models, if there are any whose unique values the save may settle.
    ///
    /// - Returns: how many of the new models were left out for others with the same values.
    func save(_ graph: ModelGraph, in context: NSManagedObjectContext) throws -> Int {
        let settles = graph.plan.facts.contains { if case .unique(_, .some) = $0 { true } else { false } }
        guard settles, context.hasChanges else { return 0 }
        let keys = Set((0..<graph.rootCount).map { graph.nodes[$0].key })
        let new = context.insertedObjects.filter { object in
            guard object.entity.name == graph.plan.name, let key = object.value(forKey: graph.plan.uidKey) else {
                return false
            }
            return keys.contains(RecordKey(attributeValue: key))
        }
        try save(context)
        return new.count { $0.managedObjectContext == nil || $0.isDeleted }
    }
}
