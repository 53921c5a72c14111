import Foundation

extension NSManagedObjectModel {
    /// Merges models into one. Nil for no models, or when two of them have an entity of one name.
    ///
    /// Core Data raises an exception for entities that conflict; here the initializer fails.
    ///
    /// - Parameter models: the models, which stay as they are.
    public convenience init?(byMerging models: [NSManagedObjectModel]?) {
        guard let models, !models.isEmpty else { return nil }
        guard let merged = try? Self.merge(models, entityNames: nil) else { return nil }
        self.init()
        become(merged)
    }

    /// Merges the entities of models that a store has: for each entity of the metadata the one with that version hash.
    /// Nil when one is missing.
    ///
    /// A model fits where `isConfiguration(withName:compatibleWithStoreMetadata:)` says so: models that were compiled here have
    /// other hashes than Apple's, and are compared with the store's copy of its model, as far as the metadata were read from its file.
    ///
    /// - Parameters:
    ///   - models: models of any versions.
    ///   - metadata: the store's metadata, which name its entities' version hashes.
    public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]) {
        guard let hashes = StoredVersionHashes(metadata) else { return nil }
        let fitting = models.compactMap { model -> (model: NSManagedObjectModel, names: Set<String>)? in
            // A model belongs to the store when all its entities do, or those of one configuration.
            let choices = [model.entities] + model.configurations.compactMap(model.entities(forConfigurationName:))
            guard let entities = choices.first(where: { !$0.isEmpty && $0.allSatisfy(hashes.fit) }) else { return nil }
            return (model, Set(entities.compactMap(\.name)))
        }
        var needed = Set(hashes.recorded.keys)
        var chosen: [NSManagedObjectModel] = []
        // An earlier version whose entities the store has, too, may differ in what hashes leave out: the fullest comes first.
        let order = fitting.indices.sorted { (fitting[$1].names.count, $0) < (fitting[$0].names.count, $1) }
        for (model, names) in order.map({ fitting[$0] }) where !needed.isDisjoint(with: names) {
            needed.subtract(names)
            chosen.append(model)
        }
        guard needed.isEmpty, let merged = try? Self.merge(chosen, entityNames: Set(hashes.recorded.keys)) else {
            return nil
        }
        self.init()
        become(merged)
    }

    /// - Parameters:
    ///   - models: the models to merge.
    ///   - entityNames: the entities to take; nil for all, of which no two may have one name.
    /// - Returns: a new model with the entities of all.
    /// - Throws: an error naming an entity that two models have.
    package static func merge(
        _ models: [NSManagedObjectModel], entityNames: Set<String>?
    ) throws -> NSManagedObjectModel {
        var result = ModelDocument()
        var hashes: [String: Data] = [:]
        for model in models {
            let document = try ModelDocument(model)
            for entity in document.entities where entityNames?.contains(entity.name) ?? true {
                guard result.entity(named: entity.name) == nil else {
                    if entityNames != nil { continue }
                    throw ModelFileError(entity: entity.name, reason: "two of the models to merge have this entity")
                        .nsError(file: nil)
                }
                result.entities.append(entity)
                hashes[entity.name] = model.entitiesByName[entity.name]?.recordedVersionHash
            }
            for (name, members) in document.configurations { result.configurations[name, default: []] += members }
            result.fetchRequestTemplates.merge(document.fetchRequestTemplates) { first, _ in first }
            result.versionIdentifiers += document.versionIdentifiers.filter { !result.versionIdentifiers.contains($0) }
        }
        let merged = try ModelFileError.naming(nil) { try ModelAssembler.model(result, versionHashes: hashes) }
        if models.count == 1 { merged.origin = models[0].origin }
        return merged
    }
}
