import Foundation
import ModelFiles

/// The version hashes in a store's metadata, and their comparison with the entities of models. Pure.
///
/// Apple's hashes and ours cannot be compared with each other. Metadata read from a file with Apple's hashes also
/// contain ours for the store's copy of its model, so that a model compiled here can be compared all the same.
package struct StoredVersionHashes {
    /// The hashes in the metadata, by entity.
    package let recorded: [String: Data]
    /// Our hashes of the store's entities, if they are known.
    package let own: [String: Data]
    private let checksum: String?
    private let areOurs: Bool

    /// Marks, in the metadata of a store, that at least some of its version hashes are ours.
    package static let areOursKey = StoreDocument.ownHashesKey

    /// - Returns: `nil` if the metadata have no version hashes.
    package init?(_ metadata: [String: Any]) {
        guard let recorded = metadata["NSStoreModelVersionHashes"] as? [String: Data] else { return nil }
        self.recorded = recorded
        areOurs = metadata[Self.areOursKey] != nil
        let own = metadata[VersionHash.ownHashesOfStoreKey] as? [String: Data]
        self.own = (own ?? (areOurs ? recorded : [:])).filter { recorded[$0.key] != nil }
        checksum = metadata["NSStoreModelVersionChecksumKey"] as? String
    }

    /// The entities whose versions are compared: those of a configuration, and all others of the model that the store
    /// has. A store of all entities fits a configuration, too: the tables of the others stay as they are.
    package static func compared(
        _ entities: [NSEntityDescription], of model: NSManagedObjectModel, metadata: [String: Any]
    ) -> [NSEntityDescription] {
        let stored = metadata["NSStoreModelVersionHashes"] as? [String: Data] ?? [:]
        let names = Set(entities.compactMap(\.name))
        return model.entities.filter { names.contains($0.name ?? "") || stored[$0.name ?? ""] != nil }
    }

    /// Whether an entity of a model is of the store's version.
    package func fit(_ entity: NSEntityDescription) -> Bool {
        guard let name = entity.name, let hash = recorded[name] else { return false }
        if entity.versionHash == hash { return true }
        // If both are Apple's, they decide.
        guard areOurs || entity.recordedVersionHash == nil, let own = own[name] else { return false }
        return own == entity.ownVersionHash
    }

    /// Whether the entities are exactly those of the store.
    package func fitExactly(_ entities: [NSEntityDescription]) -> Bool {
        Set(entities.map { $0.name ?? "" }) == Set(recorded.keys) && entities.allSatisfy(fit)
    }

    /// The checksums of the store's version: that of its metadata, and that of our hashes.
    package var checksums: Set<String> {
        var known: Set<String> = [checksum ?? VersionHash.checksum(of: recorded)]
        if own.count == recorded.count { known.insert(VersionHash.checksum(of: own)) }
        return known
    }
}

extension NSManagedObjectModel {
    /// The checksums of the model's version: that of its hashes, which may be Apple's, and that of ours.
    package var versionChecksums: Set<String> {
        [versionChecksum, VersionHash.checksum(of: ownVersionHashesByName)]
    }

    /// Whether another model is of the same version.
    package func isSameVersion(as other: NSManagedObjectModel) -> Bool {
        if self === other { return true }
        // This distinguishes most versions without hashing.
        guard entitiesByName.keys == other.entitiesByName.keys else { return false }
        return entityVersionHashesByName == other.entityVersionHashesByName
            || ownVersionHashesByName == other.ownVersionHashesByName
    }
}
