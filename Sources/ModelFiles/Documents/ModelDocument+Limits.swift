import CompactCollections

extension ModelDocument {
    /// The part of a model that a store of one configuration has: some of the entities, with their superentities,
    /// without the properties that lead to others. Such properties have no values: an object has no relationship with
    /// one of another store. Pure.
    ///
    /// - Parameter names: the entities that the store has.
    /// - Returns: the part; nil if it is the whole model, or some of the entities are not in the model.
    package func limited(to names: Set<String>) -> ModelDocument? {
        guard !names.isEmpty, names.allSatisfy({ entity(named: $0) != nil }) else { return nil }
        var kept = names
        for name in names {
            var next = entity(named: name)?.parentName
            while let parent = next, kept.insert(parent).inserted { next = entity(named: parent)?.parentName }
        }
        guard kept.count < entities.count else { return nil }
        var result = self
        result.entities = entities.filter { kept.contains($0.name) }.map { $0.limited(to: kept) }
        result.configurations = configurations.mapValues { $0.filter(kept.contains) }.filter { !$0.value.isEmpty }
        result.fetchRequestTemplates = fetchRequestTemplates.filter { kept.contains($0.value.entityName) }
        return result
    }
}

extension EntityDocument {
    fileprivate func limited(to kept: Set<String>) -> EntityDocument {
        let left = Set(properties.filter { $0.leads(outOf: kept) }.map(\.name))
        guard !left.isEmpty else { return self }
        func remain(_ names: [String]) -> Bool { !names.contains { left.contains($0.firstKey) } }
        var result = self
        result.properties = properties.filter { !left.contains($0.name) }
        result.indexes = indexes.filter { remain($0.elements.compactMap(\.propertyName)) }
        result.compoundIndexes = compoundIndexes.filter(remain)
        result.uniquenessConstraints = uniquenessConstraints.filter(remain)
        return result
    }
}

extension PropertyDocument {
    /// Whether it leads to an entity that is not among some.
    fileprivate func leads(outOf kept: Set<String>) -> Bool {
        switch kind {
        case .attribute: return false
        case .relationship(let relationship): return relationship.destinationName.map { !kept.contains($0) } ?? false
        case .fetched(let request): return request.map { !kept.contains($0.entityName) } ?? false
        }
    }
}
