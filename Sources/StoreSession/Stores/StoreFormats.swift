import CoreDataModel
import Foundation
import MigrationPlans
import ModelFiles
import SQLiteEngine
import StoreEngine
import Synchronization

/// The formats of stores that engines keep, by the names of their types.
package enum StoreFormats {
    private static let registered = Mutex<[String: Format]>([:])

    private struct Format: @unchecked Sendable {
        // @unchecked Sendable: a type has no state.
        let type: any StoreFormat.Type
    }

    private static var builtIn: [String: any StoreFormat.Type] {
        [SQLiteFormat.type: SQLiteFormat.self, InMemoryFormat.type: InMemoryFormat.self]
    }

    /// The format of a type: a registered one, or a built-in one.
    package static func format(ofType type: String) -> (any StoreFormat.Type)? {
        if let format = registered.withLock({ $0[type] }) { return format.type }
        return builtIn[type]
    }

    /// The format of a type, if its stores can be migrated in place.
    package static func migratable(ofType type: String) -> (any MigratableFormat.Type)? {
        format(ofType: type) as? any MigratableFormat.Type
    }

    /// Makes a format available; `nil` removes it.
    package static func register(_ format: (any StoreFormat.Type)?, ofType type: String) {
        let format = format.map(Format.init)
        registered.withLock { $0[type] = format }
    }

    /// All formats by the names of their types.
    package static var all: [String: any StoreFormat.Type] {
        builtIn.merging(registered.withLock { $0.mapValues(\.type) }) { $1 }
    }

    /// The type of store that a file appears to be.
    ///
    /// - Throws: an error if the file cannot be read, or is not a known type.
    package static func type(ofFileAt url: URL) throws -> String {
        if SQLiteFormat.hasOpen(url) { return NSSQLiteStoreType }
        let handle: FileHandle
        do { handle = try FileHandle(forReadingFrom: url) } catch {
            throw StoreError.make(
                CocoaError.Code.fileReadNoSuchFile.rawValue, "The file “\(url.path)” cannot be read.", url: url,
                underlying: error)
        }
        defer { try? handle.close() }
        let start = try handle.read(upToCount: 2048) ?? Data()
        let known = [
            ("SQLite format 3", NSSQLiteStoreType), ("bplist00", NSBinaryStoreType), ("<?xml", NSXMLStoreType),
        ]
        if let (_, type) = known.first(where: { start.starts(with: $0.0.utf8) }) { return type }
        if XMLStoreReader.reads(fileThatBegins: start) { return NSXMLStoreType }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreInvalidType,
            "“\(url.lastPathComponent)” looks like no store that comes with Core Data; say which type it is of.",
            url: url)
    }

    /// The error for a type that is not among the known ones.
    package static func unknown(_ type: String, _ known: some Sequence<String>, _ url: URL?) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreInvalidType,
            "There is no store type “\(type)”; there are \(known.sorted().joined(separator: ", ")).", url: url)
    }
}
