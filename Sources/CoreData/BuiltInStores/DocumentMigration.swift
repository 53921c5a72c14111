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

/// Replaces a file as a whole, by way of a draft beside it. The new file is readable only to users who may read the old
/// one.
enum AtomicFile {
    /// Runs a block that compares a file with what was read, and replaces it: other processes that do the same wait.
    /// The lock is that of the file itself; a process that waited for it finds another file under the name, and locks
    /// that.
    ///
    /// A file that does not exist is made, empty.
    static func locked<Result>(_ url: URL, _ body: () throws -> Result) throws -> Result {
        let url = url.resolvingSymlinksInPath()
        while true {
            var descriptor = open(url.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            if descriptor < 0, errno == ENOENT {
                descriptor = open(url.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
                if descriptor < 0, errno == EEXIST { continue }
            }
            guard descriptor >= 0 else { throw StorePermissions.error(url, "opened", errno) }
            defer { close(descriptor) }
            if try FileLock.wait(descriptor, url) { return try body() }
        }
    }

    /// Writes a file, replacing an existing one.
    static func write(_ data: Data, to url: URL) throws {
        // A symbolic link stays, and leads to the new file.
        let url = url.resolvingSymlinksInPath()
        removeLeftovers(of: url)
        let (descriptor, draft) = try makeDraft(of: url)
        defer { close(descriptor) }
        do {
            try FileWriting.write(data, to: descriptor, draft)
            guard rename(draft.path, url.path) == 0 else { throw StorePermissions.error(url, "replaced", errno) }
        } catch {
            unlink(draft.path)
            throw error
        }
    }

    /// Makes the draft that will become the new file. Its lock shows others that it is not a leftover.
    private static func makeDraft(of url: URL) throws -> (descriptor: Int32, url: URL) {
        let exists = FileManager.default.fileExists(atPath: url.path)
        while true {
            let draft = url.deletingLastPathComponent().appendingPathComponent(prefix(url) + UUID().uuidString)
            // A new file gets the usual permissions, by the process's umask.
            let descriptor =
                try exists
                ? StorePermissions(of: url).makeFile(draft)
                : open(draft.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
            guard descriptor >= 0 else { throw StorePermissions.error(draft, "made", errno) }
            do { if try FileLock.take(descriptor, draft) { return (descriptor, draft) } } catch {
                unlink(draft.path)
                close(descriptor)
                throw error
            }
            close(descriptor)
        }
    }

    private static func prefix(_ url: URL) -> String { ".\(url.lastPathComponent).saving-" }

    /// Removes the drafts of processes that were killed while they wrote.
    static func removeLeftovers(of url: URL) {
        let url = url.resolvingSymlinksInPath()
        let folder = url.deletingLastPathComponent()
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        where name.hasPrefix(prefix(url)) && UUID(uuidString: String(name.dropFirst(prefix(url).count))) != nil {
            let draft = folder.appendingPathComponent(name)
            let descriptor = open(draft.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            if (try? FileLock.take(descriptor, draft)) == true { unlink(draft.path) }
            close(descriptor)
        }
    }
}
