import Foundation

extension NSManagedObjectModel {
    /// Merges models into one. Nil if there are no models, or two of them have different entities with the same name.
    /// An entity that several of them have alike, as where one model lies in several bundles, is taken once.
    ///
    /// Core Data raises an exception for conflicting entities; here the initializer fails.
    ///
    /// - Parameter models: the models, which are not changed.
    public convenience init?(byMerging models: [NSManagedObjectModel]?) {
        guard let models, !models.isEmpty else { return nil }
        guard let merged = try? Self.merge(models, entityNames: nil) else { return nil }
        self.init()
        become(merged)
    }

    /// Merges the entities of models that a store has: for each entity in the metadata, the one with that version hash.
    /// Nil if one is missing.
    ///
    /// A model fits if `isConfiguration(withName:compatibleWithStoreMetadata:)` says so. Models compiled here have
    /// other hashes than Apple's, and are compared with the store's copy of its model, if the metadata were read from
    /// the store's file.
    ///
    /// - Parameters:
    ///   - models: models of any versions.
    ///   - metadata: the store's metadata, with its entities' version hashes.
    public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]) {
        guard let hashes = StoredVersionHashes(metadata) else { return nil }
        let fitting = models.compactMap { model -> (model: NSManagedObjectModel, names: Set<String>)? in
            // A model belongs to the store if all its entities do, or those of one configuration.
            let choices =
                [model.entities] + model.declaredConfigurations.compactMap(model.entities(forConfigurationName:))
            guard let entities = choices.first(where: { !$0.isEmpty && $0.allSatisfy(hashes.fit) }) else { return nil }
            return (model, Set(entities.compactMap(\.name)))
        }
        var needed = Set(hashes.recorded.keys)
        var chosen: [NSManagedObjectModel] = []
        // An earlier version whose entities the store also has may differ in parts that hashes leave out, so the model
        // with most entities comes first.
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
    ///   - entityNames: the entities to take, with the members of configurations, the templates and the requests of
    ///     fetched properties that are about them; nil for all, of which those with one name must be equal.
    /// - Returns: a new model with the entities of all models.
    /// - Throws: an error that names an entity which two models have with different contents.
    package static func merge(
        _ models: [NSManagedObjectModel], entityNames: Set<String>?
    ) throws -> NSManagedObjectModel {
        var result = ModelDocument()
        var hashes: [String: Data] = [:]
        var taken: [String: NSEntityDescription] = [:]
        for model in models {
            let document = try ModelDocument(model)
            for entity in document.entities where entityNames?.contains(entity.name) ?? true {
                guard result.entity(named: entity.name) == nil else {
                    if entityNames != nil || taken[entity.name] == model.entitiesByName[entity.name] { continue }
                    throw ModelFileError(
                        entity: entity.name, reason: "two of the models to merge have different entities of this name"
                    ).nsError(file: nil)
                }
                result.entities.append(entityNames.map(entity.part(of:)) ?? entity)
                taken[entity.name] = model.entitiesByName[entity.name]
                hashes[entity.name] = model.entitiesByName[entity.name]?.recordedVersionHash
            }
            for (name, members) in document.configurations {
                let known = result.configurations[name] ?? []
                let added = members.filter { (entityNames?.contains($0) ?? true) && !known.contains($0) }
                if entityNames == nil || !added.isEmpty { result.configurations[name] = known + added }
            }
            let templates = document.fetchRequestTemplates.filter { entityNames?.contains($1.entityName) ?? true }
            result.fetchRequestTemplates.merge(templates) { first, _ in first }
            result.versionIdentifiers += document.versionIdentifiers.filter { !result.versionIdentifiers.contains($0) }
        }
        let merged = try ModelFileError.naming(nil) { try ModelAssembler.model(result, versionHashes: hashes) }
        if models.count == 1 { merged.origin = models[0].origin }
        for property in models.flatMap(\.unreadProperties) where !merged.unreadProperties.contains(property) {
            merged.unreadProperties.append(property)
        }
        let dictionaries = models.compactMap(\.localizationDictionary)
        if let first = dictionaries.first {
            // The words of an earlier model count, as its fetch requests do.
            merged.localizationDictionary = dictionaries.dropFirst().reduce(first) {
                $0.merging($1) { first, _ in first }
            }
        }
        return merged
    }
}

extension EntityDocument {
    /// The entity without requests of fetched properties for entities that are left out.
    fileprivate func part(of names: Set<String>) -> EntityDocument {
        var part = self
        for index in properties.indices {
            if case .fetched(let request?) = properties[index].kind, !names.contains(request.entityName) {
                part.properties[index].kind = .fetched(nil)
            }
        }
        return part
    }
}

extension NSManagedObjectModel {
    /// Reads the current version of a model file; nil if it cannot be read, as in Core Data.
    ///
    /// The localization dictionary is that of the file `<Name>Model.strings` beside a model `<Name>`, or in the folder
    /// of a language beside it, such as `de.lproj`.
    ///
    /// - Parameter url: a compiled model, `.momd` (the folder may have another extension) or `.mom`, or, unlike
    ///   Apple's, also a source model, `.xcdatamodeld` or `.xcdatamodel`. The version hashes are those of the package's
    ///   `VersionInfo.plist`.
    public convenience init?(contentsOf url: URL) {
        guard let model = try? ModelPackage(at: url).localizedModel() else { return nil }
        self.init()
        become(model)
    }

    /// Merges the models of bundles. Where they have none, the result has no entities; nil if two models conflict.
    ///
    /// ```swift
    /// let model = NSManagedObjectModel.mergedModel(from: [.main])
    /// ```
    ///
    /// - Parameter bundles: the bundles to search for `.momd` and `.mom`; `nil` for all loaded bundles.
    /// - Returns: the merged model; `nil` if two models conflict.
    public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
        let models = packages(in: bundles).compactMap { try? $0.localizedModel() }
        return models.isEmpty ? NSManagedObjectModel() : NSManagedObjectModel(byMerging: models)
    }

    /// Merges the versions of the bundles' models whose entities a store has; nil if these are not exactly the store's
    /// entities.
    ///
    /// - Parameters:
    ///   - bundles: the bundles to search; nil for all loaded bundles.
    ///   - metadata: the store's metadata, with its entities' version hashes.
    /// - Returns: the merged model; `nil` if there is none.
    public class func mergedModel(
        from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
    ) -> NSManagedObjectModel? {
        let models = packages(in: bundles).flatMap { package in
            package.versions.compactMap { try? package.localizedModel(version: $0.name) }
        }
        return NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata)
    }

    /// The versions in the package that a model was read from, and in the bundles, without those that cannot be read.
    package static func versions(near model: NSManagedObjectModel?) -> [NSManagedObjectModel] {
        let own = (model?.origin?.package).flatMap { try? ModelPackage(at: $0) }
        return ([own].compactMap { $0 } + packages(in: nil)).flatMap { package in
            package.versions.compactMap { try? package.model(version: $0.name) }
        }
    }

    private static func packages(in bundles: [Bundle]?) -> [ModelPackage] {
        let bundles = bundles ?? [Bundle.main] + Bundle.allBundles.filter { $0 != Bundle.main }
        return bundles.flatMap { bundle in
            ["momd", "mom"].flatMap { bundle.urls(forResourcesWithExtension: $0, subdirectory: nil) ?? [] }
        }.compactMap { try? ModelPackage(at: $0 as URL) }
    }

    /// Takes the content of a model that was just made and that nobody else has.
    func become(_ model: NSManagedObjectModel) {
        copyContents(of: model)
        origin = model.origin
        recordVersionHashes(model.entities.reduce(into: [:]) { $0[$1.name ?? ""] = $1.recordedVersionHash })
    }
}
