import CoreDataModel
import Foundation

/// A kind of stores that an engine keeps: how a store is opened, and what can be done with one that is not open.
package protocol StoreFormat {
    /// The name by which programs add stores of the kind.
    static var type: String { get }

    /// The engine of a store that is yet to be opened.
    static func makeEngine(_ facts: StoreFacts) -> any OpenableEngine

    // MARK: Stores that are not open

    /// The metadata of a store; nothing in or beside it changes.
    static func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any]

    /// Replaces the metadata of a store.
    static func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws

    /// Takes the contents of a store away. Nothing to do when there is none.
    static func destroy(at url: URL, options: [AnyHashable: Any]?) throws

    /// Puts a copy of a store in the place of another. Programs that have the other one open see one change.
    static func replace(at destination: URL, from source: URL, options: [AnyHashable: Any]?) throws
}

extension StoreFormat {
    /// The metadata of a store that is found without options.
    package static func metadata(at url: URL) throws -> [String: Any] { try metadata(at: url, options: nil) }

    /// Replaces the metadata of a store that is found without options.
    package static func setMetadata(_ metadata: [String: Any]?, at url: URL) throws {
        try setMetadata(metadata, at: url, options: nil)
    }
}

/// An engine that is opened, and closed again.
package protocol OpenableEngine: StoreEngine {
    /// Opens the store, making it first where there is none.
    ///
    /// - Throws: an `NSError` with Core Data's code: 134100 when the model does not fit, 259 for a damaged store, 513 for a place that
    ///   cannot be written, 134090 for a store that somebody else keeps locked.
    func open(_ model: NSManagedObjectModel?) throws

    /// Closes what is open.
    func close()

    /// Writes the metadata.
    func saveMetadata() throws

    /// Goes on with a store of the same format at another place.
    func relocate(to url: URL) throws
}
