import Foundation
import ModelFiles

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
                    + "\(culprits.keys.sorted().joined(separator: ", ")) are not a property list values.",
                url: url, suggestion: "Use strings, numbers, dates, data, arrays and dictionaries of these.",
                underlying: error)
        }
    }

    /// The metadata in a column's bytes, with the UUID.
    package static func metadata(of data: Data, uuid: String, url: URL) throws -> [String: Any] {
        guard var metadata = try? PropertyList.foundationObject(of: data) as? [String: Any] else {
            throw StoreError.make(
                CocoaError.Code.fileReadCorruptFile.rawValue,
                "The metadata of “\(url.lastPathComponent)” (Z_METADATA.Z_PLIST) are damaged: they are not a property list.",
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

/// A store in an SQLite database.
public let NSSQLiteStoreType = "SQLite"
/// A store in memory, which is lost with its coordinator.
public let NSInMemoryStoreType = "InMemory"
/// A store in one binary file, read and written as a whole.
public let NSBinaryStoreType = "Binary"
/// A store in one XML file, read and written as a whole.
public let NSXMLStoreType = "XML"

/// In the metadata: the type of the store.
public let NSStoreTypeKey = "NSStoreType"
/// In the metadata: the store's UUID.
public let NSStoreUUIDKey = "NSStoreUUID"
/// In the metadata: the version hashes of the entities, by name.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// In the metadata: the identifiers of the model's version.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"
/// In the metadata: the oldest system that can read the store.
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"

/// Option (Boolean): the store may only be read.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// Option (dictionary): pragmas to set on the SQLite connection.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Option (Boolean): run `ANALYZE` when the store is opened.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Option (Boolean): run `VACUUM` when the store is opened.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Option (seconds): how long to wait for a locked store.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// Option (Boolean): open the store although its model differs.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// Option (Boolean): migrate the store if its model differs.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Option (Boolean): infer the mapping when migrating.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// Option (`NSStagedMigrationManager`): migrate the store in stages if its model differs.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"
/// Option (Boolean): migrate a store over the versions of its model, step by step, if its model differs.
///
/// Set it in addition to `NSMigratePersistentStoresAutomaticallyOption`. The versions are those of the coordinator's
/// model package (`.momd`) in the bundles; the steps are the compiled mapping models (`.cdm`) in the bundles, and what
/// can be inferred. The shortest chain that does not bypass a mapping model is used. Either the store is migrated to
/// the coordinator's model, or it is unchanged.
///
/// ```swift
/// description.setOption(true as NSNumber, forKey: PippinProgressiveMigrationOptionKey)
/// ```
///
/// Core Data has no such option.
public let PippinProgressiveMigrationOptionKey = "PippinProgressiveMigrationOption"
/// Option (Boolean): defer the cleanup after a lightweight migration. In the metadata: whether there is a cleanup left
/// for `finishDeferredLightweightMigration()`.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
    "NSPersistentStoreDeferredLightweightMigrationOptionKey"
/// Option (Boolean or dictionary): keep a history of changes in the store.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// Option (Boolean): destroy a store even if it cannot be opened.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// Option: kept for source compatibility; files have no protection classes here.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// Option (Boolean): kept for source compatibility; an XML store is always checked while it is read.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"
/// The domain of errors that SQLite reports.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"
/// In the metadata: the checksum of the model's version, if it is Apple's; see `NSManagedObjectModel.versionChecksum`.
public let NSPersistentStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"
/// Option (array of classes): classes that a binary store may decode, in addition to those that the model and its
/// transformers name.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
/// Option (Boolean): a binary store may decode objects of any class that exists here.
public let NSBinaryStoreInsecureDecodingCompatibilityOption = "NSBinaryStoreInsecureDecodingCompatibilityOption"
/// Option (number): the number of connections that a store may have open for query generations. The default is 10.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// Option (Boolean): post `NSPersistentStoreRemoteChange` when this or another process has changed the store.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
    "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// In a remote change notification: the location of the store.
public let NSPersistentStoreURLKey = "storeURL"
/// In a notification of a save or a remote change: the `NSPersistentHistoryToken` of the latest transaction.
public let NSPersistentHistoryTokenKey = "historyToken"
