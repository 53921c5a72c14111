import Foundation
import StoreSession

// Moves stores while they are open.
extension NSPersistentStoreCoordinator {
    /// Copies a store's objects into a new store, which replaces it in the coordinator.
    func moveStore(
        _ store: NSPersistentStore, to URL: URL, options: [AnyHashable: Any]?, withType storeType: String
    ) throws -> NSPersistentStore {
        let new = try withLock {
            guard persistentStores.contains(store) else {
                throw StoreError.make(
                    CoreDataErrorCode.persistentStoreOperation, "The store was not added to this coordinator.",
                    url: store.url)
            }
            let type = try Self.rowStoreClass(storeType, URL)
            let isInMemory = storeType == NSInMemoryStoreType
            if !isInMemory, try Self.hasStore(type, storeType, URL, options) {
                throw StoreError.make(
                    CocoaError.Code.fileWriteFileExists.rawValue,
                    "There is a store at “\(URL.path)” already; a store that migrates there would mix with it.",
                    url: URL, suggestion: "Destroy it first with destroyPersistentStore(at:type:options:).")
            }
            let isNew = !URL.isFileURL || !FileManager.default.fileExists(atPath: URL.path)
            let isDefault = store.configurationName == NSManagedObjectModel.defaultConfigurationName
            let new = type.init(
                persistentStoreCoordinator: self, configurationName: isDefault ? nil : store.configurationName, at: URL,
                options: options)
            do { try move(store, to: new) } catch {
                new.willRemove(from: self)
                new.unloadContents()
                if isNew, !isInMemory { try? type.destroy(at: URL, options: options) }
                throw error
            }
            return new
        }
        // Outside the lock: an observer may wait for a context that waits for the lock.
        postReplacement(of: store, by: new)
        return new
    }

    /// Copies a store's objects into a new store, which replaces it in the coordinator.
    ///
    /// - Parameters:
    ///   - store: a store of this coordinator.
    ///   - storeURL: the location of the new store, where none may exist yet.
    ///   - options: the options of the new store.
    ///   - type: the type of the new store, one of those that come with Core Data.
    /// - Returns: the new store.
    /// - Throws: an error if the new store cannot be made, or the old one cannot be read. The coordinator is then
    ///   unchanged.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
        type: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: storeURL, options: options, withType: type.rawValue)
    }

    private static func rowStoreClass(_ name: String, _ url: URL) throws -> NSPersistentStore.Type {
        let type = try storeClass(name, url)
        if type.takesRows { return type }
        throw StoreError.unsupported("other stores migrating into it", storeType: name, url: url)
    }

    /// Whether there is a store.
    ///
    /// - Throws: the errors of a server that does not say.
    private static func hasStore(
        _ type: NSPersistentStore.Type, _ name: String, _ url: URL, _ options: [AnyHashable: Any]?
    ) throws -> Bool {
        if !url.isFileURL, let format = migratableFormat(ofType: name) {
            return try format.exists(at: url, options: options)
        }
        let known = {
            try type.format?.metadata(at: url, options: options) ?? type.metadataForPersistentStore(with: url)
        }
        return (try? known()) != nil
    }

    private func move(_ store: NSPersistentStore, to new: NSPersistentStore) throws {
        let keepsKeys = store.engine.keys != nil && new.engine.keys != nil
        let uuid = store.identity.uuid
        if keepsKeys { new.identity = store.identity }
        do {
            try new.loadMetadata()
            try new.loadContents()
            let own = new.metadata.filter { StoreMetadata.isReserved($0.key) }
            let kept = store.metadata.filter { !StoreMetadata.isReserved($0.key) }
            new.metadata = own.merging(kept) { own, _ in own }
            let entities = modelLayout.entities.filter { store.sessionStore.holds($0, of: managedObjectModel) }
            let copy = try StoreCopy(
                source: store, destination: new, model: modelLayout, entities: entities, keepsKeys: keepsKeys)
            try copy.run()
        } catch {
            if keepsKeys {
                store.identity.uuid = uuid
                store.identity.store = store
            }
            throw error
        }
        if keepsKeys { new.identity.store = new }
        store.willRemove(from: self)
        store.unloadContents()
        new.didAdd(to: self)
        replace(store, by: new)
    }
}
