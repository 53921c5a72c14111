import CoreDataModel
import Foundation

/// A format of stores that an engine keeps: how a store is opened, and the operations on one that is not open.
package protocol StoreFormat {
    /// The name of the format's store type, by which programs add stores.
    static var type: String { get }

    /// The engine of a store that has not been opened yet.
    static func makeEngine(_ facts: StoreFacts) -> any OpenableEngine

    // MARK: Stores that are not open

    /// The metadata of a store, read without changing its content.
    static func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any]

    /// Whether there is a place for a store with nothing in it, as after a store was destroyed.
    static func isEmpty(at url: URL) throws -> Bool

    /// Replaces the metadata of a store.
    static func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws

    /// Deletes the contents of a store. It does nothing if there is none.
    static func destroy(at url: URL, options: [AnyHashable: Any]?) throws

    /// Replaces a store by a copy of another one. Programs that have it open see a single change.
    static func replace(at destination: URL, from source: URL, options: [AnyHashable: Any]?) throws

    /// The same, from a store that options identify.
    static func replace(
        at destination: URL, from source: URL, options: [AnyHashable: Any]?, sourceOptions: [AnyHashable: Any]?
    ) throws
}

extension StoreFormat {
    package static func replace(
        at destination: URL, from source: URL, options: [AnyHashable: Any]?, sourceOptions: [AnyHashable: Any]?
    ) throws { try replace(at: destination, from: source, options: options) }

    package static func isEmpty(at url: URL) throws -> Bool { false }

    /// The metadata of a store that is identified without options.
    package static func metadata(at url: URL) throws -> [String: Any] { try metadata(at: url, options: nil) }

    /// Replaces the metadata of a store that is identified without options.
    package static func setMetadata(_ metadata: [String: Any]?, at url: URL) throws {
        try setMetadata(metadata, at: url, options: nil)
    }
}

/// An engine that can be opened and closed.
package protocol OpenableEngine: StoreEngine {
    /// Opens the store, creating it if it does not exist.
    ///
    /// - Throws: an `NSError` with Core Data's code: 134100 if the model does not fit, 259 for a damaged store, 513 for
    ///   a place that cannot be written, 134090 for a store that another process keeps locked.
    func open(_ model: NSManagedObjectModel?) throws

    /// Closes the store.
    func close()

    /// Writes the metadata.
    func saveMetadata() throws

    /// Continues with a store of the same format at another place.
    func relocate(to url: URL) throws
}
