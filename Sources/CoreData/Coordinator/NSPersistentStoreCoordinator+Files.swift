import CompactCollections
import Foundation

// Operations on stores that are not open.
extension NSPersistentStoreCoordinator {
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

    /// Makes a class available as a store type; `nil` removes the type.
    ///
    /// - Parameters:
    ///   - storeClass: a subclass of `NSAtomicStore` or `NSIncrementalStore`.
    ///   - storeType: the type, by which stores are added.
    public class func registerStoreClass(_ storeClass: AnyClass?, type storeType: NSPersistentStore.StoreType) {
        registerStoreClass(storeClass, forStoreType: storeType.rawValue)
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
    func addedStore(at url: URL, _ options: [AnyHashable: Any]?) -> NSPersistentStore? {
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
