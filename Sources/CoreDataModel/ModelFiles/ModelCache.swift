import CompactCollections
import Foundation
import KeyedArchives

/// The copy of its model that a SQLite store keeps in `Z_MODELCACHE.Z_CONTENT`: a keyed archive, raw-deflated.
package enum ModelCache {
    /// The cache of a model.
    ///
    /// It leaves out fetch requests, members of configurations and indexes that name what the model does not have: the
    /// store works without them, and its copy could not be read when it is to be migrated.
    ///
    /// - Throws: an error that names the entity and property which no archive can hold, or what is incomplete.
    package static func modelCacheData(for model: NSManagedObjectModel) throws -> Data {
        try ModelFileError.naming(nil) {
            var document = try ModelDocument(model)
            document.leaveOutLostNames(of: model)
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

extension ModelDocument {
    fileprivate mutating func leaveOutLostNames(of model: NSManagedObjectModel) {
        let known = model.entitiesByName
        configurations = configurations.mapValues { $0.filter { known[$0] != nil } }
        fetchRequestTemplates = fetchRequestTemplates.filter { known[$0.value.entityName] != nil }
        forgetLostIndexes()
        for place in entities.indices {
            for index in entities[place].properties.indices {
                guard case .fetched(let request?) = entities[place].properties[index].kind,
                    known[request.entityName] == nil
                else { continue }
                entities[place].properties[index].kind = .fetched(nil)
            }
        }
    }
}
