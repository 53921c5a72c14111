import CoreDataModel
import Foundation
import MigrationPlans
import StoreEngine

// Opens stores, and destroys them.
extension StoreSession {
    /// Opens the store of a description, creating it if there is none, and migrating it by an inferred mapping if its
    /// model differs and the options request it.
    ///
    /// - Throws: `NSPersistentStoreInvalidTypeError` for an unknown type, 134100 if the store's model differs, 134081
    ///   if the store was added already, and the errors of opening and migrating it.
    package func open(_ description: NSPersistentStoreDescription) throws {
        if let face { return try face.open(description) }
        let (type, options) = (description.type, description.options as [AnyHashable: Any])
        guard let format = StoreFormats.format(ofType: type) else {
            throw StoreFormats.unknown(type, StoreFormats.all.keys, description.url)
        }
        description.makeFolder()
        let url = description.url ?? URL(fileURLWithPath: "/dev/null")
        try withLock {
            try checkPlace(ofType: type, description.configuration, at: description.url, options)
            let store = try Self.opening(
                at: url, options: options, removeLeftovers: (format as? any MigratableFormat.Type)?.removeLeftovers,
                migrate: migration(of: format, at: url, description.configuration, options)
            ) {
                let facts = StoreFacts(url: url, configuration: description.configuration, options: options)
                let engine = format.makeEngine(facts)
                try engine.open(model)
                facts.metadataAreChanged = false
                return SessionStore(type: type, facts: facts, engine: engine, format: format)
            }
            add(store)
            face?.show(store)
        }
    }

    private func migration(
        of format: any StoreFormat.Type, at url: URL, _ configuration: String?, _ options: [AnyHashable: Any]
    ) -> (() throws -> Void)? {
        guard let format = format as? any MigratableFormat.Type else { return nil }
        return { [model] in
            try format.prepareMigration(of: url, options: options)
            let source = try format.sourceModel(of: url, near: model, options: options)
            try format.migrateIfAllowed(
                url, from: source, to: model, configuration: configuration, options: options)
        }
    }

    /// Opens a store, after migrating it if its model differs and the options request it.
    ///
    /// - Parameters:
    ///   - url: the location of the store.
    ///   - options: the options of the store.
    ///   - removeLeftovers: removes what killed migrations left, which every opening does.
    ///   - migrate: migrates the store; nil for a type that is not migrated.
    ///   - open: opens the store.
    /// - Returns: the store.
    /// - Throws: the errors of opening and migrating.
    package static func opening<Store>(
        at url: URL, options: [AnyHashable: Any]?, removeLeftovers: ((URL) -> Void)?, migrate: (() throws -> Void)?,
        _ open: () throws -> Store
    ) throws -> Store {
        if url.isFileURL, !StoreSettings.flag(options, NSReadOnlyPersistentStoreOption) { removeLeftovers?(url) }
        guard let migrate, StoreSettings.asksForMigration(options) else { return try open() }
        do { return try open() } catch let error as NSError
            where error.code == CoreDataErrorCode.persistentStoreIncompatibleVersionHash
        {
            do { try migrate() } catch let refusal as NSError
                where refusal.code == CoreDataErrorCode.persistentStoreTimeout
            {
                // Another process may have migrated the store meanwhile.
                guard let store = try? open() else { throw refusal }
                return store
            }
            return try open()
        }
    }

    /// Empties a store, and deletes the files beside it. Nothing happens if there is no store; an open one is removed.
    ///
    /// - Throws: an error if another program keeps the store locked, or it cannot be written; and for an unknown type.
    package func destroy(at url: URL, ofType type: String, options: [AnyHashable: Any]?) throws {
        if let face { return try face.destroy(at: url, ofType: type, options: options) }
        guard let format = StoreFormats.format(ofType: type) else {
            throw StoreFormats.unknown(type, StoreFormats.all.keys, url)
        }
        try withLock {
            // Destroying a store must not wait for the session's own readers: they may wait for this.
            store(at: url, options)?.engine.pinning?.endGenerations()
            try format.destroy(at: url, options: options)
        }
        if let store = store(at: url, options) { try remove(store) }
    }

    /// Checks that a store can be added: the model has its configuration, and it was not added already.
    ///
    /// - Throws: `NSPersistentStoreOpenError` for a configuration that the model does not have, 134081 for a store that
    ///   was added already.
    package func checkPlace(
        ofType type: String, _ configuration: String?, at storeURL: URL?, _ options: [AnyHashable: Any]?
    ) throws {
        if let configuration, model.entities(forConfigurationName: configuration) == nil {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOpen,
                "The model has no configuration “\(configuration)”; it has "
                    + "\(model.declaredConfigurations.joined(separator: ", ")).", url: storeURL)
        }
        let url = storeURL ?? URL(fileURLWithPath: "/dev/null")
        guard type != NSInMemoryStoreType else { return }
        let isAdded = withLock {
            stores.contains { store in
                if store.type == type, let isPlaced = store.engine.isPlaced(at: url, options) { return isPlaced }
                return storeURL != nil && !url.isNoFile && store.url?.isSameFile(as: url) == true
            }
        }
        guard isAdded else { return }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreIsAdded,
            "The store\(url.isNoFile ? "" : " “\(url.lastPathComponent)”") was added already; a coordinator has a store once.",
            url: storeURL)
    }
}
