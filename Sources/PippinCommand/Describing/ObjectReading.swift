import CoreData

extension OpenedStore {
    /// The objects of an entity, those of its subentities left out, by primary key.
    func objects(of entity: EntityLayout) throws -> [ObjectRecord] {
        if entity.isAbstract { return [] }
        return try coordinator.performAndWait { () throws in
            try store.fetchRows(plan(entity)).sorted { $0.objectID.key < $1.objectID.key }.map { row in
                try ObjectRecord(row, of: entity) { relationship in
                    try store.relatedIdentifiers(of: relationship, for: row.objectID)
                }
            }
        }
    }
}
