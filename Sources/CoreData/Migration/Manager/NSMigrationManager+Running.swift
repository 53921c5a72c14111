import Foundation

// A migration from one store to another.
extension NSMigrationManager {
    /// Migrates a store.
    ///
    /// ```swift
    /// let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
    /// let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    /// try manager.migrateStore(from: url, type: .sqlite, mapping: mapping, to: other, type: .sqlite)
    /// ```
    ///
    /// - Parameters:
    ///   - sourceURL: the store, which is not changed, unless it is the destination, too.
    ///   - sourceType: its type.
    ///   - sourceOptions: the options to open it with.
    ///   - mapping: the mapping of its objects to objects of the destination model.
    ///   - destinationURL: the URL for the migrated store.
    ///   - destinationType: its type.
    ///   - destinationOptions: the options to open it with.
    /// - Throws: the errors of
    ///   `migrateStore(from:sourceType:options:with:toDestinationURL:destinationType:destinationOptions:)`.
    public func migrateStore(
        from sourceURL: URL, type sourceType: NSPersistentStore.StoreType,
        options sourceOptions: [AnyHashable: Any]? = nil,
        mapping: NSMappingModel, to destinationURL: URL, type destinationType: NSPersistentStore.StoreType,
        options destinationOptions: [AnyHashable: Any]? = nil
    ) throws {
        try migrateStore(
            from: sourceURL, sourceType: sourceType.rawValue, options: sourceOptions, with: mapping,
            toDestinationURL: destinationURL, destinationType: destinationType.rawValue,
            destinationOptions: destinationOptions)
    }

    /// Migrates a store by a mapping.
    func migrate(_ ends: MigrationEnds, _ mappings: NSMappingModel?) throws {
        guard let mappings else {
            throw MigrationError.missingMappingModel(
                url: ends.source.url, source: sourceModel, destination: destinationModel, underlying: nil)
        }
        try MappingCheck.check(mappings, from: sourceModel, to: destinationModel)
        let isInPlace = ends.areOneStore
        let isNew = try !isInPlace && !ends.destinationExists()
        let former = (configuration, sourceMayBePart)
        defer { (configuration, sourceMayBePart) = former }
        if configuration == nil, !sourceMayBePart, let name = ends.configuration(of: sourceModel) {
            sourceMayBePart = true
            if mappings.staysInConfiguration(name, sourceModel, destinationModel) { configuration = name }
        }
        setProgress(0)
        do {
            try migrate(ends, mappings, isInPlace: isInPlace, isNew: isNew)
            setProgress(1)
        } catch {
            run = nil
            // The migration's error is the one to report; an incomplete file that remains is overwritten by the next
            // attempt.
            if isNew { try? ends.removeDestination() }
            throw error
        }
    }

    /// Migrates by tables if that is possible, otherwise object by object.
    private func migrate(_ ends: MigrationEnds, _ mappings: NSMappingModel, isInPlace: Bool, isNew: Bool) throws {
        let url = ends.destination.url
        let format = isNew || isInPlace ? ends.format : nil
        if isNew { format?.protect(url, like: ends.source.url) }
        if usesStoreSpecificMigrationManager, let format, let plan = mappings.inferredPlan {
            try migrateTables(ends, format, plan: plan, isInPlace: isInPlace)
        } else if isInPlace {
            throw StoreError.make(
                CoreDataErrorCode.migrationManagerDestinationStore,
                "The store \(url.storeName) cannot be migrated in its place object by object. Give the migrated store "
                    + "another URL, and replace this one by it.", url: url)
        } else {
            try migrateObjects(ends, mapping: mappings, isNew: isNew)
        }
    }

    /// Carries out an inferred mapping in place, on the source store or on a copy of it.
    func migrateTables(
        _ ends: MigrationEnds, _ format: any MigratableFormat.Type, plan: MappingPlan, isInPlace: Bool
    ) throws {
        let (url, options, source) = (ends.destination.url, ends.destination.options, ends.source)
        try checkVersion(of: source, format)
        do {
            if isInPlace {
                try format.prepareMigration(of: url, options: options)
            } else {
                try format.replace(at: url, from: source.url, options: options, sourceOptions: source.options)
            }
        } catch { throw unopened(ends.source, code: CoreDataErrorCode.migrationManagerSourceStore, error) }
        let migration = InferredMigration(
            from: sourceModel, to: destinationModel, plan: plan, configuration: configuration)
        try format.migrate(url, by: migration, options: options, defersCleanup: false, progress: { _ in })
    }

    /// Checks that the source model is the store's, before anything is planned by it.
    ///
    /// - Throws: 134100, with the entities that differ.
    private func checkVersion(of source: MigrationEnds.End, _ format: any MigratableFormat.Type) throws {
        let version: StoreVersion
        do { version = try format.version(of: source.url, options: source.options) } catch {
            throw unopened(source, code: CoreDataErrorCode.migrationManagerSourceStore, error)
        }
        let stored = StoreMetadata.hashes(in: version.metadata)
        // Without hashes, nothing says what the store is. One that is migrated already has nothing to lose.
        guard !stored.isEmpty, !version.fits(destinationModel, configuration: configuration) else { return }
        let held = sourceModel.entities.filter { stored[$0.name ?? ""] != nil }
        let differing = version.differences(held, of: sourceModel)
        guard !differing.isEmpty else { return }
        throw StoreCompatibility.error(
            differing, metadata: version.metadata, url: source.url, model: sourceModel.entities, cached: version.model)
    }

    /// Migrates object by object.
    ///
    /// - Parameters:
    ///   - ends: the stores to read and to write.
    ///   - mapping: the mapping from the source to the destination.
    ///   - isNew: whether the destination does not exist yet.
    /// - Throws: the errors of the stores, of the mapping and of its policies.
    func migrateObjects(_ ends: MigrationEnds, mapping: NSMappingModel, isNew: Bool) throws {
        let plainSource = PlainModel.make(of: sourceModel)
        var part: String?
        var sourceOptions = ends.source.options ?? [:]
        sourceOptions[NSReadOnlyPersistentStoreOption] = true
        sourceOptions[NSMigratePersistentStoresAutomaticallyOption] = nil
        let source: NSPersistentStoreCoordinator
        do {
            if sourceMayBePart {
                let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                    ofType: ends.source.type, at: ends.source.url, options: sourceOptions)
                part = PlainModel.addConfiguration(to: plainSource, ofStoreWith: metadata)
            }
            source = NSPersistentStoreCoordinator(managedObjectModel: plainSource)
            try source.addPersistentStore(
                ofType: ends.source.type, configurationName: part, at: ends.source.url, options: sourceOptions)
        } catch { throw unopened(ends.source, code: CoreDataErrorCode.migrationManagerSourceStore, error) }
        let destination = NSPersistentStoreCoordinator(managedObjectModel: PlainModel.make(of: destinationModel))
        do {
            try destination.addPersistentStore(
                ofType: ends.destination.type, configurationName: configuration, at: ends.destination.url,
                options: ends.destination.options)
        } catch { throw unopened(ends.destination, code: CoreDataErrorCode.migrationManagerDestinationStore, error) }
        let run = try MigrationRun(
            mapping, source: source, destination: destination, portion: portion, isNew: isNew,
            held: part.flatMap(plainSource.entities(forConfigurationName:)))
        self.run = run
        try willMigrate?(destination)
        try run.destination.performAndWait {
            try run.source.performAndWait {
                do { try migrate(run) } catch {
                    run.portions.abandon()
                    throw error
                }
            }
        }
        carryMetadata(from: source, to: destination)
        try close(destination)
        try close(source)
    }

    /// Copies the metadata that programs have put into the store.
    private func carryMetadata(from source: NSPersistentStoreCoordinator, to destination: NSPersistentStoreCoordinator)
    {
        guard let from = source.persistentStores.first, let to = destination.persistentStores.first else { return }
        let own = source.metadata(for: from).filter { !StoreMetadata.isReserved($0.key) }
        guard !own.isEmpty else { return }
        destination.setMetadata(destination.metadata(for: to).merging(own) { $1 }, for: to)
    }

    private func close(_ coordinator: NSPersistentStoreCoordinator) throws {
        for store in coordinator.persistentStores where store.type != NSInMemoryStoreType {
            if !store.isReadOnly { try store.saveMetadata() }
            try coordinator.remove(store)
        }
    }

    private func unopened(_ end: MigrationEnds.End, code: Int, _ error: any Error) -> NSError {
        let isSource = code == CoreDataErrorCode.migrationManagerSourceStore
        return StoreError.make(
            code,
            "The \(isSource ? "source" : "destination") store of the migration, “\(end.url.lastPathComponent)”, cannot be "
                + "opened with \(MigrationError.version(isSource ? sourceModel : destinationModel)) of the model: "
                + (error as NSError).localizedDescription, url: end.url, underlying: error)
    }
}

extension NSMappingModel {
    /// Whether what a configuration has goes to the configuration of the same name: an entity that left it would lose
    /// its objects.
    fileprivate func staysInConfiguration(
        _ name: String, _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel
    ) -> Bool {
        guard let entities = destination.entities(forConfigurationName: name) else { return false }
        let held = Set((source.entities(forConfigurationName: name) ?? []).compactMap(\.name))
        let wanted = entityMappings.filter { held.contains($0.sourceEntityName ?? "") }
            .compactMap(\.destinationEntityName)
        return Set(wanted).isSubset(of: entities.compactMap(\.name))
    }
}
