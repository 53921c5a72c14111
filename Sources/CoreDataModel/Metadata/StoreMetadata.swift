import CompactCollections
import Foundation
import KeyedArchives
import Ordering

/// A store's metadata in the form of `Z_METADATA`: a binary property list, and the UUID in a column of its own. Pure.
package enum StoreMetadata {
    /// Marks a store with at least some version hashes of ours, since Apple's computation is not public.
    package static let ownHashesKey = StoredVersionHashes.areOursKey
    private static let identifiersKey = NSStoreModelVersionIdentifiersKey

    /// The metadata of a new store.
    package static func make(
        for model: NSManagedObjectModel, entityNames: Set<String>?, type: String = NSSQLiteStoreType
    ) -> [String: Any] {
        var hashes: [String: Data] = [:]
        var hasOwn = false
        for (name, entity) in model.entitiesByName where entityNames?.contains(name) ?? true {
            hashes[name] = entity.versionHash
            if entity.recordedVersionHash == nil { hasOwn = true }
        }
        var metadata: [String: Any] = [
            NSStoreTypeKey: type,
            "NSPersistenceFrameworkVersion": 1344,
            NSStoreModelVersionHashesKey: hashes,
            "NSStoreModelVersionHashesDigest": VersionHash.digest(of: hashes),
            "NSStoreModelVersionHashesVersion": 3,
            identifiersKey: model.versionIdentifiers.compactMap { $0.base as? String }.sorted(),
        ]
        if type == NSSQLiteStoreType { metadata["_NSAutoVacuumLevel"] = "2" }
        if hasOwn {
            metadata[ownHashesKey] = 1
        } else if model.recordedVersionChecksum != nil {
            metadata[NSPersistentStoreModelVersionChecksumKey] = model.versionChecksum
        }
        return metadata
    }

    /// The metadata where no store is yet: they say nothing about a model.
    package static func ofNoModel(type: String) -> [String: Any] {
        [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString]
    }

    /// The column's bytes, without the UUID, which has its own column.
    ///
    /// - Throws: an `NSError` that names the key whose value a property list cannot hold.
    package static func data(of metadata: [String: Any], url: URL) throws -> Data {
        var list = metadata
        list[NSStoreUUIDKey] = nil
        list[VersionHash.ownHashesOfStoreKey] = nil
        do {
            // When linked statically, Foundation's writer does not accept arrays.
            return try PropertyList(foundationObject: list).binaryData()
        } catch {
            let culprits = list.filter { (try? PropertyList(foundationObject: $0.value)) == nil }
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreSave,
                "The metadata of “\(url.lastPathComponent)” cannot be written: the values of "
                    + "\(culprits.keys.sorted().joined(separator: ", ")) are no property list values.",
                url: url, suggestion: "Use strings, numbers, dates, data, arrays and dictionaries of these.",
                underlying: error)
        }
    }

    /// The metadata in a column's bytes, with the UUID.
    package static func metadata(of data: Data, uuid: String, url: URL) throws -> [String: Any] {
        guard var metadata = try? PropertyList.foundationObject(of: data) as? [String: Any] else {
            throw StoreError.make(
                CocoaError.Code.fileReadCorruptFile.rawValue,
                "The metadata of “\(url.lastPathComponent)” (Z_METADATA.Z_PLIST) are damaged: they are no property list.",
                url: url,
                suggestion: "Restore the store from a backup. Its objects can be read with “pippin dump”.")
        }
        metadata[NSStoreUUIDKey] = uuid
        if metadata[NSStoreTypeKey] == nil { metadata[NSStoreTypeKey] = NSSQLiteStoreType }
        return metadata
    }

    /// Whether a key belongs to Core Data, which needs its value.
    package static func isReserved(_ key: String) -> Bool {
        key.hasPrefix("NS") || key.hasPrefix("_NS") || key == ownHashesKey || key == VersionHash.ownHashesOfStoreKey
    }

    /// Whether a key describes the model, and therefore changes with it.
    package static func describesModel(_ key: String) -> Bool {
        key.hasPrefix("NSStoreModelVersion") || key == ownHashesKey || key == VersionHash.ownHashesOfStoreKey
    }

    /// The version hashes in metadata, by entity.
    package static func hashes(in metadata: [String: Any]) -> [String: Data] {
        metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
    }
}
