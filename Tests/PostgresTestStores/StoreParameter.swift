import Foundation
import PostgresEngine
import PostgresServer
import Synchronization
import TestStartup

import CoreData
import StoreEngine

/// What stores the tests run on: `PIPPIN_STORE=PostgreSQL swift test --filter CoreDataTests` runs them all with the engine of PostgreSQL
/// under the names of SQLite's and the in-memory type. Tests that look at a file fail then; `Documentation/PostgreSQL store.md` says
/// which do not apply.
enum StoreParameter {
    static let isPostgres = ProcessInfo.processInfo.environment["PIPPIN_STORE"] == "PostgreSQL"

    fileprivate static func apply() {
        guard isPostgres else { return }
        NSPersistentStoreCoordinator.registerStoreClass(
            EngineStore<SubstituteForFiles>.self, forStoreType: NSSQLiteStoreType)
        NSPersistentStoreCoordinator.registerStoreClass(
            EngineStore<SubstituteForMemory>.self, forStoreType: NSInMemoryStoreType)
    }
}

/// Called when the process starts, before the first test asks for a store.
@_cdecl("pippinTestsStart")
func pippinTestsStart() { StoreParameter.apply() }

/// The schemas that stand for files, by path.
private enum Schemas {
    private static let database = Result { try TestDatabase() }
    private static let count = Atomic<Int>(0)
    private static let names = Mutex<[String: String]>([:])

    /// A schema for a file, or a new one for a store that has none.
    static func place(_ url: URL?) throws -> StorePlace {
        let path = url.flatMap { $0.isNoFile ? nil : $0.standardizedFileURL.path }
        let new = { "store_\(count.add(1, ordering: .relaxed).newValue)" }
        let name = names.withLock { names in
            guard let path else { return new() }
            let name = names[path] ?? new()
            names[path] = name
            return name
        }
        return try StorePlace(database.get().url(), [NSPostgreSQLSchemaOption: name])
    }

    static func url(_ url: URL) throws -> URL {
        let place = try place(url)
        return URL(string: try database.get().uri() + "&schema=\(place.schema)") ?? url
    }
}

/// PostgreSQL where a test asks for a file.
private enum SubstituteForFiles: StoreFormat {
    static let type = NSSQLiteStoreType

    static func makeEngine(_ facts: StoreFacts) -> any OpenableEngine {
        PostgresEngine(facts, at: try? Schemas.place(facts.url))
    }

    static func metadata(at url: URL) throws -> [String: Any] {
        var metadata = try PostgresFormat.metadata(at: Schemas.url(url))
        metadata[NSStoreTypeKey] = type
        return metadata
    }

    static func setMetadata(_ metadata: [String: Any]?, at url: URL) throws {
        try PostgresFormat.setMetadata(metadata, at: Schemas.url(url))
    }

    static func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
        try PostgresFormat.destroy(at: Schemas.url(url), options: options)
    }

    static func replace(at destination: URL, from source: URL, options: [AnyHashable: Any]?) throws {
        try PostgresFormat.replace(at: Schemas.url(destination), from: Schemas.url(source), options: options)
    }
}

/// PostgreSQL where a test asks for memory: a schema of its own for each store.
private enum SubstituteForMemory: StoreFormat {
    static let type = NSInMemoryStoreType

    static func makeEngine(_ facts: StoreFacts) -> any OpenableEngine {
        PostgresEngine(facts, at: try? Schemas.place(nil))
    }

    static func metadata(at url: URL) throws -> [String: Any] { throw CocoaError(.featureUnsupported) }
    static func setMetadata(_ metadata: [String: Any]?, at url: URL) throws { throw CocoaError(.featureUnsupported) }
    static func destroy(at url: URL, options: [AnyHashable: Any]?) throws {}
    static func replace(at destination: URL, from source: URL, options: [AnyHashable: Any]?) throws {}
}
