import CompactCollections
import Foundation
import StoreSession

extension NSPersistentStoreCoordinator {
    /// Opens a store, after migrating it if its model differs and the options request it.
    func openStore(
        _ type: NSPersistentStore.Type, named name: String, _ configuration: String?, at url: URL,
        options: [AnyHashable: Any]?
    ) throws -> NSPersistentStore {
        try StoreSession.opening(
            at: url, options: options, removeLeftovers: type.removeLeftovers,
            migrate: type.automaticMigration(
                of: url, to: managedObjectModel, configuration: configuration, options: options)
        ) {
            let store = type.init(
                persistentStoreCoordinator: self, configurationName: configuration, at: url, options: options)
            try store.loadMetadata()
            try refuseOtherType(of: store, than: name)
            try store.loadContents()
            return store
        }
    }

    /// Refuses a store of the developer's own whose metadata name another type than that by which it is added.
    private func refuseOtherType(of store: NSPersistentStore, than name: String) throws {
        guard store is NSAtomicStore || store is NSIncrementalStore,
            let own = store.metadata[NSStoreTypeKey] as? String, own != name
        else { return }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreTypeMismatch,
            "The metadata of the store say that its type is “\(own)”, and it is added as one of type “\(name)”.",
            url: store.url)
    }
}
