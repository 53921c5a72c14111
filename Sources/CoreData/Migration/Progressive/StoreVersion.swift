import Foundation
import SQLiteEngine

/// The version that a store is of, told by its metadata and its copy of its model.
struct StoreVersion {
    let metadata: [String: Any]
    let model: NSManagedObjectModel?

    init(_ url: URL, timeout: Double) throws {
        let file = try StoreFile.openForReading(url, timeout: timeout)
        metadata = try file.metadata()
        model = try file.cachedModel()
    }

    /// Whether a model fits the store.
    func fits(_ model: NSManagedObjectModel, configuration: String?) -> Bool {
        let entities = model.entities(forConfigurationName: configuration) ?? model.entities
        // Most versions differ in this already, and need not be hashed.
        guard Set(entities.map { $0.name ?? "" }) == Set(StoreMetadata.hashes(in: metadata).keys) else { return false }
        return StoreCompatibility.differences(entities, metadata: metadata) { self.model }.isEmpty
    }

    /// The place of the first version that fits the store.
    func index(in versions: [KnownVersion], configuration: String?) -> Int? {
        versions.firstIndex { fits($0.model, configuration: configuration) }
    }
}
