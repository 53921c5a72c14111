import Foundation

// The three stages of a migration.
extension NSMigrationManager {
    /// Carries an inferred mapping out by SQL, on a copy of the source store.
    func migrateCopy(_ ends: MigrationEnds, plan: MappingPlan) throws {
        do {
            try StoreFiles.replace(at: ends.destination.url, from: ends.source.url, options: ends.destination.options)
        } catch { throw unopened(ends.source, code: CoreDataErrorCode.migrationManagerSourceStore, error) }
        let file = try StoreFile.open(
            ends.destination.url, mode: .readWrite, timeout: StoreSettings(ends.destination.options).timeout)
        try InPlaceMigrator(file, from: sourceModel, to: destinationModel, plan: plan, configuration: configuration)
            .run()
    }

    /// Migrates object by object.
    func migrateObjects(_ ends: MigrationEnds, mapping: NSMappingModel) throws {
        let source = NSPersistentStoreCoordinator(managedObjectModel: PlainModel.make(of: sourceModel))
        var sourceOptions = ends.source.options ?? [:]
        sourceOptions[NSReadOnlyPersistentStoreOption] = true
        sourceOptions[NSMigratePersistentStoresAutomaticallyOption] = nil
        do {
            try source.addPersistentStore(
                ofType: ends.source.type, configurationName: nil, at: ends.source.url, options: sourceOptions)
        } catch { throw unopened(ends.source, code: CoreDataErrorCode.migrationManagerSourceStore, error) }
        let destination = NSPersistentStoreCoordinator(managedObjectModel: PlainModel.make(of: destinationModel))
        do {
            try destination.addPersistentStore(
                ofType: ends.destination.type, configurationName: configuration, at: ends.destination.url,
                options: ends.destination.options)
        } catch { throw unopened(ends.destination, code: CoreDataErrorCode.migrationManagerDestinationStore, error) }
        let run = try MigrationRun(mapping, source: source, destination: destination)
        self.run = run
        if let willMigrate, let store = destination.persistentStores.first as? SQLiteStore { try willMigrate(store) }
        try run.destination.performAndWait { try run.source.performAndWait { try migrate(run) } }
        carryMetadata(from: source, to: destination)
        try close(destination)
        try close(source)
    }

    /// The metadata that programs put into a store go with it.
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

    private func migrate(_ run: MigrationRun) throws {
        let mappings = Array(zip(run.mapping.entityMappings ?? [], run.policies))
        let total = Float(max(1, mappings.count * 3))
        func perform(_ stage: Int, _ body: (NSEntityMapping, NSEntityMigrationPolicy) throws -> Void) throws {
            for (index, (mapping, policy)) in mappings.enumerated() {
                try checkCancellation()
                run.current = mapping
                try body(mapping, policy)
                setProgress(Float(stage * mappings.count + index + 1) / total * 0.99)
            }
        }
        try perform(0) { mapping, policy in
            try policy.begin(mapping, with: self)
            for source in try sources(of: mapping, policy: policy, run) {
                try checkCancellation()
                try policy.createDestinationInstances(forSource: source, in: mapping, manager: self)
            }
            try policy.endInstanceCreation(forMapping: mapping, manager: self)
        }
        try perform(1) { mapping, policy in
            // The usual policy has nothing to do without relationships.
            let isUsual = type(of: policy) == NSEntityMigrationPolicy.self
            if isUsual, mapping.relationshipMappings?.isEmpty ?? true { return }
            for destination in run.associations.destinations(mapping: mapping.name ?? "", of: nil) {
                try checkCancellation()
                try policy.createRelationships(forDestination: destination, in: mapping, manager: self)
            }
            try policy.endRelationshipCreation(forMapping: mapping, manager: self)
        }
        try perform(2) { mapping, policy in
            try policy.performCustomValidation(forMapping: mapping, manager: self)
            try policy.end(mapping, manager: self)
        }
        run.current = nil
        // Checks everything against the destination model first.
        if run.destination.hasChanges { try run.destination.save() }
        if willMigrate != nil {
            successions = (run.mapping.entityMappings ?? []).flatMap {
                run.associations.successions(mapping: $0.name ?? "")
            }
        }
    }

    /// The source objects of an entity mapping.
    private func sources(
        of mapping: NSEntityMapping, policy: NSEntityMigrationPolicy, _ run: MigrationRun
    ) throws -> [NSManagedObject] {
        guard mapping.mappingType != .addEntityMappingType, mapping.mappingType != .removeEntityMappingType else {
            return []
        }
        if let expression = mapping.sourceExpression {
            let value = try MigrationExpression(
                variables: variables(mapping: mapping, policy: policy, property: nil, source: nil, destination: nil)
            ).value(of: expression)
            guard let objects = Self.objects(in: value) else {
                throw MigrationExpression.error(
                    "the source expression of the entity mapping “\(mapping.name ?? "")” gives no objects")
            }
            return objects
        }
        guard let name = mapping.sourceEntityName else { return [] }
        let request = try fetchRequest(entity: name, predicate: nil, includesSubentities: false)
        request.returnsObjectsAsFaults = false
        return try run.source.fetch(request)
    }
}
