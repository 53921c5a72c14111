import CoreDataModel
import Foundation
import MigrationPlans
import SQLiteEngine
import StoreEngine

/// Finds the model of a store's version.
package enum SourceModel {
    /// The store's own copy of its model, or a version of the models in the bundles that has the store's hashes. Where neither is
    /// to be had, a version that makes exactly the tables of the store: of the destination's package, or in the bundles.
    ///
    /// - Throws: 134130 when there is none.
    package static func find(_ file: StoreFile, near destination: NSManagedObjectModel?) throws -> NSManagedObjectModel
    {
        let metadata = try file.metadata()
        let isApples = metadata[StoreMetadata.ownHashesKey] == nil
        let copy = try file.cachedModel()
        // A copy with gaps would lose what is in them.
        if let cached = copy, cached.unreadProperties.isEmpty {
            // Our own hashes are computed anew; Apple's are only in the metadata.
            if isApples { cached.recordVersionHashes(StoreMetadata.hashes(in: metadata)) }
            return cached
        }
        let versions = NSManagedObjectModel.versions(near: destination)
        if let model = NSManagedObjectModel(byMerging: versions, forStoreMetadata: metadata) { return model }
        if copy == nil, let model = try versions.first(where: file.hasTables) { return model }
        throw MigrationError.missingSourceModel(
            url: file.url, metadata: metadata, unread: copy?.unreadProperties ?? [])
    }
}
