import Foundation

/// The version hashes that a store's metadata name, and how the entities of models are compared with them. Pure.
///
/// Apple's hashes and ours cannot be compared with each other. Metadata that were read from a file with Apple's hashes have ours
/// of the store's copy of its model beside them, so that a model that was compiled here can be compared all the same.
package struct StoredVersionHashes {
    /// The hashes as the metadata have them, by entity.
    package let recorded: [String: Data]
    /// Our hashes of the store's entities, where they are known.
    package let own: [String: Data]
    private let checksum: String?
    private let areOurs: Bool

    /// Marks, in the metadata of a store, that its version hashes, or some of them, are ours.
    package static let areOursKey = "PippinVersionHashes"

    /// - Returns: `nil` where the metadata name no version hashes.
    package init?(_ metadata: [String: Any]) {
        guard let recorded = metadata["NSStoreModelVersionHashes"] as? [String: Data] else { return nil }
        self.recorded = recorded
        areOurs = metadata[Self.areOursKey] != nil
        let own = metadata[VersionHash.ownHashesOfStoreKey] as? [String: Data]
        self.own = (own ?? (areOurs ? recorded : [:])).filter { recorded[$0.key] != nil }
        checksum = metadata["NSStoreModelVersionChecksumKey"] as? String
    }

    /// Whether an entity of a model is of the store's version.
    package func fit(_ entity: NSEntityDescription) -> Bool {
        guard let name = entity.name, let hash = recorded[name] else { return false }
        if entity.versionHash == hash { return true }
        // Where both are Apple's, they have the last word.
        guard areOurs || entity.recordedVersionHash == nil, let own = own[name] else { return false }
        return own == entity.ownVersionHash
    }

    /// Whether the entities are those of the store, all of them and no others.
    package func fitExactly(_ entities: [NSEntityDescription]) -> Bool {
        Set(entities.map { $0.name ?? "" }) == Set(recorded.keys) && entities.allSatisfy(fit)
    }

    /// The checksums that the store's version goes by: that of its metadata, and that of our hashes.
    package var checksums: Set<String> {
        var known: Set<String> = [checksum ?? VersionHash.checksum(of: recorded)]
        if own.count == recorded.count { known.insert(VersionHash.checksum(of: own)) }
        return known
    }
}

extension NSManagedObjectModel {
    /// The checksums that the model's version goes by: that of its hashes, which may be Apple's, and that of ours.
    package var versionChecksums: Set<String> {
        [versionChecksum, VersionHash.checksum(of: ownVersionHashesByName)]
    }

    /// Whether another model is of the same version.
    package func isSameVersion(as other: NSManagedObjectModel) -> Bool {
        if self === other { return true }
        // Most versions differ in this already, and need not be hashed.
        guard entitiesByName.keys == other.entitiesByName.keys else { return false }
        return entityVersionHashesByName == other.entityVersionHashesByName
            || ownVersionHashesByName == other.ownVersionHashesByName
    }
}
