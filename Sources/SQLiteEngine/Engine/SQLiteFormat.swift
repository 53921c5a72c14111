import CompactCollections
import CoreDataModel
import Foundation
import SQLiteConnection
import StoreEngine

/// Stores in an SQLite database of Core Data's format.
package enum SQLiteFormat: StoreFormat {
    package static let type = NSSQLiteStoreType

    package static func makeEngine(_ facts: StoreFacts) -> any OpenableEngine { SQLiteEngine(facts) }

    /// Whether this process has a store open, so that only SQLite may open its file.
    package static func hasOpen(_ url: URL) -> Bool { OpenFiles.contains(url.path) }

    package static func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
        try StoreFiles.metadata(at: url)
    }

    package static func isEmpty(at url: URL) throws -> Bool { try StoreFile.openForReading(url).isEmpty() }

    package static func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        try StoreFiles.write(metadata, at: url, options: options)
    }

    package static func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
        try StoreFiles.destroy(at: url, options: options)
    }

    package static func replace(at destination: URL, from source: URL, options: [AnyHashable: Any]?) throws {
        try StoreFiles.replace(at: destination, from: source, options: options)
    }
}

/// Stores in memory, which are lost with their coordinator. They use the same engine on a database without a file, so
/// that a fetch finds the same as in a file.
package enum InMemoryFormat: StoreFormat {
    package static let type = NSInMemoryStoreType

    package static func makeEngine(_ facts: StoreFacts) -> any OpenableEngine {
        SQLiteEngine(facts, isInMemory: true, callerEvaluates: true)
    }

    package static func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
        StoreMetadata.ofNoModel(type: type)
    }

    package static func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        throw unsupported("writing metadata while it is not open")
    }

    package static func destroy(at url: URL, options: [AnyHashable: Any]?) throws {}

    package static func replace(at destination: URL, from source: URL, options: [AnyHashable: Any]?) throws {
        throw unsupported("replacing")
    }

    private static func unsupported(_ work: String) -> NSError {
        StoreError.unsupported(work, storeType: type, url: nil)
    }
}
