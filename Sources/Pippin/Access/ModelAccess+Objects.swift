import StoreSession

extension ChangeableRows {
    /// The IDs of the rows with some identifiers, given in the form that rows hold.
    func identifiers(_ values: [StoredValue], of plan: EntityPlan) throws -> [NSManagedObjectID] {
        var found: [NSManagedObjectID] = []
        try forEachRow(of: plan, where: try slots(of: plan)[plan.uidField], isAmong: values) { row in
            found.append(row.objectID)
        }
        return found
    }
}

extension StoreRows {
    /// The deletions of the rows with some identifiers, given in the form that rows hold.
    func deletions(_ values: [StoredValue], of plan: EntityPlan) throws -> [RowDeletion] {
        var found: [RowDeletion] = []
        found.reserveCapacity(values.count)
        try forEachRow(of: plan, where: try slots(of: plan)[plan.uidField], isAmong: values) { row in
            let row = try row.whole()
            found.append(RowDeletion(objectID: row.objectID, version: row.version))
        }
        return found
    }

    /// The deletions of the rows of a selection.
    func deletions(of plan: EntityPlan, _ selection: RecordSelection) throws -> [RowDeletion] {
        var found: [RowDeletion] = []
        try forEachRow(of: plan, selection) { row in
            let row = try row.whole()
            found.append(RowDeletion(objectID: row.objectID, version: row.version))
        }
        return found
    }
}

extension ChangedRows {
    /// The number of the row with an identifier; nil where there is none.
    func number(ofKey key: Any, of plan: EntityPlan) throws -> Int? {
        // What an attribute cannot hold, no row has.
        guard let kind = plan.record.attributeKinds[plan.uidField], let value = StoredValue(key, kind) else {
            return nil
        }
        return try rows.rows(for: rows.identifiers([value], of: plan)).first.map(note)
    }
}

/// What a block changes of the managed objects of a context.
final class ObjectChanges {
    let rows: ObjectRows
    /// The models that were given and are new.
    private(set) var new: [NSManagedObjectID] = []

    init(_ rows: ObjectRows) { self.rows = rows }

    func save(_ graph: ModelGraph, _ mode: SaveMode, setting fields: GivenFields?) throws -> [SaveOutcome] {
        let save = try GraphSave(graph, rows, mode, setting: fields)
        try apply(save.changed)
        new += save.newRoots
        return save.outcomes
    }

    func update(_ selection: RecordSelection, of plan: EntityPlan, _ prepared: PreparedChanges) throws -> Int {
        let found = try rows.rows(of: plan, seeingChanges(selection, plan))
        let changed = ChangedRows(rows)
        try prepared.apply(to: found.map(changed.note), in: changed)
        try apply(changed)
        return found.count
    }

    func delete(_ selection: RecordSelection, of plan: EntityPlan) throws -> Int {
        try delete(rows.identifiers(of: plan, seeingChanges(selection, plan)))
    }

    func delete(_ identifiers: [StoredValue], of plan: EntityPlan) throws -> Int {
        try delete(rows.identifiers(identifiers, of: plan))
    }

    private func delete(_ found: [NSManagedObjectID]) throws -> Int {
        try rows.objects.delete(found)
        return found.count
    }

    private func apply(_ changed: ChangedRows) throws {
        if let set = try changed.changeSet(nil) { try rows.objects.apply(set) }
    }

    /// A selection by which unsaved changes count.
    func seeingChanges(_ selection: RecordSelection, _ plan: EntityPlan) throws -> RecordSelection {
        guard let predicate = selection.predicate, rows.objects.hasChanges else { return selection }
        var selection = selection
        selection.predicate = try rows.objects.seeingChanges(predicate, of: plan.name)
        return selection
    }
}
