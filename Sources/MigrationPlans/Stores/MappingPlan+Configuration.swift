import CoreDataModel

extension MappingPlan {
    /// The entities that a store of a configuration holds after a migration: those of the configuration, and what the
    /// stored subentities of its entities became, since their objects are in the same tables.
    ///
    /// - Parameters:
    ///   - model: the model to migrate to.
    ///   - configuration: the configuration of the store.
    ///   - stored: the entities that the store holds before.
    /// - Returns: the names; nil for all entities of the model.
    package func entityNames(
        of model: NSManagedObjectModel, configuration: String?, holding stored: Set<String>
    ) -> Set<String>? {
        guard let names = model.entityNames(inConfiguration: configuration) else { return nil }
        let members = model.entities.filter { names.contains($0.name ?? "") }
        let inheriting = Set(members.flatMap(\.selfAndDescendants).compactMap(\.name))
        let successors = entities.filter { $0.source.map(stored.contains) ?? false }.compactMap(\.destination)
        return names.union(successors.filter(inheriting.contains))
    }
}
