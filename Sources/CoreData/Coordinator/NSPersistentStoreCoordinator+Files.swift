import CompactCollections
import Foundation

// Operations on stores that are not open.
extension NSPersistentStoreCoordinator {
    /// The available types of stores: those that come with Core Data, and registered ones.
    ///
    /// A value stands for the class: it contains the class's address as a number, since classes are not objects here.
    public class var registeredStoreTypes: [String: NSValue] { StoreTypes.all.mapValues { StoreTypes.value(of: $0) } }

    /// Makes a class available as a store type; `nil` removes the type.
    ///
    /// - Parameters:
    ///   - storeClass: a subclass of `NSAtomicStore` or `NSIncrementalStore`.
    ///   - storeType: the name of the type, by which stores are added.
    public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
        StoreTypes.register(storeClass as? NSPersistentStore.Type, for: storeType)
    }

    /// Makes a class available as a store type; `nil` removes the type.
    ///
    /// - Parameters:
    ///   - storeClass: a subclass of `NSAtomicStore` or `NSIncrementalStore`.
    ///   - storeType: the type, by which stores are added.
    public class func registerStoreClass(_ storeClass: AnyClass?, type storeType: NSPersistentStore.StoreType) {
        registerStoreClass(storeClass, forStoreType: storeType.rawValue)
    }

    /// The metadata of an open store.
    ///
    /// - Parameter store: a store of this coordinator.
    /// - Returns: the metadata, by key, including the store's type and UUID.
    public func metadata(for store: NSPersistentStore) -> [String: Any] { withLock { store.metadata } }

    /// Sets the metadata of an open store. The next save of a context writes them, even one without changes.
    ///
    /// - Parameters:
    ///   - metadata: the new metadata. The store's type, its UUID if there is none, and what Core Data needs to know
    ///     about the model are added.
    ///   - store: a store of this coordinator.
    public func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
        withLock {
            let kept = store.metadata.filter { StoreMetadata.isReserved($0.key) }
            var metadata = (metadata ?? [:]).merging(kept) { new, _ in new }
            metadata[NSStoreTypeKey] = store.type
            if metadata[NSStoreUUIDKey] == nil { metadata[NSStoreUUIDKey] = store.identifier }
            store.metadata = metadata
        }
    }

    /// Writes metadata that were set since the last save.
    func saveChangedMetadata() throws {
        try withLock {
            for store in stores where store.metadataAreChanged && !store.isReadOnly {
                try store.saveMetadata()
                store.metadataAreChanged = false
            }
        }
    }

    /// The metadata of a store, which need not be open.
    ///
    /// - Parameters:
    ///   - storeType: the type of the store.
    ///   - url: the location of the store.
    ///   - options: options that identify the store, such as the schema of one in PostgreSQL; others are not used.
    /// - Returns: the metadata, by key.
    /// - Throws: an error if the file is missing, is not a store, or is of an unknown type.
    public class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        let type = try storeClass(storeType, url)
        guard let format = type.format else { return try type.metadataForPersistentStore(with: url) }
        return try format.metadata(at: url, options: options)
    }

    /// The metadata of a store, which need not be open.
    ///
    /// - Parameters:
    ///   - type: the type of the store.
    ///   - url: the location of the store.
    ///   - options: options that identify the store, such as the schema of one in PostgreSQL; others are not used.
    /// - Returns: the metadata, by key.
    /// - Throws: an error if the file is missing, is not a store, or is of an unknown type.
    public class func metadataForPersistentStore(
        type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: type.rawValue, at: url, options: options)
    }

    /// The metadata of a store, which need not be open.
    ///
    /// - Parameters:
    ///   - storeType: the type; `nil` to detect it from the first bytes of the file.
    ///   - url: the location of the store.
    /// - Returns: the metadata, by key.
    /// - Throws: an error if the file is missing, is not a store, or is of an unknown type.
    public class func metadataForPersistentStore(ofType storeType: String?, at url: URL) throws -> [String: Any] {
        try metadataForPersistentStore(
            ofType: storeType ?? StoreTypes.nameOfType(ofFileAt: url), at: url, options: nil)
    }

    /// Sets the metadata of a store that is not open.
    ///
    /// - Parameters:
    ///   - metadata: the new metadata; the store's UUID and type stay.
    ///   - storeType: the type; `nil` to detect it from the first bytes of the file.
    ///   - url: the location of the store.
    /// - Throws: an error if the file is missing, is not a store, or is of an unknown type.
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String?, at url: URL
    ) throws {
        try setMetadata(
            metadata, forPersistentStoreOfType: storeType ?? StoreTypes.nameOfType(ofFileAt: url), at: url, options: nil
        )
    }

    /// Sets the metadata of a store that is not open.
    ///
    /// - Parameters:
    ///   - metadata: the new metadata; the store's UUID and type stay.
    ///   - storeType: the type of the store.
    ///   - url: the location of the store.
    ///   - options: options that identify the store, such as the schema of one in PostgreSQL; others are not used.
    /// - Throws: an error if the file is missing, is not a store, or is of an unknown type.
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        let type = try storeClass(storeType, url)
        guard let format = type.format else { return try type.setMetadata(metadata, forPersistentStoreAt: url) }
        try format.setMetadata(metadata, at: url, options: options)
    }

    /// Sets the metadata of a store that is not open.
    ///
    /// - Parameters:
    ///   - metadata: the new metadata; the store's UUID and type stay.
    ///   - type: the type of the store.
    ///   - url: the location of the store.
    ///   - options: options that identify the store, such as the schema of one in PostgreSQL; others are not used.
    /// - Throws: an error if the file is missing, is not a store, or is of an unknown type.
    public class func setMetadata(
        _ metadata: [String: Any]?, type: NSPersistentStore.StoreType, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try setMetadata(metadata, forPersistentStoreOfType: type.rawValue, at: url, options: options)
    }

    /// Empties a store, and deletes the files beside it. Nothing happens if there is no store.
    ///
    /// An added store is removed from the coordinator, and can be added again (JSQCoreDataKit resets its stack like
    /// this).
    ///
    /// - Parameters:
    ///   - url: the location of the store.
    ///   - storeType: the type of the store.
    ///   - options: for stores in SQLite, `NSPersistentStoreTimeoutOption`, and `NSPersistentStoreForceDestroyOption`
    ///     to delete a file that cannot be opened.
    /// - Throws: an error if another program keeps the store locked, or it cannot be written; and for an unknown type.
    public func destroyPersistentStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
    ) throws {
        try withLock {
            // Destroying a store must not wait for the coordinator's own readers: they may wait for this.
            addedStore(at: url, options)?.engine.pinning?.endGenerations()
            try Self.storeClass(storeType, url).destroy(at: url, options: options)
        }
        if let store = addedStore(at: url, options) { try remove(store) }
    }

    /// Empties a store, and deletes the files beside it. An added store is removed from the coordinator.
    ///
    /// - Parameters:
    ///   - url: the location of the store.
    ///   - storeType: the type of the store.
    ///   - options: for stores in SQLite, `NSPersistentStoreTimeoutOption`, and `NSPersistentStoreForceDestroyOption`
    ///     to delete a file that cannot be opened.
    /// - Throws: the errors of `destroyPersistentStore(at:ofType:options:)`.
    public func destroyPersistentStore(
        at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
    }

    /// Replaces a store by a copy of another one.
    ///
    /// - Parameters:
    ///   - destinationURL: the store to replace; it is created if there is none.
    ///   - destinationOptions: options for opening it, such as `NSPersistentStoreTimeoutOption`.
    ///   - sourceURL: the store to copy; it is only read.
    ///   - sourceOptions: options that identify it, such as the schema of one in PostgreSQL; others are not used.
    ///   - storeType: the type of both stores.
    /// - Throws: an error if the source is missing or cannot be read; the destination then stays as it was.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        try withLock {
            addedStore(at: destinationURL, destinationOptions)?.engine.pinning?.endGenerations()
            try Self.storeClass(storeType, sourceURL).replace(
                at: destinationURL, from: sourceURL, options: destinationOptions, sourceOptions: sourceOptions)
        }
    }

    /// Replaces a store by a copy of another one.
    ///
    /// - Parameters:
    ///   - destinationURL: the store to replace; it is created if there is none.
    ///   - destinationOptions: options for opening it, such as `NSPersistentStoreTimeoutOption`.
    ///   - sourceURL: the store to copy; it is only read.
    ///   - sourceOptions: options that identify it, such as the schema of one in PostgreSQL; others are not used.
    ///   - type: the type of both stores.
    /// - Throws: an error if the source is missing or cannot be read; the destination then stays as it was.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
        type: NSPersistentStore.StoreType
    ) throws {
        try replacePersistentStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
            sourceOptions: sourceOptions, ofType: type.rawValue)
    }

    /// The store at a place, which the options may say instead of the URL.
    private func addedStore(at url: URL, _ options: [AnyHashable: Any]?) -> NSPersistentStore? {
        guard !url.isNoFile else { return nil }
        return withLock {
            stores.first {
                $0.engine.isPlaced(at: url, options) ?? ($0.url?.standardizedFileURL == url.standardizedFileURL)
            }
        }
    }

    class func storeClass(_ name: String, _ url: URL) throws -> NSPersistentStore.Type {
        guard let type = StoreTypes.type(named: name) else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreInvalidType,
                "There is no store type “\(name)”; there are \(StoreTypes.names.joined(separator: ", ")).", url: url)
        }
        return type
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
