import Foundation

/// The stores of a migration.
struct MigrationEnds {
    struct End {
        let url: URL
        let type: String
        let options: [AnyHashable: Any]?
    }

    let source: End
    let destination: End

    /// The format of both stores, if they can be migrated in place.
    var format: (any MigratableFormat.Type)? {
        source.type == destination.type ? NSPersistentStoreCoordinator.migratableFormat(ofType: source.type) : nil
    }

    /// Whether the source is migrated in its place.
    var areOneStore: Bool {
        guard source.type == destination.type, source.type != NSInMemoryStoreType else { return false }
        return format?.areOneStore(source.url, source.options, destination.url, destination.options)
            ?? source.url.isSameFile(as: destination.url)
    }

    private var destinationFormat: (any MigratableFormat.Type)? {
        NSPersistentStoreCoordinator.migratableFormat(ofType: destination.type)
    }

    /// Whether the destination exists already and is added to.
    func destinationExists() throws -> Bool {
        if let format = destinationFormat {
            return try format.exists(at: destination.url, options: destination.options)
        }
        let attributes = try? FileManager.default.attributesOfItem(atPath: destination.url.path)
        return ((attributes?[.size] as? NSNumber)?.intValue ?? 0) > 0
    }

    /// The configuration of the source's model whose entities the source holds; nil for all, and if that cannot be
    /// read.
    func configuration(of model: NSManagedObjectModel) -> String? {
        guard !model.declaredConfigurations.isEmpty else { return nil }
        let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: source.type, at: source.url, options: source.options)
        return metadata.flatMap { PlainModel.configuration(of: model, ofStoreWith: $0) }
    }

    func removeDestination() throws {
        guard destination.type != NSInMemoryStoreType else { return }
        if let format = destinationFormat {
            return try format.remove(at: destination.url, options: destination.options)
        }
        guard FileManager.default.fileExists(atPath: destination.url.path) else { return }
        try FileManager.default.removeItem(at: destination.url)
    }
}
