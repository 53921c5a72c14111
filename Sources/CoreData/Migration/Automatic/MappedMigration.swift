import Foundation
import StoreSession

/// Migrates a store by a mapping model, object by object, into a new store beside it, which then replaces it.
struct MappedMigration {
    let format: any MigratableFormat.Type
    let url: URL
    let source: NSManagedObjectModel
    let destination: NSManagedObjectModel
    let mapping: NSMappingModel
    let configuration: String?
    let options: [AnyHashable: Any]?
    /// How many objects are made or changed before they are saved and released.
    var portion = NSMigrationManager.usualPortion

    /// Migrates the store.
    ///
    /// Other writers wait until it is done.
    ///
    /// - Throws: the errors of `NSMigrationManager.migrateStore`, and 134090 if others keep the store locked; the store
    ///   is then unchanged.
    func run() throws {
        try format.succeed(url, options: options, failing: failure) { places in
            // Another process may have migrated the store while this one waited.
            let version = try format.version(of: url, options: options)
            if version.fits(destination, configuration: configuration) { return nil }
            do {
                let place = try places.place(step: 1)
                try make(at: place)
                return place
            } catch { throw failure(error) }
        }
    }

    private func failure(_ error: any Error) -> NSError {
        MigrationError.mapped(url: url, from: source, to: destination, error)
    }

    /// Makes the migrated store at another place, with the store's UUID and history.
    func make(at place: URL, progress: @escaping (Float) -> Void = { _ in }) throws {
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        manager.configuration = configuration
        manager.sourceMayBePart = true
        manager.portion = portion
        manager.progressed = progress
        try manager.makeSuccessor(of: url, in: format, at: place, by: mapping, options: options)
    }
}

extension NSMigrationManager {
    /// Makes a migrated store that continues an old one at another place: with its UUID and history, and with keys that
    /// the old one has not used.
    ///
    /// - Parameters:
    ///   - url: the old store.
    ///   - format: the format of both stores.
    ///   - place: the place for the new store.
    ///   - mapping: the mapping model.
    ///   - options: the options with which the store is opened.
    /// - Throws: the errors of `migrateStore`.
    package func makeSuccessor(
        of url: URL, in format: any MigratableFormat.Type, at place: URL, by mapping: NSMappingModel,
        options: [AnyHashable: Any]?
    ) throws {
        let continuity = try format.continuity(of: url, options: options)
        willMigrate = { try $0.reserveKeys(upTo: continuity.greatestKey) }
        let plain = StoreMigrationOptions.unobserved(options)
        try migrateStore(
            from: url, sourceType: format.type, options: plain, with: mapping,
            toDestinationURL: place, destinationType: format.type, destinationOptions: continuity.options(plain))
        let pairs = keyPairs
        reset()
        // Tables that were migrated by SQL are those of a copy, which has all of this.
        guard let pairs else { return }
        try continuity.carry(
            to: place,
            ObjectMapping(model: mapping, source: sourceModel, destination: destinationModel, pairs: pairs))
    }
}

extension NSPersistentStoreCoordinator {
    /// Makes new objects get keys after the old ones, so that the URI of an old object never leads to another one.
    fileprivate func reserveKeys(upTo key: Int64) throws {
        guard let store = persistentStores.first, let keys = store.engine.keys else { return }
        for entity in modelLayout.entities
        where entity.superentity == nil && store.sessionStore.holds(entity, of: managedObjectModel) {
            try keys.reserveKeys(upTo: key, of: entity)
        }
    }
}

// Lightweight migration with deferred cleanup.
extension NSPersistentStoreCoordinator {
    /// - Returns: whether there was one.
    func finishDeferredTask() throws -> Bool {
        try withLock {
            for store in persistentStores where !store.isReadOnly {
                if try store.engine.migration?.finishDeferredTask() == true { return true }
            }
            return false
        }
    }
}
