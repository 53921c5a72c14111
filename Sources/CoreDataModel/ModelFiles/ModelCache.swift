import CompactCollections
import Foundation
import KeyedArchives

/// The copy of its model that a SQLite store keeps in `Z_MODELCACHE.Z_CONTENT`: a keyed archive, raw-deflated.
package enum ModelCache {
    /// The cache of a model.
    ///
    /// - Throws: an error that names the entity and property which no archive can hold, or what is named and not there:
    ///   such an archive could not be read when the store is to be migrated.
    package static func modelCacheData(for model: NSManagedObjectModel) throws -> Data {
        try ModelFileError.naming(nil) {
            let document = try ModelDocument(model)
            try DocumentCheck.check(document)
            let archive = try ModelArchiveWriter.archive(of: document, form: .cache)
            return try RawDeflate.deflate(archive.data())
        }
    }

    /// The model of a cache.
    ///
    /// - Parameters:
    ///   - data: the content of the column.
    ///   - entityVersionHashes: the hashes in the store's metadata (`NSStoreModelVersionHashes`), which the cache
    ///     itself lacks.
    /// - Returns: the model that the store was made with.
    /// - Throws: an error in the Cocoa domain if the cache is damaged.
    package static func model(
        fromModelCache data: Data, entityVersionHashes: [String: Data]
    ) throws -> NSManagedObjectModel {
        try ModelFileError.naming(nil) {
            let document = try ModelArchiveReader.document(of: RawDeflate.inflate(data))
            return try ModelAssembler.model(document, versionHashes: entityVersionHashes)
        }
    }
}
