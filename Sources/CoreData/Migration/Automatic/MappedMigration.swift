import Foundation
import SQLiteConnection
import SQLiteEngine
import SQLiteMigration

/// Migrates a store by a mapping model: object by object into a new store beside it, which then takes its place.
struct MappedMigration {
    let url: URL
    let source: NSManagedObjectModel
    let destination: NSManagedObjectModel
    let mapping: NSMappingModel
    let configuration: String?
    let options: [AnyHashable: Any]?
    /// How many objects are made or changed before they are saved and let go.
    var portion = NSMigrationManager.usualPortion

    /// Migrates the store.
    ///
    /// Others who want to write wait until it is done.
    ///
    /// - Throws: the errors of `NSMigrationManager.migrateStore`, and 134090 when others keep the store locked; the store is as it
    ///   was then.
    func run() throws { try ChangeMark.retrying(url) { try attempt() } }

    private func attempt() throws {
        let timeout = StoreSettings(options).timeout
        try MigrationWorkspace.with(url, timeout: timeout) { workspace in
            let mark = try ChangeMark(url, timeout: timeout)
            // Another process may have migrated it while this one waited.
            let version = try StoreVersion(url, timeout: timeout)
            if version.fits(destination, configuration: configuration) { return }
            let migrated = try workspace.place(for: url, step: 1)
            do {
                try make(at: migrated)
                try StoreReplacement.replace(url, with: migrated, options: options, since: mark)
            } catch let change as ChangeMark.Change {
                throw change
            } catch {
                throw MigrationError.mapped(url: url, from: source, to: destination, error)
            }
        }
    }

    /// Makes the migrated store in another place; its UUID and its history are those of the store.
    func make(at place: URL, progress: @escaping (Float) -> Void = { _ in }) throws {
        let facts = try StoreContinuity(url, timeout: StoreSettings(options).timeout)
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        manager.configuration = configuration
        manager.portion = portion
        manager.progressed = progress
        manager.willMigrate = { try facts.reserveKeys(in: $0) }
        var made = StoreMigrationOptions.unobserved(options)
        var pragmas = made[NSSQLitePragmasOption] as? [String: Any] ?? [:]
        // A database in write-ahead mode can only be replaced by one with pages of the same size.
        pragmas["page_size"] = facts.pageSize
        made[NSSQLitePragmasOption] = pragmas
        try manager.migrateStore(
            from: url, sourceType: NSSQLiteStoreType, options: StoreMigrationOptions.unobserved(options), with: mapping,
            toDestinationURL: place, destinationType: NSSQLiteStoreType, destinationOptions: made)
        let successions = manager.successions
        manager.reset()
        guard let successions else { return }
        try facts.carry(
            to: place,
            HistoryTransfer(mapping: mapping, source: source, destination: destination, successions: successions))
    }
}

extension StoreContinuity {
    /// Has new objects numbered on from the old ones, so that the URI of an old object never leads to another one.
    fileprivate func reserveKeys(in coordinator: NSPersistentStoreCoordinator) throws {
        guard let store = coordinator.persistentStores.first, let keys = store.engine.keys else { return }
        for entity in coordinator.modelLayout.entities
        where entity.superentity == nil && store.holds(entity, of: coordinator.managedObjectModel) {
            try keys.reserveKeys(upTo: greatestKey, of: entity)
        }
    }
}
