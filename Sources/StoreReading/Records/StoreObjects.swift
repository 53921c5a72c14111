import CoreData

/// The objects of a store that is open, whatever keeps it.
package struct StoreObjects {
    /// What the store is called, and where it is.
    package let title: String
    package let place: String
    package let uuid: String
    package let layout: ModelLayout
    package let coordinator: NSPersistentStoreCoordinator
    package let store: NSPersistentStore
    /// Whether rows can be asked for in the order of their keys, a portion at a time; other stores are in memory as a whole.
    package let isSorted: Bool

    package init(
        title: String, place: String, uuid: String, layout: ModelLayout, coordinator: NSPersistentStoreCoordinator,
        store: NSPersistentStore,
        isSorted: Bool
    ) {
        (self.title, self.place, self.uuid, self.layout) = (title, place, uuid, layout)
        (self.coordinator, self.store, self.isSorted) = (coordinator, store, isSorted)
    }

    /// The entities to show: all, or the named one and those that inherit from it.
    ///
    /// - Throws: `CommandError` naming the entities that there are.
    package func entities(named name: String?) throws -> [EntityLayout] {
        guard let name else { return layout.entities }
        guard let entity = layout.entityByName[name] else {
            let known = layout.entities.map(\.name).joined(separator: ", ")
            throw CommandError("“\(place)” has no entity “\(name)”; it has \(known)")
        }
        return entity.selfAndSubentities
    }

    /// How many objects an entity has, those of its subentities left out.
    package func count(of entity: EntityLayout) throws -> Int {
        if entity.isAbstract { return 0 }
        return try coordinator.performAndWait { () throws in try store.engine.fetchCount(plan(entity)) }
    }

    /// What fetches the objects of an entity, those of its subentities left out.
    func plan(_ entity: EntityLayout) -> FetchPlan {
        var plan = FetchPlan(entity: entity)
        plan.includesSubentities = false
        return plan
    }
}
