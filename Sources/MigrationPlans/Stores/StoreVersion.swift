import CompactCollections
import CoreDataModel
import Foundation

/// The version of a store, by its metadata and its copy of its model.
package struct StoreVersion {
    package let metadata: [String: Any]
    /// The store's copy of its model; `nil` if it has none.
    package let model: NSManagedObjectModel?
    /// Whether the store keeps a history.
    package let hasHistory: Bool
    /// Whether the store's tables are those of a model; used if it has no copy of its model, or another one.
    private let hasTables: (NSManagedObjectModel) -> Bool

    package init(
        metadata: [String: Any], model: NSManagedObjectModel?, hasHistory: Bool,
        hasTables: @escaping (NSManagedObjectModel) -> Bool = { _ in false }
    ) {
        (self.metadata, self.model, self.hasHistory) = (metadata, model, hasHistory)
        self.hasTables = hasTables
    }

    /// The model's entities whose version is not the store's, by name.
    package func differences(_ entities: [NSEntityDescription], of model: NSManagedObjectModel) -> [String] {
        StoreCompatibility.differences(entities, metadata: metadata) {
            StoredModel.choose(copy: self.model, supposed: model, hasTables: hasTables)
        }
    }

    /// Whether a model fits the store.
    package func fits(_ model: NSManagedObjectModel, configuration: String?) -> Bool {
        let members = model.entities(forConfigurationName: configuration) ?? model.entities
        let entities = StoredVersionHashes.compared(members, of: model, metadata: metadata)
        // This distinguishes most versions without hashing.
        guard Set(entities.compactMap(\.name)) == Set(StoreMetadata.hashes(in: metadata).keys) else { return false }
        return differences(entities, of: model).isEmpty
    }
}
