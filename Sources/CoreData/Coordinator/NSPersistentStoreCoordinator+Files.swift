import Foundation

// Working on stores that are not open.
extension NSPersistentStoreCoordinator {
    /// The types of stores that there are: those that come with Core Data, and those that were registered.
    ///
    /// A value stands for the class; it is the class's address as a number, since classes are no objects here.
    public class var registeredStoreTypes: [String: NSValue] { StoreTypes.all.mapValues { StoreTypes.value(of: $0) } }

    /// Makes a class available as a store type; `nil` takes it away.
    ///
    /// - Parameters:
    ///   - storeClass: a subclass of `NSAtomicStore` or `NSIncrementalStore`.
    ///   - storeType: the name of the type, as stores are added by it.
    public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
        StoreTypes.register(storeClass as? NSPersistentStore.Type, for: storeType)
    }

    /// Makes a class available as a store type; `nil` takes it away.
    ///
    /// - Parameters:
    ///   - storeClass: a subclass of `NSAtomicStore` or `NSIncrementalStore`.
    ///   - storeType: the type, as stores are added by it.
    public class func registerStoreClass(_ storeClass: AnyClass?, type storeType: NSPersistentStore.StoreType) {
        registerStoreClass(storeClass, forStoreType: storeType.rawValue)
    }

    /// The metadata of a store that is open.
    ///
    /// - Parameter store: a store of this coordinator.
    /// - Returns: the metadata, by key; the store's type and UUID are among them.
    public func metadata(for store: NSPersistentStore) -> [String: Any] { withLock { store.metadata } }

    /// Sets the metadata of a store that is open; the next save of a context writes them, even one without changes.
    ///
    /// - Parameters:
    ///   - metadata: what replaces the metadata of the store; its type, its UUID where there is none, and what Core Data
    ///     needs to know of the model are added.
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

    /// Writes the metadata that were set since the last save.
    func saveChangedMetadata() throws {
        try withLock {
            for store in stores where store.metadataAreChanged && !store.isReadOnly {
                try store.saveMetadata()
                store.metadataAreChanged = false
            }
        }
    }

    /// The metadata of a store that need not be open.
    ///
    /// - Parameters:
    ///   - storeType: the type of the store.
    ///   - url: where the store is.
    ///   - options: by which the store is found, such as the schema of one in PostgreSQL; others are not used.
    /// - Returns: the metadata, by key.
    /// - Throws: when the file is missing, is no store, or is of an unknown type.
    public class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        let type = try storeClass(storeType, url)
        guard let format = type.format else { return try type.metadataForPersistentStore(with: url) }
        return try format.metadata(at: url, options: options)
    }

    /// The metadata of a store that need not be open.
    ///
    /// - Parameters:
    ///   - type: the type of the store.
    ///   - url: where the store is.
    ///   - options: by which the store is found, such as the schema of one in PostgreSQL; others are not used.
    /// - Returns: the metadata, by key.
    /// - Throws: when the file is missing, is no store, or is of an unknown type.
    public class func metadataForPersistentStore(
        type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: type.rawValue, at: url, options: options)
    }

    /// The metadata of a store that need not be open.
    ///
    /// - Parameters:
    ///   - storeType: the type; `nil` to find it out by the first bytes of the file.
    ///   - url: where the store is.
    /// - Returns: the metadata, by key.
    /// - Throws: when the file is missing, is no store, or is of an unknown type.
    public class func metadataForPersistentStore(ofType storeType: String?, at url: URL) throws -> [String: Any] {
        try metadataForPersistentStore(
            ofType: storeType ?? StoreTypes.nameOfType(ofFileAt: url), at: url, options: nil)
    }

    /// Sets the metadata of a store that is not open.
    ///
    /// - Parameters:
    ///   - metadata: what replaces the store's metadata; its UUID and type stay.
    ///   - storeType: the type; `nil` to find it out by the first bytes of the file.
    ///   - url: where the store is.
    /// - Throws: when the file is missing, is no store, or is of an unknown type.
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
    ///   - metadata: what replaces the metadata of the store; its UUID and type stay.
    ///   - storeType: the type of the store.
    ///   - url: where the store is.
    ///   - options: by which the store is found, such as the schema of one in PostgreSQL; others are not used.
    /// - Throws: when the file is missing, is no store, or is of an unknown type.
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
    ///   - metadata: what replaces the metadata of the store; its UUID and type stay.
    ///   - type: the type of the store.
    ///   - url: where the store is.
    ///   - options: by which the store is found, such as the schema of one in PostgreSQL; others are not used.
    /// - Throws: when the file is missing, is no store, or is of an unknown type.
    public class func setMetadata(
        _ metadata: [String: Any]?, type: NSPersistentStore.StoreType, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try setMetadata(metadata, forPersistentStoreOfType: type.rawValue, at: url, options: options)
    }

    /// Empties a store, and takes the files beside it away. Nothing to do when there is none.
    ///
    /// A store that was added is removed: it can be added anew (JSQCoreDataKit resets its stack so).
    ///
    /// - Parameters:
    ///   - url: where the store is.
    ///   - storeType: the type of the store.
    ///   - options: for stores in SQLite, `NSPersistentStoreTimeoutOption`, and `NSPersistentStoreForceDestroyOption`
    ///     to delete a file that cannot be opened.
    /// - Throws: when another program keeps the store locked, or it cannot be written; and for an unknown type.
    public func destroyPersistentStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
    ) throws {
        try withLock { try Self.storeClass(storeType, url).destroy(at: url, options: options) }
        if !url.isNoFile, let store = persistentStore(for: url) { try remove(store) }
    }

    /// Empties a store, and takes the files beside it away; a store that was added is removed.
    ///
    /// - Parameters:
    ///   - url: where the store is.
    ///   - storeType: the type of the store.
    ///   - options: for stores in SQLite, `NSPersistentStoreTimeoutOption`, and `NSPersistentStoreForceDestroyOption`
    ///     to delete a file that cannot be opened.
    /// - Throws: as `destroyPersistentStore(at:ofType:options:)` does.
    public func destroyPersistentStore(
        at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
    }

    /// Puts a copy of one store in the place of another.
    ///
    /// - Parameters:
    ///   - destinationURL: the store to be replaced; it is made if there is none.
    ///   - destinationOptions: options for opening it, such as `NSPersistentStoreTimeoutOption`.
    ///   - sourceURL: the store to copy; it is only read.
    ///   - sourceOptions: not used.
    ///   - storeType: the type of both stores.
    /// - Throws: when the source is missing or cannot be read; the destination stays as it was then.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        try withLock {
            try Self.storeClass(storeType, sourceURL).replace(
                at: destinationURL, from: sourceURL, options: destinationOptions)
        }
    }

    /// Puts a copy of one store in the place of another.
    ///
    /// - Parameters:
    ///   - destinationURL: the store to be replaced; it is made if there is none.
    ///   - destinationOptions: options for opening it, such as `NSPersistentStoreTimeoutOption`.
    ///   - sourceURL: the store to copy; it is only read.
    ///   - sourceOptions: not used.
    ///   - type: the type of both stores.
    /// - Throws: when the source is missing or cannot be read; the destination stays as it was then.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
        type: NSPersistentStore.StoreType
    ) throws {
        try replacePersistentStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
            sourceOptions: sourceOptions, ofType: type.rawValue)
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
