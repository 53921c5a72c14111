import CoreData
import StoreSession

extension StoreRows {
    /// The IDs of the rows with some identifiers; nil for dates that a server rounds.
    func identifiers(
        _ keys: [Any], of plan: EntityPlan, _ layout: EntityLayout
    ) throws -> [NSManagedObjectID]? {
        guard let kind = plan.record.attributeKinds[plan.uidField], let store = session.onlyStore,
            !(kind == .date && session.roundsDates)
        else { return nil }
        var found: [NSManagedObjectID] = []
        let values = keys.compactMap { StoredValue($0, kind) }
        guard values.count == keys.count else { return nil }
        try forEachRow(of: plan, where: try slots(of: plan)[plan.uidField], isAmong: values) { row in
            found.append(NSManagedObjectID(layout: layout, store: store.identity, key: row.key))
        }
        return found
    }
}

extension ChangedRows {
    /// The number of the row with an identifier; nil where there is none.
    func number(ofKey key: Any, of plan: EntityPlan) throws -> Int? {
        guard let found = try rows.identifiers([key], of: plan, rows.layout(of: plan)) else {
            throw DirectSave.NotDirect()
        }
        return try rows.rows(for: found).first.map(note)
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
