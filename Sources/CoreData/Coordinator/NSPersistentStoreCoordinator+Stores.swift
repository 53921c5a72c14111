import Foundation
import StoreSession

// Adds stores, and removes them.
extension NSPersistentStoreCoordinator {
    func addStore(
        ofType storeType: String, _ configuration: String?, at storeURL: URL?, options: [AnyHashable: Any]?
    ) throws -> NSPersistentStore {
        if let missingModel {
            throw StoreError.make(CoreDataErrorCode.persistentStoreOpen, missingModel, url: storeURL)
        }
        guard let type = StoreTypes.type(named: storeType) else {
            throw StoreFormats.unknown(storeType, StoreTypes.names, storeURL)
        }
        let url = storeURL ?? URL(fileURLWithPath: "/dev/null")
        let store = try withLock {
            try session.checkPlace(ofType: storeType, configuration, at: storeURL, options)
            let store = try openStore(type, named: storeType, configuration, at: url, options: options)
            store.metadataAreChanged = false
            store.didAdd(to: self)
            stores.append(store)
            session.add(store.sessionStore)
            return store
        }
        // Outside the lock: an observer may wait for a context that waits for the lock.
        postStoresDidChange([NSAddedPersistentStoresKey: [store]])
        return store
    }

    /// Opens a store, creating it if there is none.
    ///
    /// ```swift
    /// try coordinator.addPersistentStore(type: .sqlite, at: url, options: [
    ///     NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
    /// ])
    /// ```
    ///
    /// - Parameters:
    ///   - type: one of the types that come with Core Data, or a registered one.
    ///   - configuration: the configuration of the model whose entities the store holds; `nil` for all.
    ///   - storeURL: the location of the store.
    ///   - options: the options, by `NS…Option` keys.
    /// - Returns: the store.
    /// - Throws: the errors of `addPersistentStore(ofType:configurationName:at:options:)`.
    @discardableResult
    public func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(
            ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
    }

    /// Opens the store of a description, and calls a block with the outcome.
    func addStore(
        of storeDescription: NSPersistentStoreDescription,
        then block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        let work = Transferred { [self] in
            do {
                try addPersistentStore(
                    ofType: storeDescription.type, configurationName: storeDescription.configuration,
                    at: storeDescription.url, options: storeDescription.options)
                block(storeDescription, nil)
            } catch { block(storeDescription, error) }
        }
        if storeDescription.shouldAddStoreAsynchronously {
            queue.async { work.value() }
        } else {
            work.value()
        }
    }

    func removeStore(_ store: NSPersistentStore) throws {
        guard persistentStores.contains(store) else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOperation, "The store was not added to this coordinator.",
                url: store.url)
        }
        try session.remove(store.sessionStore)
    }

    /// Replaces one store by another, under the lock.
    func replace(_ store: NSPersistentStore, by new: NSPersistentStore) {
        stores = stores.map { $0 === store ? new : $0 }
        session.replace(store.sessionStore, by: new.sessionStore)
    }

    /// Posts that a store was replaced by another.
    func postReplacement(of store: NSPersistentStore, by new: NSPersistentStore) {
        postStoresDidChange([
            NSAddedPersistentStoresKey: [new], NSRemovedPersistentStoresKey: [store],
            NSUUIDChangedPersistentStoresKey: [store, new],
        ])
    }

    private func postStoresDidChange(_ info: [String: Any]) {
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: info)
    }

    // MARK: What is known of a store

    func setStoreMetadata(_ metadata: [String: Any]?, of store: NSPersistentStore) {
        withLock {
            let kept = store.metadata.filter { StoreMetadata.isReserved($0.key) }
            var metadata = (metadata ?? [:]).merging(kept) { new, _ in new }
            metadata[NSStoreTypeKey] = store.type
            if metadata[NSStoreUUIDKey] == nil { metadata[NSStoreUUIDKey] = store.identifier }
            store.metadata = metadata
        }
    }

    /// A save without changed objects: writes metadata that were set since the last save.
    func saveNoObjects(of context: NSManagedObjectContext) throws {
        try withLock {
            for store in stores where !store.isReadOnly {
                if store.metadataAreChanged {
                    try store.saveMetadata()
                    store.metadataAreChanged = false
                } else if let store = store as? NSIncrementalStore {
                    try store.saveNoObjects(of: context)
                }
            }
        }
    }

    /// Moves a store to another URL.
    ///
    /// - Returns: whether it is there now.
    func relocate(_ store: NSPersistentStore, to url: URL) -> Bool {
        withLock {
            guard persistentStores.contains(store) else { return false }
            do { try store.relocate(to: url) } catch { return false }
            return true
        }
    }
}

extension NSPersistentStoreCoordinator: SessionFace {
    package func open(_ description: NSPersistentStoreDescription) throws {
        description.makeFolder()
        var failure: (any Error)?
        addPersistentStore(with: description) { failure = $1 }
        if let failure { throw failure }
    }

    package func destroy(at url: URL, ofType type: String, options: [AnyHashable: Any]?) throws {
        try destroyPersistentStore(at: url, ofType: type, options: options)
    }

    package func show(_ store: SessionStore) {
        func make<Format: StoreFormat>(_ format: Format.Type) -> NSPersistentStore {
            EngineStore<Format>(showing: store, in: self)
        }
        if let format = store.format { stores.append(make(format)) }
    }

    package func removing(_ store: SessionStore, _ close: () -> Void) {
        guard let shown = withLock({ shown(store) }) else { return close() }
        NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: shown)
        withLock {
            shown.willRemove(from: self)
            shown.unloadContents()
            stores.removeAll { $0 === shown }
            close()
        }
        postStoresDidChange([NSRemovedPersistentStoresKey: [shown]])
        for context in withLock({ contexts.compactMap(\.context) }) { context.storeWasRemoved(store.identity) }
    }
}

extension NSNotification.Name {
    /// Posted by a coordinator after stores were added or removed.
    public static let NSPersistentStoreCoordinatorStoresDidChange = NSNotification.Name(
        "_NSPersistentStoreCoordinatorStoresDidChange")
    /// Posted by a coordinator before stores are added or removed from elsewhere.
    public static let NSPersistentStoreCoordinatorStoresWillChange = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoresWillChangeNotification")
    /// Posted by a coordinator before a store is removed.
    public static let NSPersistentStoreCoordinatorWillRemoveStore = NSNotification.Name(
        "NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}

/// In a notification of a coordinator: the stores that were added.
public let NSAddedPersistentStoresKey = "added"
/// In a notification of a coordinator: the stores that were removed.
public let NSRemovedPersistentStoresKey = "removed"
/// In a notification of a coordinator: the stores whose UUIDs changed.
public let NSUUIDChangedPersistentStoresKey = "changed"

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
