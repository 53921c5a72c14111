import StoreSession

// A manager of structs adapts each store to its models without losing anything that these do not name.
extension PersistenceManager {
    /// Opens the stores.
    ///
    /// Another program may change the store between the comparison and the opening. The store is then compared
    /// again.
    func openReconciledStores() throws {
        var attempts = 5
        while true {
            attempts -= 1
            do {
                try reconcileStores()
                return try withoutInference { try openSession() }
            } catch  where attempts > 0 && error.saysOfAnotherVersion {}
        }
    }

    private var reconciledDescriptions: [NSPersistentStoreDescription] {
        registry.plans.isEmpty ? [] : session.descriptions.filter(\.isReconciled)
    }

    private func reconcileStores() throws {
        var model = programModel
        var found = try reconciliations(with: &model)
        // The other stores need tables for what one store has in addition to the models.
        if found.count > 1 { found = try reconciliations(with: &model) }
        for (store, description) in found where description.isMigratedByInference {
            try migrate(store, description)
        }
        if session.openStores.isEmpty { try session.adopt(model) }
    }

    private func reconciliations(
        with model: inout NSManagedObjectModel
    ) throws -> [(any ReconcilableStore, NSPersistentStoreDescription)] {
        var found: [(any ReconcilableStore, NSPersistentStoreDescription)] = []
        for description in reconciledDescriptions {
            guard let url = description.url,
                let store = try StoreFormats.migratable(ofType: description.type)?
                    .reconciliation(
                        at: url, program: model, rules: registry.reconciliationRules, options: description.options)
            else { continue }
            model = store.model
            found.append((store, description))
        }
        return found
    }

    private func migrate(_ store: any ReconcilableStore, _ description: NSPersistentStoreDescription) throws {
        let name = store.url.lastPathComponent
        let losses = try store.losses()
        var errors: [PersistenceError] = []
        if !losses.isEmpty { errors.append(.wouldLose(store: name, losses: losses.map(StoreLoss.init))) }
        errors += try store.sharedValues(limit: 5).map {
            .notUnique(store: name, entity: $0.entity, properties: $0.constraint, examples: $0.texts)
        }
        errors += try store.sharedMembers(limit: 5).map { shared in
            .notExclusive(
                store: name, entity: shared.entity, property: shared.relationship, member: shared.destination,
                examples: shared.examples.map { "\($0.identifier) (in \($0.owners))" }
                    + (shared.hasMore ? ["…"] : []))
        }
        if let error = PersistenceError.all(errors) { throw error }
        if !store.reconciliation.derived.isEmpty, let format = description.migratableFormat {
            return try MigrationRunner(
                plan: registry.plan(deriving: store), format: format, url: store.url, description: description,
                progress: nil
            ).run()
        }
        let defers = description.options[NSPersistentStoreDeferredLightweightMigrationOptionKey] as? NSNumber
        try store.migrate(defersCleanup: defers?.boolValue ?? false)
    }

    /// Prevents Core Data from inferring a migration itself, which would drop what the model does not have.
    private func withoutInference(_ open: () throws -> Void) rethrows {
        let descriptions = reconciledDescriptions.filter(\.shouldInferMappingModelAutomatically)
        for description in descriptions { description.shouldInferMappingModelAutomatically = false }
        defer { for description in descriptions { description.shouldInferMappingModelAutomatically = true } }
        try open()
    }
}

extension NSPersistentStoreDescription {
    /// Whether the store is compared with the models. A description that says how to migrate is followed instead.
    fileprivate var isReconciled: Bool { StoreFormats.migratable(ofType: type) != nil && !needsCoordinator }

    /// Whether only a coordinator can open the store, because of its type or the way in which it is migrated.
    var needsCoordinator: Bool {
        StoreFormats.format(ofType: type) == nil || options[NSPersistentStoreStagedMigrationManagerOptionKey] != nil
            || options[PippinProgressiveMigrationOptionKey] != nil
    }

    fileprivate var isMigratedByInference: Bool {
        shouldMigrateStoreAutomatically && shouldInferMappingModelAutomatically && !isReadOnly
    }
}

extension Error {
    /// Whether the error says that the store's version has changed since it was compared.
    fileprivate var saysOfAnotherVersion: Bool {
        let error = self as NSError
        guard error.domain == NSCocoaErrorDomain else { return false }
        switch error.code {
        case NSPersistentStoreIncompatibleVersionHashError: return true
        // Core Data would have had to migrate, and was told not to infer a migration.
        case NSMigrationMissingMappingModelError: return error.userInfo[NSUnderlyingErrorKey] == nil
        // SQLite reports a lock with the same code.
        case NSPersistentStoreTimeoutError: return error.userInfo[NSSQLiteErrorDomain] == nil
        default: return false
        }
    }
}
