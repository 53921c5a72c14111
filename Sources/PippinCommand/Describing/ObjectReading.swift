import CoreData

extension OpenedStore {
    /// The objects of an entity, those of its subentities left out, by primary key.
    func objects(of entity: EntityLayout) throws -> [ObjectRecord] {
        if entity.isAbstract { return [] }
        return try coordinator.performAndWait { () throws in
            let dangling = try danglingReferences(of: entity)
            return try store.fetchRows(plan(entity)).sorted { $0.objectID.key < $1.objectID.key }.map { row in
                try ObjectRecord(row, of: entity, dangling: dangling) { relationship in
                    try store.relatedIdentifiers(of: relationship, for: row.objectID)
                }
            }
        }
    }

    /// The references that lead to no object, by relationship and the key of the object that has them.
    private func danglingReferences(of entity: EntityLayout) throws -> [String: [Int64: [NSManagedObjectID]]] {
        var found: [String: [Int64: [NSManagedObjectID]]] = [:]
        for relationship in entity.relationships where !relationship.isTransient {
            found[relationship.name] = try store.danglingReferences(of: relationship, from: entity)
        }
        return found
    }
}
