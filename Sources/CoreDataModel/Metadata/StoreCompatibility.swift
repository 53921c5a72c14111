import Foundation

/// Whether a model fits a store. Pure.
package enum StoreCompatibility {
    /// The entities whose version in the model is not the store's, by name; empty if the model fits.
    ///
    /// Version hashes decide if both were computed in the same way: Apple's on both sides, or ours on both. Otherwise
    /// the model in the store's cache is compared with the given one, using our hashes for both.
    ///
    /// - Parameters:
    ///   - entities: the model's entities for the store.
    ///   - metadata: the store's metadata.
    ///   - cached: returns the store's copy of its model; only called if hashes cannot decide.
    /// - Returns: the names of the entities that differ.
    package static func differences(
        _ entities: [NSEntityDescription], metadata: [String: Any], cached: () throws -> NSManagedObjectModel?
    ) rethrows -> [String] {
        let stored = StoreMetadata.hashes(in: metadata)
        let storeIsOurs = metadata[StoreMetadata.ownHashesKey] != nil
        let names = Set(entities.compactMap(\.name))
        var unknown: [NSEntityDescription] = []
        var differing = Set(stored.keys).subtracting(names)
        for entity in entities {
            guard let name = entity.name else { continue }
            guard let hash = stored[name] else {
                differing.insert(name)
                continue
            }
            if hash == entity.versionHash { continue }
            let modelIsOurs = entity.recordedVersionHash == nil
            if modelIsOurs || storeIsOurs { unknown.append(entity) } else { differing.insert(name) }
        }
        if !unknown.isEmpty {
            let model = try cached()
            for entity in unknown {
                guard let name = entity.name else { continue }
                guard let own = model?.entitiesByName[name] else {
                    differing.insert(name)
                    continue
                }
                if own.ownVersionHash != entity.ownVersionHash { differing.insert(name) }
            }
        }
        return differing.sorted()
    }

    /// The entities of a configuration, and their descendants that the store has too, since their objects are in the
    /// same tables. A store without any descendants fits as well.
    package static func withStoredSubentities(
        _ names: Set<String>, of model: NSManagedObjectModel, metadata: [String: Any]
    ) -> Set<String> {
        let stored = StoreMetadata.hashes(in: metadata)
        let inheriting = model.entities.filter { names.contains($0.name ?? "") }.flatMap(\.selfAndDescendants)
        return names.union(inheriting.compactMap(\.name).filter { stored[$0] != nil })
    }

    /// The error for a store that the model does not fit, which migration looks for.
    ///
    /// - Parameters:
    ///   - entities: the entities that differ.
    ///   - metadata: the store's metadata.
    ///   - url: the location of the store.
    ///   - model: the entities of the model.
    ///   - cached: the store's copy of its model, which shows the differences.
    /// - Returns: the error, code 134100.
    package static func error(
        _ entities: [String], metadata: [String: Any], url: URL, model: [NSEntityDescription] = [],
        cached: NSManagedObjectModel? = nil
    ) -> NSError {
        if cached == nil, hasIncomparableHashes(model, metadata: metadata) {
            return StoreError.make(
                CoreDataErrorCode.persistentStoreIncompatibleVersionHash,
                "Whether the model fits the store “\(url.lastPathComponent)” cannot be told: the store has version "
                    + "hashes of Apple's and no readable copy of its model in that version, and the model was compiled "
                    + "here, with other hashes. "
                    + "The tables of the store are not those that the model makes.",
                url: url,
                suggestion:
                    "Set NSIgnorePersistentStoreVersioningOption to open it with this model all the same, or use "
                    + "a model that Xcode compiled.",
                userInfo: ["metadata": metadata, "entities": entities])
        }
        let descriptions = entities.map { name in
            guard let cached else { return name }
            let own = model.first { $0.name == name }
            return StructureDifference.text(of: name, own, stored: cached.entitiesByName[name])
        }
        return StoreError.make(
            CoreDataErrorCode.persistentStoreIncompatibleVersionHash,
            "The model does not fit the store “\(url.lastPathComponent)”: they differ in "
                + (entities.count == 1 ? "entity " : "entities ") + descriptions.joined(separator: ", ") + ".",
            url: url, suggestion: "Open it with the version of the model that made it, or migrate it.",
            userInfo: [
                "metadata": metadata,
                "reason": "The model used to open the store is incompatible with the one used to create the store",
                "entities": entities,
            ])
    }

    /// Whether the model and the store have the same entities, with hashes that cannot be compared.
    private static func hasIncomparableHashes(_ model: [NSEntityDescription], metadata: [String: Any]) -> Bool {
        metadata[StoreMetadata.ownHashesKey] == nil && !model.isEmpty
            && Set(model.map { $0.name ?? "" }) == Set(StoreMetadata.hashes(in: metadata).keys)
            && model.allSatisfy { $0.recordedVersionHash == nil }
    }
}

/// Describes how the entities of a model differ from those of a store's copy of its model. Pure.
enum StructureDifference {
    /// An entity with the properties that differ: `Car (only in the model: createdBy; only in the store: maker)`. Only
    /// the name if there is no copy to compare with, or the properties are the same.
    ///
    /// - Parameters:
    ///   - name: the entity.
    ///   - entity: the model's entity; nil if it has none.
    ///   - stored: the store's entity; nil if it has none.
    /// - Returns: one line for a message.
    static func text(of name: String, _ entity: NSEntityDescription?, stored: NSEntityDescription?) -> String {
        guard let entity else { return "\(name) (only in the store)" }
        guard let stored else { return "\(name) (only in the model)" }
        let (new, old) = (hashes(of: entity), hashes(of: stored))
        let changed = new.keys.filter { old[$0] != nil && old[$0] != new[$0] }
        let parts = [
            ("only in the model", new.keys.filter { old[$0] == nil }),
            ("only in the store", old.keys.filter { new[$0] == nil }), ("different", changed),
        ]
        var phrases = parts.filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.sorted().joined(separator: ", "))" }
        if entity.superentity?.name != stored.superentity?.name { phrases.append("another parent") }
        if entity.isAbstract != stored.isAbstract {
            phrases.append(entity.isAbstract ? "abstract now" : "abstract before")
        }
        if entity.versionHashModifier != stored.versionHashModifier { phrases.append("another hash modifier") }
        return phrases.isEmpty ? name : "\(name) (\(phrases.joined(separator: "; ")))"
    }

    private static func hashes(of entity: NSEntityDescription) -> [String: [UInt8]] {
        let stored = entity.propertiesByName.filter { !($0.value is NSFetchedPropertyDescription) }
        return stored.mapValues { [UInt8](VersionHash.hash(of: $0)) }
    }
}
