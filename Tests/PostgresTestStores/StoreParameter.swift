import Foundation
import PostgresEngine
import PostgresServer
import Synchronization
import TestStartup

import CoreData
import MigrationPlans
import StoreEngine

/// What stores the tests run on: `PIPPIN_STORE=PostgreSQL swift test --filter CoreDataTests` runs them all with the
/// engine of PostgreSQL under the names of SQLite's and the in-memory type. Tests that look at a file fail then;
/// `Documentation/PostgreSQL store.md` says which do not apply.
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
        if let url, url.scheme == "postgresql" { return try StorePlace(url, nil) }
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
        // What a migration makes on its way.
        if url.scheme == "postgresql" { return url }
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

    static func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
        var metadata = try PostgresFormat.metadata(at: Schemas.url(url))
        metadata[NSStoreTypeKey] = type
        return metadata
    }

    static func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        try PostgresFormat.setMetadata(metadata, at: Schemas.url(url))
    }

    static func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
        try PostgresFormat.destroy(at: Schemas.url(url), options: options)
    }

    static func replace(at destination: URL, from source: URL, options: [AnyHashable: Any]?) throws {
        try PostgresFormat.replace(at: Schemas.url(destination), from: Schemas.url(source), options: options)
    }
}

// A migration of what stands for a file.
extension SubstituteForFiles: MigratableFormat {
    static func version(of url: URL, options: [AnyHashable: Any]?) throws -> StoreVersion {
        try PostgresFormat.version(of: Schemas.url(url), options: options)
    }

    static func sourceModel(
        of url: URL, near destination: NSManagedObjectModel?, options: [AnyHashable: Any]?
    ) throws -> NSManagedObjectModel {
        try PostgresFormat.sourceModel(of: Schemas.url(url), near: destination, options: options)
    }

    static func prepareMigration(of url: URL, options: [AnyHashable: Any]?) throws {}

    static func steps(of migration: InferredMigration, at url: URL) throws -> [MigrationStep] {
        try PostgresFormat.steps(of: migration, at: Schemas.url(url))
    }

    static func migrate(
        _ url: URL, by migration: InferredMigration, options: [AnyHashable: Any]?, defersCleanup: Bool,
        progress: (Double) -> Void
    ) throws {
        try PostgresFormat.migrate(
            Schemas.url(url), by: migration, options: options, defersCleanup: defersCleanup, progress: progress)
    }

    static func succeed(
        _ url: URL, options: [AnyHashable: Any]?, failing: (any Error) -> any Error,
        _ make: (any SuccessorPlaces) throws -> URL?
    ) throws {
        try PostgresFormat.succeed(Schemas.url(url), options: options, failing: failing, make)
    }

    static func alone(_ url: URL, options: [AnyHashable: Any]?, _ work: () throws -> Void) throws {
        try PostgresFormat.alone(Schemas.url(url), options: options, work)
    }

    static func continuity(of url: URL, options: [AnyHashable: Any]?) throws -> any StoreContinuity {
        try PostgresFormat.continuity(of: Schemas.url(url), options: options)
    }

    static func exists(at url: URL, options: [AnyHashable: Any]?) throws -> Bool {
        try PostgresFormat.exists(at: Schemas.url(url), options: options)
    }
    static func protect(_ place: URL, like store: URL) {}
    static func remove(at url: URL, options: [AnyHashable: Any]?) throws {
        try PostgresFormat.remove(at: Schemas.url(url), options: options)
    }
    static func removeLeftovers(of url: URL) {}

    static func reconciliation(
        at url: URL, program: NSManagedObjectModel, rules: ReconciliationRules, options: [AnyHashable: Any]?
    ) throws -> (any ReconcilableStore)? {
        try PostgresFormat.reconciliation(at: Schemas.url(url), program: program, rules: rules, options: options)
    }
}

/// PostgreSQL where a test asks for memory: a schema of its own for each store.
private enum SubstituteForMemory: StoreFormat {
    static let type = NSInMemoryStoreType

    static func makeEngine(_ facts: StoreFacts) -> any OpenableEngine {
        PostgresEngine(facts, at: try? Schemas.place(nil))
    }

    static func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
        throw CocoaError(.featureUnsupported)
    }
    static func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        throw CocoaError(.featureUnsupported)
    }
    static func destroy(at url: URL, options: [AnyHashable: Any]?) throws {}
    static func replace(at destination: URL, from source: URL, options: [AnyHashable: Any]?) throws {}
}
