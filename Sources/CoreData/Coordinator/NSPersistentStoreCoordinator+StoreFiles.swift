import Foundation
import StoreSession

// Operations on stores that are not open.
extension NSPersistentStoreCoordinator {
    /// Makes a class available as a store type; `nil` removes the type.
    ///
    /// - Parameters:
    ///   - storeClass: a subclass of `NSAtomicStore` or `NSIncrementalStore`.
    ///   - storeType: the type, by which stores are added.
    public class func registerStoreClass(_ storeClass: AnyClass?, type storeType: NSPersistentStore.StoreType) {
        registerStoreClass(storeClass, forStoreType: storeType.rawValue)
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
    ///     to delete a file that cannot be opened, or, if it is false, to keep one that is not a database.
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

    // MARK: What the class's methods do

    class func readMetadata(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]?
    ) throws -> [String: Any] {
        let type = try storeClass(storeType, url)
        guard let format = type.format else { return try type.metadataForPersistentStore(with: url) }
        do { return try format.metadata(at: url, options: options) } catch let error as NSError
            where error.code == CoreDataErrorCode.persistentStoreIncompatibleSchema
        {
            guard try format.isEmpty(at: url) else { throw error }
            return StoreMetadata.ofNoModel(type: storeType)
        }
    }

    class func writeMetadata(
        _ metadata: [String: Any]?, ofType storeType: String, at url: URL, options: [AnyHashable: Any]?
    ) throws {
        let type = try storeClass(storeType, url)
        guard let format = type.format else { return try type.setMetadata(metadata, forPersistentStoreAt: url) }
        try format.setMetadata(metadata, at: url, options: options)
    }

    func destroyStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]?) throws {
        try withLock {
            // Destroying a store must not wait for the coordinator's own readers: they may wait for this.
            session.store(at: url, options)?.engine.pinning?.endGenerations()
            try Self.classToDestroy(storeType, url).destroy(at: url, options: options)
        }
        let added = withLock {
            url.isNoFile ? storeInMemory(at: url, ofType: storeType) : session.store(at: url, options).flatMap(shown)
        }
        if let added { try remove(added) }
    }

    /// Of the stores in memory that share a URL, the one that was added first. For use under the lock.
    private func storeInMemory(at url: URL, ofType storeType: String) -> NSPersistentStore? {
        stores.first { $0.type == storeType && self.url(for: $0).standardizedFileURL == url.standardizedFileURL }
    }

    func replaceStore(
        at destinationURL: URL, _ destinationOptions: [AnyHashable: Any]?, from sourceURL: URL,
        _ sourceOptions: [AnyHashable: Any]?, ofType storeType: String
    ) throws {
        try withLock {
            session.store(at: destinationURL, destinationOptions)?.engine.pinning?.endGenerations()
            try Self.storeClass(storeType, sourceURL).replace(
                at: destinationURL, from: sourceURL, options: destinationOptions, sourceOptions: sourceOptions)
        }
    }

    /// The class of a store to destroy. Apps write “sqlite” there, which Core Data takes, too.
    private class func classToDestroy(_ name: String, _ url: URL) throws -> NSPersistentStore.Type {
        if StoreTypes.type(named: name) == nil, let type = StoreTypes.type(namedInAnyCase: name) { return type }
        return try storeClass(name, url)
    }

    class func storeClass(_ name: String, _ url: URL) throws -> NSPersistentStore.Type {
        guard let type = StoreTypes.type(named: name) else {
            throw StoreFormats.unknown(name, StoreTypes.names, url)
        }
        return type
    }
}
