import CoreDataModel
import Foundation

/// The version of a store, by its metadata and its copy of its model.
package struct StoreVersion {
    package let metadata: [String: Any]
    /// The store's copy of its model; `nil` where it has none.
    package let model: NSManagedObjectModel?
    /// Whether the store keeps a history.
    package let hasHistory: Bool

    package init(metadata: [String: Any], model: NSManagedObjectModel?, hasHistory: Bool) {
        (self.metadata, self.model, self.hasHistory) = (metadata, model, hasHistory)
    }

    /// Whether a model fits the store.
    package func fits(_ model: NSManagedObjectModel, configuration: String?) -> Bool {
        let entities = model.entities(forConfigurationName: configuration) ?? model.entities
        // Most versions differ in this already, and need not be hashed.
        guard Set(entities.map { $0.name ?? "" }) == Set(StoreMetadata.hashes(in: metadata).keys) else { return false }
        return StoreCompatibility.differences(entities, metadata: metadata) { self.model }.isEmpty
    }
}
