import CoreData

extension StoreObjects {
    /// Hands out the objects of an entity one by one, without those of its subentities, by primary key. Only a few are
    /// in memory at a time.
    package func forEachObject(of entity: EntityLayout, _ body: (ObjectRecord) throws -> Void) throws {
        try coordinator.performAndWait { () throws in
            let dangling = try danglingReferences(of: entity)
            var plan = plan(entity)
            if isSorted { plan.sortDescriptors = [NSSortDescriptor(key: "objectID", ascending: true)] }
            let portions = try store.engine.portions(plan)
            var size = PortionSize(most: 64)
            while case let rows = try portions.next(isSorted ? size.count : .max), !rows.isEmpty {
                size.follow(rows)
                let portion = isSorted ? rows : ContiguousArray(rows.sorted { $0.objectID.key < $1.objectID.key })
                let identifiers = portion.map(\.objectID)
                var lists: [String: [[NSManagedObjectID]]] = [:]
                for (position, row) in portion.enumerated() {
                    try body(
                        ObjectRecord(row, of: entity, dangling: dangling) { relationship in
                            if let known = lists[relationship.name] { return known[position] }
                            let found = try store.engine.destinations(of: relationship, for: identifiers)
                            lists[relationship.name] = found
                            return found[position]
                        })
                }
            }
        }
    }

    /// The references that lead to no object, by relationship and the key of the referring object.
    func danglingReferences(of entity: EntityLayout) throws -> [String: [Int64: [NSManagedObjectID]]] {
        var found: [String: [Int64: [NSManagedObjectID]]] = [:]
        for relationship in entity.relationships where !relationship.isTransient {
            found[relationship.name] = try store.engine.inspection?.danglingReferences(of: relationship, from: entity)
        }
        return found
    }
}
