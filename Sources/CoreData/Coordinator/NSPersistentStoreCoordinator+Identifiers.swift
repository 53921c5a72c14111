import Foundation

extension NSPersistentStoreCoordinator {
    func identifier(forURI url: URL) -> NSManagedObjectID? {
        guard url.scheme == "x-coredata", let uuid = url.host else { return nil }
        let parts = url.pathComponents.filter { $0 != "/" }
        guard parts.count == 2, let entity = modelLayout.entityByName[parts[0]] else { return nil }
        return withLock {
            stores.first { $0.identity.uuid.caseInsensitiveCompare(uuid) == .orderedSame }?
                .identifier(for: entity, uriKey: parts[1])
        }
    }

    /// The ID of this coordinator's store for an ID from another coordinator of the same file.
    func localIdentifier(_ identifier: NSManagedObjectID) -> NSManagedObjectID? {
        guard let foreign = identifier.storeIdentity else { return identifier }
        if let store = foreign.store as? NSPersistentStore, store.persistentStoreCoordinator === self {
            return identifier
        }
        guard let store = withLock({ stores.first { $0.identity.uuid == foreign.uuid } }),
            let entity = modelLayout.entityByName[identifier.layout.name]
        else { return identifier }
        if store.identity === foreign { return identifier }
        return NSManagedObjectID(
            layout: entity, store: store.identity, key: identifier.key, reference: identifier.reference)
    }
}
