import CoreData

/// The objects of an open store of any kind.
package struct StoreObjects {
    /// The name and location of the store.
    package let title: String
    package let place: String
    package let uuid: String
    package let layout: ModelLayout
    package let coordinator: NSPersistentStoreCoordinator
    package let store: NSPersistentStore
    /// Whether rows can be read in the order of their keys, in portions; other stores are in memory as a whole.
    package let isSorted: Bool

    package init(
        title: String, place: String, uuid: String, layout: ModelLayout, coordinator: NSPersistentStoreCoordinator,
        store: NSPersistentStore,
        isSorted: Bool
    ) {
        (self.title, self.place, self.uuid, self.layout) = (title, place, uuid, layout)
        (self.coordinator, self.store, self.isSorted) = (coordinator, store, isSorted)
    }

    /// The entities to show: all, or the named one and its subentities.
    ///
    /// - Throws: `CommandError` naming the existing entities.
    package func entities(named name: String?) throws -> [EntityLayout] {
        guard let name else { return layout.entities }
        guard let entity = layout.entity(typed: name) else {
            let hint = TextProblem.hint(for: name, among: layout.entities.map(\.name))
            throw CommandError("“\(place)” has no entity “\(name)”; \(hint)")
        }
        return entity.selfAndSubentities
    }

    /// The number of an entity's objects, without those of its subentities.
    package func count(of entity: EntityLayout) throws -> Int {
        return try coordinator.performAndWait { () throws in try store.engine.fetchCount(plan(entity)) }
    }

    /// The fetch of an entity's objects, without those of its subentities.
    func plan(_ entity: EntityLayout) -> FetchPlan {
        var plan = FetchPlan(entity: entity)
        plan.includesSubentities = false
        return plan
    }
}

extension ModelLayout {
    /// The entity with a name, in whichever case if no other has it.
    package func entity(typed name: String) -> EntityLayout? {
        entityByName[name] ?? entities.first { $0.name.lowercased() == name.lowercased() }
    }
}
