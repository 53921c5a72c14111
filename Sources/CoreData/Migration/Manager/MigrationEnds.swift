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

/// A model for migrations. Its objects are plain managed objects, since the application's present classes need not fit
/// an old version of the model, and must not act on objects in the middle of a migration.
enum PlainModel {
    static func make(of model: NSManagedObjectModel) -> NSManagedObjectModel {
        let plain = NSManagedObjectModel()
        plain.copyContents(of: model)
        // The entities keep the names of their classes, which a store's copy of its model has to say.
        plain.objectClassName = "NSManagedObject"
        return plain
    }

    /// Adds a configuration with the entities that a store of a configuration holds.
    ///
    /// - Parameters:
    ///   - model: the model of the store.
    ///   - metadata: the store's metadata.
    /// - Returns: the name of the configuration; nil for a store of all entities, and for one of another model.
    static func addConfiguration(to model: NSManagedObjectModel, ofStoreWith metadata: [String: Any]) -> String? {
        let stored = StoreMetadata.hashes(in: metadata)
        let held = model.entities.filter { stored[$0.name ?? ""] != nil }
        guard !held.isEmpty, held.count == stored.count, held.count < model.entities.count else { return nil }
        let name = "entities of the store"
        model.setEntities(held, forConfigurationName: name)
        return name
    }

    /// The name of the model's configuration whose entities a store holds; nil for a store of all entities, and for one
    /// of another model.
    static func configuration(of model: NSManagedObjectModel, ofStoreWith metadata: [String: Any]) -> String? {
        let held = Set(StoreMetadata.hashes(in: metadata).keys)
        guard !held.isEmpty, held.count < model.entities.count else { return nil }
        return model.declaredConfigurations.first { name in
            let names = Set(model.entities(forConfigurationName: name)?.compactMap(\.name) ?? [])
            return StoreCompatibility.withStoredSubentities(names, of: model, metadata: metadata) == held
        }
    }

    /// The name of the configuration that a store keeps when it is migrated: the one whose entities it holds, if the
    /// new version has it, too.
    static func keptConfiguration(
        from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        ofStoreWith metadata: [String: Any]
    ) -> String? {
        guard let name = configuration(of: source, ofStoreWith: metadata),
            destination.declaredConfigurations.contains(name)
        else { return nil }
        return name
    }
}
