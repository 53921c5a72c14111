import CompactCollections
import Foundation

/// Migrates an XML or binary store, object by object, into a new file that then replaces the old one.
///
/// Such a file has no copy of its model, so a bundle must contain it.
struct DocumentMigration {
    let store: DocumentStore.Type
    let url: URL
    let model: NSManagedObjectModel
    let configuration: String?
    let options: [AnyHashable: Any]?

    /// Migrates the store.
    ///
    /// - Throws: 134130 if the store's model cannot be found, 134140 if there is no mapping, 134090 if another
    ///   process has written the file meanwhile, and the errors of `NSMigrationManager.migrateStore`. The store is then
    ///   unchanged.
    func run() throws {
        let known = try ProgressiveOption.versions(options, model: model)
        try MigrationWorkspace.with(url, timeout: StoreSettings(options).timeout) { workspace in
            let state = try FileState(of: url)
            let metadata = try store.metadataForPersistentStore(with: url)
            // Another process may have migrated the store while this one waited.
            // A file is written whole, so that it cannot keep objects of entities outside of the configuration.
            let entities = model.entities(forConfigurationName: configuration) ?? model.entities
            if StoredVersionHashes(metadata)?.fitExactly(entities) == true { return }
            let source = try sourceModel(metadata, known)
            let mapping = try mapping(from: source, known)
            let migrated = try workspace.place(for: url, step: 1, isDatabase: false)
            do {
                try make(at: migrated, from: source, mapping, uuid: metadata[NSStoreUUIDKey])
                try AtomicFile.locked(url) {
                    guard try FileState(of: url) == state else { throw MigrationError.changed(url) }
                    try store.write(from: migrated, to: url)
                }
            } catch {
                throw MigrationError.mapped(url: url, from: source, to: model, error)
            }
        }
    }

    private func sourceModel(_ metadata: [String: Any], _ known: KnownVersions?) throws -> NSManagedObjectModel {
        let version = known?.versions.first {
            $0.model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata)
                || $0.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        }
        // Of a version with several configurations, the store has the entities of one; mapping models are for all.
        if let found = version?.model ?? .mergedModel(from: nil, forStoreMetadata: metadata) { return found }
        // Core Data's hashes in the file cannot be compared with those of models that were compiled here. The file
        // itself can: the latest version that it is read with.
        let candidates = known ?? (try? KnownVersions(of: model))
        if metadata[StoreMetadata.ownHashesKey] == nil, let candidates,
            let found = candidates.versions.last(where: { reads($0.model) })
        {
            try checkPlaces(of: store.read(url), in: found.model, among: candidates)
            return found.model
        }
        throw MigrationError.missingSourceModel(url: url, metadata: metadata)
    }

    /// Checks that a file which does not name its attributes has the same ones in all known versions that it is read
    /// with.
    ///
    /// - Throws: 134130 if it does not, so that values may come under the names of others.
    func checkPlaces(of document: StoreDocument) throws {
        let known = (try? ProgressiveOption.versions(options, model: model)) ?? (try? KnownVersions(of: model))
        if let known { try checkPlaces(of: document, in: model, among: known) }
    }

    func checkPlaces(
        of document: StoreDocument, in model: NSManagedObjectModel, among known: KnownVersions
    ) throws {
        guard document.hasCoreDataLayout else { return }
        let names = Set(document.objects.map(\.entityName))
        let other = known.versions.first {
            $0.model !== model && !PlaceOrder.isSame(in: $0.model, model, for: names) && reads($0.model)
        }
        guard let other else { return }
        let own =
            known.versions.first { $0.model === model } ?? known.index(of: model).map { known.versions[$0] }
        let name = own?.name ?? MigrationError.name(of: model)
        throw StoreError.make(
            CoreDataErrorCode.migrationMissingSourceModel,
            "The store “\(url.lastPathComponent)” does not name its attributes, and is of the version “\(other.name)” or "
                + "“\(name)” of the model, whose attributes have different orders.", url: url,
            suggestion: "Migrate it with NSMigrationManager from the version that made it, or give the versions of the "
                + "model the identifiers that the store has.")
    }

    private func reads(_ model: NSManagedObjectModel) -> Bool {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let type = store == XMLStore.self ? NSXMLStoreType : NSBinaryStoreType
        let options = [NSReadOnlyPersistentStoreOption: true]
        let opened = try? coordinator.addPersistentStore(
            ofType: type, configurationName: configuration, at: url, options: options)
        return opened != nil
    }

    private func mapping(from source: NSManagedObjectModel, _ known: KnownVersions?) throws -> NSMappingModel {
        let given = known?.mappings.map(\.mapping) ?? []
        if let best = MappingFit.best(given.map { $0.entityMappings ?? [] }, from: source, to: model) {
            return given[best]
        }
        if let found = NSMappingModel(from: nil, forSourceModel: source, destinationModel: model) { return found }
        var cause: (any Error)?
        if StoreSettings.flag(options, NSInferMappingModelAutomaticallyOption) {
            do { return try .inferredMappingModel(forSourceModel: source, destinationModel: model) } catch {
                cause = error
            }
        }
        throw MigrationError.missingMappingModel(url: url, source: source, destination: model, underlying: cause)
    }

    /// Makes the migrated store at another place, with the store's UUID. New objects get numbers after the old ones, so
    /// that the URI of an old object never leads to another one.
    private func make(at place: URL, from source: NSManagedObjectModel, _ mapping: NSMappingModel, uuid: Any?) throws {
        let type = store == XMLStore.self ? NSXMLStoreType : NSBinaryStoreType
        let manager = NSMigrationManager(sourceModel: source, destinationModel: model)
        manager.configuration = configuration
        manager.sourceMayBePart = true
        manager.willMigrate = { [unowned manager] destination in
            let old = manager.sourceContext.persistentStoreCoordinator?.persistentStores.first as? DocumentStore
            let new = destination.persistentStores.first as? DocumentStore
            try new?.count(to: old?.lastKey ?? 0)
        }
        let plain = StoreMigrationOptions.unobserved(options)
        try manager.migrateStore(
            from: url, sourceType: type, options: plain, with: mapping, toDestinationURL: place, destinationType: type,
            destinationOptions: plain)
        manager.reset()
        var metadata = try store.metadataForPersistentStore(with: place)
        metadata[NSStoreUUIDKey] = uuid
        try store.setMetadata(metadata, forPersistentStoreAt: place)
    }
}
